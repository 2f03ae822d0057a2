package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// validate has the server check everything before anything is made. Controllers
// make pods only later, and their refusals are hard to find then: a pod of each role
// is checked too.
func (s *submission) validate(ctx context.Context, req *manifest.Request, app *spec.App) error {
	if job, ok := req.Objects[0].(*manifest.VolcanoJob); ok {
		if err := s.checkVolcano(ctx, job); err != nil {
			return err
		}
	}
	if err := req.CheckSize(); err != nil {
		return err
	}
	for _, o := range req.Objects {
		if err := s.try(ctx, kube.Of(o.Type().APIVersion, o.Type().Kind), o); err != nil {
			return manifest.ExplainTooLarge(err, req.Form())
		}
	}
	roles := map[string]bool{}
	for _, o := range req.Objects {
		for _, t := range manifest.Templates(o) {
			if role := t.Labels[label.RoleIndex]; !roles[role] {
				roles[role] = true
				if err := s.tryPod(ctx, t.Template); err != nil {
					return err
				}
			}
		}
	}
	return s.checkQuotas(ctx, req, app)
}

// try asks the server whether it would take an object.
func (s *submission) try(ctx context.Context, r kube.Resource, o any) error {
	err := s.Create(ctx, r, s.namespace, o, true, nil)
	if err != nil && strings.Contains(err.Error(), "does not support dry run") {
		s.progress.Tell(backend.Step{Warning: "the cluster cannot check the app before it is made: " + err.Error()})
		return nil
	}
	return err
}

// tryPod asks whether the server would take a pod of a template: its service
// account, priority class, quotas, limits and policies are looked at there. Who may
// not make pods is not told.
func (s *submission) tryPod(ctx context.Context, t *manifest.Template) error {
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: t.Spec}
	pod.GenerateName, pod.Namespace = checkName, s.namespace
	err := s.try(ctx, kube.Pods, pod)
	if errors.Is(err, kube.ErrForbidden) {
		return nil
	}
	if err != nil {
		// The name says nothing: no pod has it.
		text := strings.Replace(err.Error(), `pods "`+checkName+`" is forbidden: `, "", 1)
		return backend.Errorf(err, "pods of role %s would not be made: %s", t.Labels[label.Role], text)
	}
	return nil
}

// checkName begins the names of pods that are only tried.
const checkName = "torchx-check-"

// checkVolcano looks whether there are the things that a Volcano Job names. Its
// webhook would too, where it is installed.
func (s *submission) checkVolcano(ctx context.Context, job *manifest.VolcanoJob) error {
	queue := kube.VolcanoQueue{}
	err := s.Get(ctx, kube.VolcanoQueues, "", job.Spec.Queue, &queue)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("%s has no Volcano queue %s: choose another by -cfg queue=NAME%s", s.Client, job.Spec.Queue, s.queues(ctx))
	case err == nil && queue.Status.State != "" && queue.Status.State != "Open":
		return fmt.Errorf("the Volcano queue %s is %s: choose another by -cfg queue=NAME%s", job.Spec.Queue, strings.ToLower(queue.Status.State), s.queues(ctx))
	case err != nil && !errors.Is(err, kube.ErrForbidden):
		return err
	}
	if name := job.Spec.PriorityClassName; name != "" {
		err := s.Get(ctx, kube.PriorityClasses, "", name, nil)
		switch {
		case errors.Is(err, backend.ErrNotFound):
			return fmt.Errorf("%s has no priority class %s: choose another by -cfg priority_class=NAME, see `kubectl get priorityclasses`", s.Client, name)
		case err != nil && !errors.Is(err, kube.ErrForbidden):
			return err
		}
	}
	return nil
}

// queues names those that there are.
func (s *submission) queues(ctx context.Context) string {
	list, err := kube.ListAll[kube.VolcanoQueue](ctx, s.Client, kube.VolcanoQueues, "", kube.ListOptions{})
	if err != nil {
		return ""
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	const most = 8
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return "; there is " + strings.Join(names, ", ")
}
