package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
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
func listForm(
	ctx context.Context, c *kube.Client, f manifest.Form, ns string,
) (apps []*app, err error) {
	switch f {
	case manifest.FormVolcano: // TorchX labels only pods, so no selector finds its jobs
		return listObjects(ctx, c, kube.VolcanoJobs, ns, "", func(a *app, j *kube.VolcanoJob) { a.Volcano = j })
	case manifest.FormJobSet:
		return listObjects(ctx, c, kube.JobSets, ns, managed, func(a *app, s *kube.JobSet) { a.JobSet = s })
	}
	apps, err = listObjects(ctx, c, kube.Jobs, ns, managed+",!"+kube.LabelJobSetName, func(a *app, j *batchv1.Job) { a.Jobs = []batchv1.Job{*j} })
	return joinJobs(apps), err
}

// managed selects the objects of all apps.
const managed = kube.LabelManagedBy + "=" + kube.Manager

// listObjects lists the main objects of a namespace, each as an app.
func listObjects[T any](ctx context.Context, c *kube.Client, r kube.Resource,
	namespace, selector string, set func(*app, *T),
) (apps []*app, err error) {
	items, err := kube.List[T](ctx, c, r, namespace,
		kube.ListOptions{LabelSelector: selector, Whole: true})
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
		id := manifest.AppID(j.Jobs[0].Namespace, j.Jobs[0].Labels[kube.LabelInstance])
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
		return manifest.AppID(meta.Namespace, meta.Labels[kube.LabelInstance])
	}
	return manifest.AppID(meta.Namespace, meta.Name)
}

// summary returns what the main objects show of an app. How a replica failed is known only
// to its pods, which a list does not read.
func (a *app) summary(labels map[string]string) backend.View {
	s := backend.View{Foreign: true}
	s.ID, s.Name, s.State = a.id(), labels[kube.LabelAppName], a.State()
	if r := a.record(); r.App != nil {
		s.Component, s.Args, s.ParentRunID, s.RerunOf = r.Component, r.Args, r.ParentRunID, r.RerunOf
		s.Tags, s.Note, s.User = r.Tags, r.Note, r.User
	}
	status := a.Status()
	s.SubmittedAt = status.SubmittedAt
	if s.State == spec.Succeeded || s.State == spec.Cancelled {
		s.FinishedAt, s.ExitCode = status.FinishedAt, status.ExitCode
	}
	return s
}

// Events implements backend.EventLister: it returns the events of the app's pods and main objects,
// which clusters keep for an hour, also after the app is deleted.
func (b *Backend) Events(ctx context.Context, id string) ([]backend.Event, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	seen, err := t.observe(ctx)
	if errors.Is(err, backend.ErrNotFound) {
		seen, err = &observe.Observation{}, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := t.listEvents(ctx)
	if errors.Is(err, kube.ErrForbidden) {
		t.warnOnce(fmt.Sprintf("%s: you may not list events in namespace %s, so those of the cluster are missing", t.Client, t.namespace))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locate := seen.Locator()
	pods := map[string]*corev1.Pod{}
	for i := range seen.Pods {
		pods[seen.Pods[i].Name] = &seen.Pods[i]
	}
	var all []backend.Event
	for i := range list {
		e := &list[i]
		name := e.InvolvedObject.Name
		if name != t.name && !strings.HasPrefix(name, t.name+"-") {
			continue
		}
		event := backend.Event{Time: observe.EventTime(e).UTC(), Msg: fmt.Sprintf("%s %s: %s", strings.ToLower(e.InvolvedObject.Kind), name, observe.EventText(e))}
		if pod := pods[name]; pod != nil && e.InvolvedObject.Kind == "Pod" &&
			e.InvolvedObject.UID == pod.UID {
			if r, attempt, ok := locate(pod); ok {
				event.Replica, event.Attempt = &r, attempt
			}
		}
		all = append(all, event)
	}
	slices.SortStableFunc(all, func(a, b backend.Event) int { return a.Time.Compare(b.Time) })
	return all, nil
}
