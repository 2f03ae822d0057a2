package kubernetes

import (
	"context"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// app is the main object of an app as it is on the cluster; one of the fields by
// form is set.
type app struct {
	form    manifest.Form
	volcano *kube.VolcanoJob
	jobSet  *kube.JobSet
	jobs    []batchv1.Job // sorted by name; the first of the plan is the main one
}

// find reads the main object of an app: a request for each form that it may have,
// the likely one first. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (t *target) find(ctx context.Context) (*app, error) {
	order := slices.Clone(manifest.Forms)
	if gang, ok := t.cfg["gang"].(string); ok && slices.Contains(manifest.Forms, manifest.Form(gang)) {
		order = slices.DeleteFunc(order, func(f manifest.Form) bool { return f == manifest.Form(gang) })
		order = slices.Insert(order, 0, manifest.Form(gang))
	}
	for _, f := range order {
		a, err := t.findAs(ctx, f)
		if err == nil || !errors.Is(err, backend.ErrNotFound) {
			return a, err
		}
	}
	return nil, backend.Errorf(backend.ErrNotFound, "%s has no app %s in namespace %s", t.Client, t.name, t.namespace)
}

func (t *target) findAs(ctx context.Context, f manifest.Form) (*app, error) {
	a := &app{form: f}
	switch f {
	case manifest.FormVolcano:
		a.volcano = &kube.VolcanoJob{}
		return a, t.Get(ctx, kube.VolcanoJobs, t.namespace, t.name, a.volcano)
	case manifest.FormJobSet:
		a.jobSet = &kube.JobSet{}
		return a, t.Get(ctx, kube.JobSets, t.namespace, t.name, a.jobSet)
	}
	list, err := kube.ListAll[batchv1.Job](ctx, t.Client, kube.Jobs, t.namespace, kube.ListOptions{LabelSelector: ownJobs(t.name)})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if _, ok := list.Items[i].Labels[label.JobSetName]; !ok { // those of a JobSet are not ours
			a.jobs = append(a.jobs, list.Items[i])
		}
	}
	if len(a.jobs) == 0 {
		return nil, backend.ErrNotFound
	}
	return a, nil
}

// installed are the forms that a cluster has.
func installed(g kube.Groups) []manifest.Form {
	has := []manifest.Form{}
	for f, r := range map[manifest.Form]kube.Resource{manifest.FormVolcano: kube.VolcanoJobs, manifest.FormJobSet: kube.JobSets, manifest.FormJob: kube.Jobs} {
		if g.Has(r) {
			has = append(has, f)
		}
	}
	return has
}

// Submitted returns what the annotation of an app says, or what its pods' templates
// tell. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (b *Backend) Submitted(ctx context.Context, id string) (*backend.Submitted, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	for _, meta := range a.meta() {
		if r, err := manifest.DecodeRecord(meta.Annotations[label.App]); err == nil {
			return &backend.Submitted{App: r.App, Cfg: r.Cfg, Component: r.Component, Args: r.Args}, nil
		}
	}
	return &backend.Submitted{App: manifest.Rebuild(t.name, a.groups()), Partial: true}, nil
}

// meta are the metadata of the main objects.
func (a *app) meta() (all []*metav1.ObjectMeta) {
	switch a.form {
	case manifest.FormVolcano:
		return append(all, &a.volcano.ObjectMeta)
	case manifest.FormJobSet:
		return append(all, &a.jobSet.ObjectMeta)
	}
	for i := range a.jobs {
		all = append(all, &a.jobs[i].ObjectMeta)
	}
	return all
}

// groups are the templates of an app.
func (a *app) groups() (all []manifest.Group) {
	switch a.form {
	case manifest.FormVolcano:
		for i := range a.volcano.Spec.Tasks {
			t := &a.volcano.Spec.Tasks[i]
			all = append(all, manifest.Group{t.Name, int(t.Replicas), &t.Template})
		}
	case manifest.FormJobSet:
		for i := range a.jobSet.Spec.ReplicatedJobs {
			j := &a.jobSet.Spec.ReplicatedJobs[i]
			n := max(1, int(ptr.Deref(j.Template.Spec.Completions, 0)))
			all = append(all, manifest.Group{j.Name, n * int(j.Replicas), &j.Template.Spec.Template})
		}
	default:
		for i := range a.jobs {
			j := &a.jobs[i]
			all = append(all, manifest.Group{j.Name, max(1, int(ptr.Deref(j.Spec.Completions, 0))), &j.Spec.Template})
		}
	}
	return all
}
