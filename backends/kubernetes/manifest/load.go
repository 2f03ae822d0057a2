package manifest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Load rebuilds a plan from its JSON form. The plan's ID comes from its objects, not from
// the input; see adopt. Errors: ErrInvalidPlan, ErrInvalidOption.
func (p Planner) Load(
	_ context.Context, in backend.PlanInput, raw json.RawMessage,
) (*backend.Plan, error) {
	o, err := ReadOptions(in.Cfg)
	if err != nil {
		return nil, err
	}
	req := &Request{}
	if err := decodeStrict(raw, req); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	if req.Form() == "" {
		return nil, backend.Errorf(backend.ErrInvalidPlan,
			"request.objects[0] must be a Volcano Job, a JobSet or a Job, which runs the app")
	}
	id := req.adopt()
	if strings.HasSuffix(id, ":") {
		return nil, backend.Errorf(backend.ErrInvalidPlan,
			"request.objects[0].metadata: the label %s must name the app", kube.LabelInstance)
	}
	if err := cmp.Or(checkSidecars(in.App), req.check(in.App)); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	if in.NewTimeout {
		req.setDeadlines(in.App)
	}
	return &backend.Plan{
		ID: id, App: in.App.Clone(), Cfg: in.Cfg, Request: req,
		Warnings: slices.Concat(appWarnings(in.App), formWarnings(in.App, req.Form(), o), hostAccess(in.App, req.Objects)), Launch: backend.Launch{Progress: in.Progress},
	}, nil
}

// check refuses a request that does not match its app.
func (r *Request) check(app *spec.App) error {
	namespace := r.Objects[0].Meta().Namespace
	found := make([]int, len(app.Roles)) // replicas
	taken := map[string]bool{}
	for i, o := range r.Objects {
		at, meta := fmt.Sprintf("request.objects[%d]", i), o.Meta()
		if problems := validation.IsDNS1123Subdomain(meta.Name); len(problems) > 0 {
			return fmt.Errorf("%s.metadata.name %q: %s", at, meta.Name, problems[0])
		}
		if len(meta.Name) > maxName {
			return fmt.Errorf("%s.metadata.name %q: must be no more than %d bytes",
				at, meta.Name, maxName)
		}
		if meta.Namespace == "" || meta.Namespace != namespace {
			return fmt.Errorf("%s.metadata.namespace is %q: all objects must be in the namespace of the first", at, meta.Namespace)
		}
		key := fmt.Sprint(o.Type(), meta.Name)
		if taken[key] {
			return fmt.Errorf("%s: duplicate %s %s", at, o.Type().Kind, meta.Name)
		}
		taken[key] = true
		for n, t := range PodSets(o) {
			role, err := t.check(app)
			if err != nil {
				return fmt.Errorf("%s: pods %d: %w", at, n, err)
			}
			found[role] += t.Replicas
		}
	}
	for i, n := range found {
		if role := &app.Roles[i]; n != role.NumReplicas {
			return fmt.Errorf("request.objects has %d replicas of role %s, but the app has %d", n,
				role.Name, role.NumReplicas)
		}
	}
	return nil
}

// check refuses invalid pods and returns the index of the role that the labels name.
func (p PodSet) check(app *spec.App) (role int, err error) {
	text := p.Labels[kube.LabelRoleIndex]
	role, err = strconv.Atoi(text)
	if err != nil || role < 0 || role >= len(app.Roles) {
		return 0, fmt.Errorf("the label %s is %q, want the index of one of the app's %d roles",
			kube.LabelRoleIndex, text, len(app.Roles))
	}
	if want := kube.LabelValue(app.Roles[role].Name); p.Labels[kube.LabelRole] != want {
		return 0, fmt.Errorf("the label %s is %q, but role %d is %q", kube.LabelRole,
			p.Labels[kube.LabelRole], role, want)
	}
	return role, checkPod(p.Template)
}

