package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
)

// Cancel stops an app and keeps its objects: a Volcano Job is aborted, everything else
// is suspended. It returns once the cluster has stored the request, a forced one once the
// controllers have seen it as well. It does nothing for an unknown or finished app, or when
// called again.
func (b *Backend) Cancel(ctx context.Context, id string, o backend.CancelOptions) error {
	t, err := b.target(ctx, id)
	if err != nil {
		return err
	}
	a, err := t.find(ctx)
	if err != nil {
		return ignoreMissing(err)
	}
	if !a.state().Terminal() {
		switch {
		case o.Discard:
		case o.Follow:
			b.followToEnd(ctx, id)
		default:
			b.saveLogs(ctx, id)
		}
		b.setCanceled(id, o)
		err := t.stop(ctx, a, o)
		if o.Abandon && errors.Is(err, kube.ErrForbidden) { // the app is about to be deleted
			if err = t.remove(ctx, a); err == nil {
				err = t.waitGone(ctx, true)
			}
		}
		if errors.Is(err, kube.ErrForbidden) {
			return fmt.Errorf("%w (torchx delete -f %s needs only the right to delete it)", err, manifest.Handle(id))
		}
		if err := ignoreMissing(err); err != nil {
			return err
		}
	}
	if o.Force {
		return t.kill(ctx)
	}
	return nil
}

// setCanceled notes how an app was canceled, for Wait.
func (b *Backend) setCanceled(id string, o backend.CancelOptions) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.canceled[id] = o
}

// canceledBy returns how an app was canceled: if its logs are about to be deleted, Wait does not
// read them.
func (b *Backend) canceledBy(id string) backend.CancelOptions {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.canceled[id]
}

// ignoreMissing returns nil for ErrNotFound, else err.
func ignoreMissing(err error) error {
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

// stop asks the controllers to end the pods.
func (t *target) stop(ctx context.Context, a *app, o backend.CancelOptions) error {
	annotations := map[string]string{kube.AnnotationCancelled: time.Now().UTC().Format(time.RFC3339)}
	if o.Reason != "" {
		annotations[kube.AnnotationCancelReason] = o.Reason
	}
	if o.Failed {
		annotations[kube.AnnotationCancelFailed] = "true"
	}
	meta := map[string]any{"annotations": annotations}
	suspend := []map[string]any{{"metadata": meta, "spec": map[string]any{"suspend": true}}}
	switch err := t.deactivate(ctx, a.meta()); {
	case errors.Is(err, kube.ErrForbidden):
		hold, release := leaveQueue()
		meta["labels"] = hold
		suspend = append(suspend, map[string]any{"metadata": map[string]any{"labels": release}})
	case err != nil:
		return err
	}
	switch a.form {
	case manifest.FormVolcano:
		return t.stopVolcano(ctx, a.Volcano, meta)
	case manifest.FormJobSet:
		return t.patchAll(ctx, kube.JobSets, t.name, suspend)
	}
	for i := range a.Jobs {
		job := observe.Observation{Jobs: a.Jobs[i : i+1]}
		if job.State().Terminal() {
			continue
		}
		if err := ignoreMissing(t.patchAll(ctx, kube.Jobs, a.Jobs[i].Name, suspend)); err != nil {
			return err
		}
	}
	return nil
}

// patchAll applies patches in order.
func (t *target) patchAll(
	ctx context.Context, r kube.Resource, name string, patches []map[string]any,
) error {
	for _, p := range patches {
		if err := t.Patch(ctx, r, t.namespace, name, "", p); err != nil {
			return err
		}
	}
	return nil
}

// stopTime limits how long kill waits for a controller; it is less than the grace period of
// pods (30 s).
const (
	stopTime  = 10 * time.Second
	stopEvery = 200 * time.Millisecond
)

// kill ends pods without a grace period. A controller that has not seen the stop yet
// replaces them, and would give the new ones the grace period, so kill goes on until it has.
func (t *target) kill(ctx context.Context) error {
	for end := time.Now().Add(stopTime); ; {
		a, err := t.find(ctx)
		if err != nil {
			return ignoreMissing(err)
		}
		if err := t.killPods(ctx); err != nil {
			return err
		}
		if a.Stopped() || time.Now().After(end) {
			return nil
		}
		if err := kube.Sleep(ctx, stopEvery); err != nil {
			return err
		}
	}
}

// parallelKills bounds the pods that are deleted at the same time.
const parallelKills = 16

// killPods ends the present pods without a grace period.
func (t *target) killPods(ctx context.Context) error {
	pods, err := t.pods(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelKills)
	for i := range pods {
		if p := &pods[i]; ctx.Err() == nil &&
			(p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending) {
			g.Go(func() error {
				return ignoreMissing(t.Delete(ctx, kube.Pods, t.namespace, p.Name, p.UID, new(int64(0))))
			})
		}
	}
	if err = g.Wait(); errors.Is(err, kube.ErrForbidden) {
		t.warnOnce(fmt.Sprintf("%s: you may not delete pods in namespace %s, so they end within their grace period", t.Client, t.namespace))
		return nil
	}
	return err
}

// pods returns the app's pods, none if the user may not list pods.
func (t *target) pods(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := kube.List[corev1.Pod](ctx, t.Client, kube.Pods, t.namespace,
		kube.ListOptions{LabelSelector: kube.AppSelector(t.name)})
	if errors.Is(err, kube.ErrForbidden) {
		return nil, nil
	}
	return pods, err
}
