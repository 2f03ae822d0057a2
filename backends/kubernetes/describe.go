package kubernetes

import (
	"context"
	"maps"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// warningEvents selects the events that say why something waits or failed.
const warningEvents = "type=" + corev1.EventTypeWarning

// Describe reports the state of an app. It takes three requests, whatever the
// number of pods; two more where Volcano keeps all of it waiting for room.
// Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (b *Backend) Describe(ctx context.Context, id string) (*spec.Status, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	seen, err := t.look(ctx)
	if err != nil {
		return nil, err
	}
	return t.status(seen), nil
}

// status is what was seen of the app, with its handle.
func (t *target) status(seen *observe.Seen) *spec.Status {
	s := seen.Status()
	s.Handle = manifest.Handle(t.id)
	return s
}

// look reads the app's main object, its pods and, where these do not say what it
// waits for, what else does. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (t *target) look(ctx context.Context) (*observe.Seen, error) {
	seen, err := t.glance(ctx)
	if err != nil {
		return nil, err
	}
	t.explain(ctx, seen)
	return seen, nil
}

// glance is the part of look that is always needed. Where nobody wrote down which
// form the app has, its pods tell.
func (t *target) glance(ctx context.Context) (*observe.Seen, error) {
	var pods []corev1.Pod
	known := t.form() != ""
	if !known {
		var err error
		if pods, err = t.listPods(ctx, label.Selector(t.name)); err != nil {
			return nil, err
		}
		cfg := backend.Config{}
		maps.Copy(cfg, t.cfg)
		cfg["gang"], t.cfg = string(formOf(pods)), cfg
	}
	a, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	seen := a.seen()
	seen.App = a.submitted()
	ended := a.state().Terminal()
	selector := a.selector(t.name)
	// An end is for good: pods must not be from before it.
	if known || ended || selector != label.Selector(t.name) {
		if pods, err = t.listPods(ctx, selector); err != nil {
			return nil, err
		}
	}
	seen.Pods = pods
	return seen, nil
}

// submitted is the app as it was submitted, nil where nobody wrote it down.
func (a *app) submitted() *spec.App {
	for _, meta := range a.meta() {
		if r, err := manifest.DecodeRecord(meta.Annotations[label.App]); err == nil {
			return r.App
		}
	}
	return nil
}

// explain adds what says why an app waits, as far as the user may read it.
func (t *target) explain(ctx context.Context, seen *observe.Seen) {
	if !seen.Unclear() {
		return
	}
	// Nothing of this is needed, only good to know: errors leave it out.
	var g errgroup.Group
	g.Go(func() error {
		seen.Events, _ = t.listWarnings(ctx)
		return nil
	})
	if seen.WaitsForRoom() {
		g.Go(func() error {
			o := kube.ListOptions{FieldSelector: "metadata.name=" + t.name + "-" + string(seen.Volcano.UID), Cached: true}
			if list, err := kube.ListAll[kube.PodGroup](ctx, t.Client, kube.PodGroups, t.namespace, o); err == nil {
				seen.PodGroups = list.Items
			}
			return nil
		})
		g.Go(func() error {
			if list, err := kube.ListAll[corev1.Node](ctx, t.Client, kube.Nodes, "", kube.ListOptions{Cached: true}); err == nil {
				seen.Nodes = list.Items
			}
			return nil
		})
	}
	_ = g.Wait() // none returns an error
}

func (t *target) listWarnings(ctx context.Context) ([]corev1.Event, error) {
	list, err := kube.ListAll[corev1.Event](ctx, t.Client, kube.Events, t.namespace, kube.ListOptions{FieldSelector: warningEvents, Cached: true})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// listPods returns the pods that a selector finds, in one request, as they are now:
// what a server remembers may be older than what its controllers have done since.
func (t *target) listPods(ctx context.Context, selector string) ([]corev1.Pod, error) {
	list, err := kube.ListAll[corev1.Pod](ctx, t.Client, kube.Pods, t.namespace, kube.ListOptions{LabelSelector: selector, Whole: true})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// form is the one that was written down of the app, "" if none was.
func (t *target) form() manifest.Form {
	gang, _ := t.cfg["gang"].(string)
	if f := manifest.Form(gang); f != manifest.FormAuto {
		return f
	}
	return ""
}

// formOf is the form of the app that pods are of, formAuto if they do not tell.
func formOf(pods []corev1.Pod) manifest.Form {
	for i := range pods {
		l := pods[i].Labels
		switch {
		case l[label.VolcanoJob] != "":
			return manifest.FormVolcano
		case l[label.JobSetName] != "":
			return manifest.FormJobSet
		case l[label.JobName] != "":
			return manifest.FormJob
		}
	}
	return manifest.FormAuto
}

// selector finds the pods of an app, also of one that torchx did not submit.
func (a *app) selector(name string) string {
	switch {
	case a.volcano != nil:
		var templates []corev1.PodTemplateSpec
		for i := range a.volcano.Spec.Tasks {
			templates = append(templates, a.volcano.Spec.Tasks[i].Template)
		}
		if ours(&a.volcano.ObjectMeta, templates...) == nil {
			return label.VolcanoJob + "=" + name
		}
	case a.jobSet != nil && ours(&a.jobSet.ObjectMeta) == nil:
		return label.JobSetName + "=" + name
	}
	return label.Selector(name)
}
