package kubernetes

import (
	"context"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// List reports the apps of a namespace, or of all that may be read, with those of
// others and of TorchX: one request for each kind of object. Errors: backends.ErrUnavailable.
func (b *Backend) List(ctx context.Context) ([]spec.Summary, error) {
	c, cfg, err := b.cluster(ctx, "")
	if err != nil {
		return nil, err
	}
	groups, err := c.Groups(ctx)
	if err != nil {
		return nil, err
	}
	all := []spec.Summary{}
	for _, f := range manifest.Forms {
		if !slices.Contains(installed(groups), f) {
			continue
		}
		apps, err := listForm(ctx, c, f, namespaces(c, cfg))
		if err != nil {
			return nil, err
		}
		all = append(all, apps...)
	}
	return all, nil
}

// namespaces are where to look, in this order until it is allowed; "" is all.
func namespaces(c *kube.Client, cfg backend.Config) []string {
	if ns, ok := cfg["namespace"].(string); ok {
		return []string{ns}
	}
	own := c.Namespace
	if own == "" {
		own = manifest.DefaultNamespace
	}
	return []string{"", own}
}

func listForm(ctx context.Context, c *kube.Client, f manifest.Form, namespaces []string) (apps []spec.Summary, err error) {
	for _, ns := range namespaces {
		switch f {
		case manifest.FormVolcano:
			apps, err = listVolcano(ctx, c, ns)
		case manifest.FormJobSet:
			apps, err = listJobSets(ctx, c, ns)
		default:
			apps, err = listJobs(ctx, c, ns)
		}
		if !errors.Is(err, kube.ErrForbidden) {
			return apps, err
		}
	}
	return apps, err
}

func listVolcano(ctx context.Context, c *kube.Client, namespace string) (apps []spec.Summary, err error) {
	jobs, err := kube.ListAll[kube.VolcanoJob](ctx, c, kube.VolcanoJobs, namespace, kube.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range jobs.Items {
		j := &jobs.Items[i]
		// TorchX labels pods only.
		var templates []corev1.PodTemplateSpec
		for _, t := range j.Spec.Tasks {
			templates = append(templates, t.Template)
		}
		if labels := ours(&j.ObjectMeta, templates...); labels != nil {
			apps = append(apps, summary(&j.ObjectMeta, j.Name, labels, &observe.Seen{Volcano: j}))
		}
	}
	return apps, nil
}

func listJobSets(ctx context.Context, c *kube.Client, namespace string) (apps []spec.Summary, err error) {
	sets, err := kube.ListAll[kube.JobSet](ctx, c, kube.JobSets, namespace, kube.ListOptions{LabelSelector: label.ManagedBy + "=" + label.Manager})
	if err != nil {
		return nil, err
	}
	for i := range sets.Items {
		s := &sets.Items[i]
		apps = append(apps, summary(&s.ObjectMeta, s.Name, s.Labels, &observe.Seen{JobSet: s}))
	}
	return apps, nil
}

func listJobs(ctx context.Context, c *kube.Client, namespace string) (apps []spec.Summary, err error) {
	jobs, err := kube.ListAll[batchv1.Job](ctx, c, kube.Jobs, namespace, kube.ListOptions{
		LabelSelector: label.ManagedBy + "=" + label.Manager + ",!" + label.JobSetName,
	})
	if err != nil {
		return nil, err
	}
	of := map[string][]batchv1.Job{}
	var order []string
	for i := range jobs.Items {
		id := manifest.AppID(jobs.Items[i].Namespace, jobs.Items[i].Labels[label.Instance])
		if of[id] == nil {
			order = append(order, id)
		}
		of[id] = append(of[id], jobs.Items[i])
	}
	for _, id := range order {
		first := &of[id][0]
		apps = append(apps, summary(&first.ObjectMeta, first.Labels[label.Instance], first.Labels, &observe.Seen{Jobs: of[id]}))
	}
	return apps, nil
}

// ours are the labels that say that an object is an app's; nil if it is none.
func ours(meta *metav1.ObjectMeta, templates ...corev1.PodTemplateSpec) map[string]string {
	if meta.Labels[label.ManagedBy] == label.Manager {
		return meta.Labels
	}
	for i := range templates {
		if l := templates[i].Labels; l[label.ManagedBy] == label.Manager {
			return l
		}
	}
	return nil
}

// summary is what the main object tells of an app. How a replica failed only pods
// know, which are not looked at here.
func summary(meta *metav1.ObjectMeta, name string, labels map[string]string, seen *observe.Seen) spec.Summary {
	app := spec.Summary{ID: manifest.AppID(meta.Namespace, name), Name: labels[label.AppName], State: seen.State(), Foreign: true}
	s := seen.Status()
	app.SubmittedAt = s.SubmittedAt
	if app.State == spec.Succeeded || app.State == spec.Cancelled {
		app.FinishedAt, app.ExitCode = s.FinishedAt, s.ExitCode
	}
	return app
}