// checkPod refuses pods that any cluster would refuse.
func checkPod(t *Template) error {
	s := &t.Spec
	if len(s.Containers) == 0 {
		return errors.New("the pod has no containers")
	}
	if s.RestartPolicy == corev1.RestartPolicyAlways {
		return errors.New("restartPolicy Always would restart the program forever: use Never or OnFailure")
	}
	volumes := map[string]bool{}
	for _, v := range s.Volumes {
		if v.Name == "" || volumes[v.Name] {
			return fmt.Errorf("volume name %q is empty or used twice", v.Name)
		}
		volumes[v.Name] = true
	}
	names := map[string]bool{}
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		if err := checkContainer(&c, volumes, names); err != nil {
			return err
		}
	}
	return nil
}

func checkContainer(c *corev1.Container, volumes, names map[string]bool) error {
	switch {
	case c.Name == "" || names[c.Name]:
		return fmt.Errorf("container name %q is empty or used twice", c.Name)
	case c.Image == "":
		return fmt.Errorf("container %s has no image", c.Name)
	}
	names[c.Name] = true
	paths := map[string]bool{}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			return fmt.Errorf("container %s mounts volume %q at %s, but the pod has no such volume",
				c.Name, m.Name, m.MountPath)
		}
		if m.MountPath == "" || paths[m.MountPath] {
			return fmt.Errorf("container %s has a mount path %q that is empty or used twice",
				c.Name, m.MountPath)
		}
		paths[m.MountPath] = true
	}
	if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "" }) {
		return fmt.Errorf("container %s has a variable without a name", c.Name)
	}
	return nil
}

// adopt returns the app ID of a request: namespace and name of its main object, or with
// gang=job that object's instance label, since its name also contains the role. It changes
// names derived from the app's earlier name, so that a copy of an app does not pass for the
// original, and keeps names that the user chose.
func (r *Request) adopt() (id string) {
	main := r.Objects[0].Meta()
	name := main.Name
	if r.Form() == FormJob {
		name = main.Labels[kube.LabelInstance]
	}
	id = AppID(main.Namespace, name)
	for _, o := range r.Objects {
		old := o.Meta().Labels[kube.LabelInstance]
		for _, t := range PodSets(o) {
			old = t.Labels[kube.LabelInstance]
			t.adopt(old, name, id)
		}
		rename(&o.Meta().Name, old, name)
		metav1.SetMetaDataLabel(o.Meta(), kube.LabelInstance, name)
		switch o := o.(type) {
		case *Service:
			if _, ok := o.Spec.Selector[kube.LabelInstance]; ok {
				o.Spec.Selector[kube.LabelInstance] = name
			}
		case *JobSet:
			if o.Spec.Network != nil {
				rename(&o.Spec.Network.Subdomain, old, name)
			}
			for i := range o.Spec.ReplicatedJobs {
				metav1.SetMetaDataLabel(&o.Spec.ReplicatedJobs[i].Template.ObjectMeta,
					kube.LabelInstance, name)
			}
		}
	}
	return id
}

// adopt changes the fields of pods that are derived from the app's name.
func (p PodSet) adopt(old, name, id string) {
	metav1.SetMetaDataLabel(&p.ObjectMeta, kube.LabelInstance, name)
	rename(&p.Spec.Subdomain, old, name)
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			adoptOutput(&list[i], old, name)
			for n := range list[i].Env {
				e := &list[i].Env[n]
				switch {
				case e.ValueFrom != nil:
				case e.Name == spec.JobIDVariable:
					e.Value = Handle(id)
				case e.Name == spec.Rank0HostVariable && e.Value == old: // the service of a crowded Volcano Job
					e.Value = name
				case e.Name == spec.Rank0HostVariable:
					if host, ok := strings.CutSuffix(e.Value, "."+old); ok {
						rename(&host, old, name)
						e.Value = host + "." + name
					}
				}
			}
		}
	}
}

// rename replaces the app's old name at the beginning of a name.
func rename(s *string, old, name string) {
	if rest, ok := strings.CutPrefix(*s, old); ok && old != "" && (rest == "" || rest[0] == '-') {
		*s = name + rest
	}
}
