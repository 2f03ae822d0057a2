package kubernetes

import (
	"cmp"
	"context"

	batchv1 "k8s.io/api/batch/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// List reports the apps of a namespace, or of all that the user may read, including
// those of other users and of TorchX: one request for each form. Errors: ErrUnavailable.
func (b *Backend) List(ctx context.Context) ([]backend.View, error) {
	c, cfg, err := b.cluster(ctx, "")
	if err != nil {
		return nil, err
	}
	o, err := b.readOverview(ctx, c, namespaces(c, cfg))
	if err != nil {
		return nil, err
	}
	b.warnDenied(ctx, o)
	all := []backend.View{}
	for _, a := range o.apps {
		all = append(all, a.summary(a.labels()))
	}
	b.keepOverview(o)
	return all, nil
}

// namespaces returns the namespaces to list, in order, until the user may list one; "" is
// all namespaces.
func namespaces(c *kube.Client, cfg backend.Config) []string {
	if ns, ok := cfg["namespace"].(string); ok {
		return []string{ns}
	}
	return []string{"", cmp.Or(c.Namespace, manifest.DefaultNamespace)}
}

// listForm lists the apps of a form in a namespace.
func listForm(ctx context.Context, c *kube.Client, f manifest.Form, ns string) (apps []*app, err error) {
	switch f {
	case manifest.FormVolcano: // TorchX labels only pods, so no selector finds its jobs
		return listObjects(ctx, c, kube.VolcanoJobs, ns, "", func(a *app, j *kube.VolcanoJob) { a.Volcano = j })
	case manifest.FormJobSet:
		return listObjects(ctx, c, kube.JobSets, ns, managed, func(a *app, s *kube.JobSet) { a.JobSet = s })
	}
	apps, err = listObjects(ctx, c, kube.Jobs, ns, managed+",!"+label.JobSetName, func(a *app, j *batchv1.Job) { a.Jobs = []batchv1.Job{*j} })
	return joinJobs(apps), err
}

// managed selects the objects of all apps.
const managed = label.ManagedBy + "=" + label.Manager

// listObjects lists the main objects of a namespace, each as an app.
func listObjects[T any](ctx context.Context, c *kube.Client, r kube.Resource, namespace, selector string, set func(*app, *T)) (apps []*app, err error) {
	items, err := kube.List[T](ctx, c, r, namespace, kube.ListOptions{LabelSelector: selector, Whole: true})
	for i := range items {
		a := &app{}
		set(a, &items[i])
		apps = append(apps, a)
	}
	return apps, err
}

// joinJobs makes one app of the Jobs that have the same namespace and instance.
func joinJobs(jobs []*app) (apps []*app) {
	byID := map[string]*app{}
	for _, j := range jobs {
		id := manifest.AppID(j.Jobs[0].Namespace, j.Jobs[0].Labels[label.Instance])
		if a := byID[id]; a != nil {
			a.Jobs = append(a.Jobs, j.Jobs...)
			continue
		}
		byID[id] = j
		apps = append(apps, j)
	}
	return apps
}

// id returns the ID of an app.
func (a *app) id() string {
	meta := a.meta()[0]
	if a.Jobs != nil {
		return manifest.AppID(meta.Namespace, meta.Labels[label.Instance])
	}
	return manifest.AppID(meta.Namespace, meta.Name)
}

// summary returns what the main objects show of an app. How a replica failed is known only
// to its pods, which a list does not read.
func (a *app) summary(labels map[string]string) backend.View {
	s := backend.View{Foreign: true}
	s.ID, s.Name, s.State = a.id(), labels[label.AppName], a.State()
	if r := a.record(); r.App != nil {
		s.Component, s.Args, s.ParentRunID, s.RerunOf = r.Component, r.Args, r.ParentRunID, r.RerunOf
		s.Tags, s.Note = r.Tags, r.Note
	}
	status := a.Status()
	s.SubmittedAt = status.SubmittedAt
	if s.State == spec.Succeeded || s.State == spec.Cancelled {
		s.FinishedAt, s.ExitCode = status.FinishedAt, status.ExitCode
	}
	return s
}
