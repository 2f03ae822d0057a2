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
	"torchx/runtime/backend"
)

// app is the main object of an app as it is on the cluster; one of the fields by
// form is set.
type app struct {
	form    form
	volcano *kube.VolcanoJob
	jobSet  *kube.JobSet
	jobs    []batchv1.Job // sorted by name; the first of the plan is the main one
}

// find reads the main object of an app: a request for each form that it may have,
// the likely one first. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (t *target) find(ctx context.Context) (*app, error) {
	order := slices.Clone(forms)
	if gang, ok := t.cfg["gang"].(string); ok && slices.Contains(forms, form(gang)) {
		order = slices.DeleteFunc(order, func(f form) bool { return f == form(gang) })
		order = slices.Insert(order, 0, form(gang))
	}
	for _, f := range order {
		a, err := t.findAs(ctx, f)
		if err == nil || !errors.Is(err, backend.ErrNotFound) {
			return a, err
		}
	}
	return nil, backend.Errorf(backend.ErrNotFound, "%s has no app %s in namespace %s", t.Client, t.name, t.namespace)
}

func (t *target) findAs(ctx context.Context, f form) (*app, error) {
	a := &app{form: f}
	switch f {
	case formVolcano:
		a.volcano = &kube.VolcanoJob{}
		return a, t.Get(ctx, kube.VolcanoJobs, t.namespace, t.name, a.volcano)
	case formJobSet:
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
func installed(g kube.Groups) []form {
	has := []form{}
	for f, r := range map[form]kube.Resource{formVolcano: kube.VolcanoJobs, formJobSet: kube.JobSets, formJob: kube.Jobs} {
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
		if r, err := decodeRecord(meta.Annotations[label.App]); err == nil {
			return &backend.Submitted{App: r.App, Cfg: r.Cfg, Component: r.Component, Args: r.Args}, nil
		}
	}
	return &backend.Submitted{App: rebuild(t.name, a.groups()), Partial: true}, nil
}

// meta are the metadata of the main objects.
func (a *app) meta() (all []*metav1.ObjectMeta) {
	switch a.form {
	case formVolcano:
		return append(all, &a.volcano.ObjectMeta)
	case formJobSet:
		return append(all, &a.jobSet.ObjectMeta)
	}
	for i := range a.jobs {
		all = append(all, &a.jobs[i].ObjectMeta)
	}
	return all
}

// groups are the templates of an app.
func (a *app) groups() (all []group) {
	switch a.form {
	case formVolcano:
		for i := range a.volcano.Spec.Tasks {
			t := &a.volcano.Spec.Tasks[i]
			all = append(all, group{t.Name, int(t.Replicas), &t.Template})
		}
	case formJobSet:
		for i := range a.jobSet.Spec.ReplicatedJobs {
			j := &a.jobSet.Spec.ReplicatedJobs[i]
			n := max(1, int(ptr.Deref(j.Template.Spec.Completions, 0)))
			all = append(all, group{j.Name, n * int(j.Replicas), &j.Template.Spec.Template})
		}
	default:
		for i := range a.jobs {
			j := &a.jobs[i]
			all = append(all, group{j.Name, max(1, int(ptr.Deref(j.Spec.Completions, 0))), &j.Spec.Template})
		}
	}
	return all
}
