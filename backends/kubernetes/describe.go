package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/backends/kubernetes/podarchive"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Describe reports the state of an app. It makes three requests, independent of the number
// of pods, and some more while it waits, as while Volcano holds the whole app back for lack of
// room. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Describe(ctx context.Context, id string) (*spec.Status, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	seen, err := t.observe(ctx)
	if err != nil {
		return nil, unreadable(err)
	}
	t.addReasons(ctx, seen)
	s := t.snapshot(seen)
	s.Took = time.Since(began)
	if t.hidden == nil {
		b.described.Store(&described{id, time.Now(), s})
	}
	return s.Status, nil
}

// unreadable makes the error of an app that the user may not read one of an unavailable cluster:
// of an app that has ended, the result is recorded.
func unreadable(err error) error {
	if errors.Is(err, kube.ErrForbidden) {
		return classed{err, backend.ErrUnavailable}
	}
	return err
}

// described is what Describe has just read, for the logs that are opened next: without it, the pods
// would be listed again.
type described struct {
	id   string
	at   time.Time
	snap *podarchive.Snapshot
}

// takeDescribed returns what Describe has just read of an app, once; nil if it has not.
func (b *Backend) takeDescribed(id string) *podarchive.Snapshot {
	d := b.described.Load()
	if d == nil || d.id != id || !b.described.CompareAndSwap(d, nil) ||
		time.Since(d.at) > b.snapshotTime {
		return nil
	}
	return d.snap
}

// status returns the app's status with its handle.
func (t *target) status(seen *observe.Observation) *spec.Status {
	s := seen.Status()
	s.Handle = manifest.Handle(t.id)
	return s
}

// observe reads the app's main objects and its pods. If the app's form is not recorded, the
// labels of its pods show it. Errors: ErrNotFound, ErrUnavailable.
func (t *target) observe(ctx context.Context) (*observe.Observation, error) {
	var pods []corev1.Pod
	known := t.form() != ""
	if !known {
		var err error
		if pods, err = t.visiblePods(ctx, kube.AppSelector(t.name)); err != nil {
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
	ended := a.state().Terminal()
	a.App = a.record().App
	selector := a.selector(t.name)
	// A terminal state is final, so pods read before it may be out of date.
	if known || ended || selector != kube.AppSelector(t.name) {
		if pods, err = t.visiblePods(ctx, selector); err != nil {
			return nil, err
		}
	}
	a.Pods, a.PodsHidden = pods, t.hidden != nil
	t.addWorkloads(ctx, &a.Observation)
	t.addExpired(ctx, &a.Observation)
	addNamespace(&a.Observation, func() (time.Time, bool) { return t.namespaceRemoved(ctx) })
	return &a.Observation, nil
}

// addReasons adds the events, pod groups and nodes that explain why an app waits. Errors are
// ignored: a status is valid without them. A missing right to list events is said once.
func (t *target) addReasons(ctx context.Context, seen *observe.Observation) {
	if !seen.Unclear() {
		return
	}
	var g errgroup.Group
	g.Go(func() (err error) {
		seen.Events, err = kube.List[corev1.Event](ctx, t.Client, kube.Events, t.namespace,
			kube.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning, Cached: true})
		if errors.Is(err, kube.ErrForbidden) {
			t.warnOnce(fmt.Sprintf("%s: you may not list events in namespace %s, so the reason of a wait may be missing", t.Client, t.namespace))
		}
		return err
	})
	if seen.WaitsForResources() {
		g.Go(func() (err error) {
			o := kube.ListOptions{FieldSelector: "metadata.name=" + t.name + "-" + string(seen.Volcano.UID), Cached: true}
			seen.PodGroups, err = kube.List[kube.PodGroup](ctx, t.Client,
				kube.PodGroups, t.namespace, o)
			return err
		})
		g.Go(func() (err error) {
			seen.Nodes, err = kube.List[corev1.Node](ctx, t.Client, kube.Nodes, "",
				kube.ListOptions{Cached: true})
			return err
		})
	}
	_ = g.Wait()
	if !seen.Starts() {
		return
	}
	o := kube.ListOptions{FieldSelector: "reason=" + observe.Pulling, Cached: true}
	if pulls, err := kube.List[corev1.Event](ctx, t.Client, kube.Events, t.namespace, o); err == nil {
		seen.Events = append(seen.Events, pulls...)
	}
}

// errHidden is part of the error for users who may not list pods.
var errHidden = errors.New("its pods are hidden")

// visiblePods is listPods, but returns no pods if the user may not list them, which it says once:
// the main objects show how the app is.
func (t *target) visiblePods(ctx context.Context, selector string) ([]corev1.Pod, error) {
	pods, version, err := t.listPodsVersion(ctx, selector)
	t.podsVersion = version
	if errors.Is(err, kube.ErrForbidden) {
		t.hidden = classed{err, errHidden}
		t.warnOnce(fmt.Sprintf("%s: you may not list pods in namespace %s, so logs and the states of replicas are missing", t.Client, t.namespace))
		return nil, nil
	}
	t.hidden = nil
	return pods, err
}

// classed is an error that is also of a class, which its text does not have.
type classed struct {
	error
	class error
}

func (e classed) Unwrap() []error { return []error{e.error, e.class} }

// listPods returns the pods that a selector matches, in one request and in their current
// state: a server's cache may lag behind its controllers.
func (t *target) listPods(ctx context.Context, selector string) ([]corev1.Pod, error) {
	pods, _, err := t.listPodsVersion(ctx, selector)
	return pods, err
}

// listPodsVersion is listPods, with the resource version of the list.
func (t *target) listPodsVersion(
	ctx context.Context, selector string,
) (pods []corev1.Pod, version string, err error) {
	return kube.ListVersion[corev1.Pod](ctx, t.Client, kube.Pods, t.namespace,
		kube.ListOptions{LabelSelector: selector, Whole: true})
}

// formOf returns the form of the app that pods belong to, FormAuto if no label shows it.
func formOf(pods []corev1.Pod) manifest.Form {
	for i := range pods {
		l := pods[i].Labels
		switch {
		case l[kube.LabelVolcanoJob] != "":
			return manifest.FormVolcano
		case l[kube.LabelJobSetName] != "":
			return manifest.FormJobSet
		case l[kube.LabelJobName] != "":
			return manifest.FormJob
		}
	}
	return manifest.FormAuto
}
