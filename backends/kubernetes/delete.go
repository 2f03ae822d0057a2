package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// Delete removes all objects of an app and returns when they and the pods are
// gone. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (b *Backend) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	t, err := b.target(ctx, id)
	if err != nil {
		return err
	}
	a, missing := t.find(ctx)
	switch {
	case missing == nil:
		err = t.remove(ctx, a)
	case errors.Is(missing, backend.ErrNotFound):
		// Somebody else deleted it, or its submission was cut short.
		var some bool
		if some, err = t.sweep(ctx); err == nil && !some {
			return errors.Join(missing, b.forgetLogs(id, o))
		}
	default:
		err = missing
	}
	if err != nil {
		return err
	}
	if err := t.gone(ctx); err != nil {
		return err
	}
	return b.forgetLogs(id, o)
}

// remove deletes the main objects; the cluster deletes what they own. It tries all
// and returns the first error.
func (t *target) remove(ctx context.Context, a *app) (first error) {
	remove := func(r kube.Resource, name string) {
		err := t.Delete(ctx, r, t.namespace, name, "", nil)
		if err != nil && !errors.Is(err, backend.ErrNotFound) && first == nil {
			first = err
		}
	}
	switch a.form {
	case manifest.FormVolcano:
		remove(kube.VolcanoJobs, t.name)
	case manifest.FormJobSet:
		remove(kube.JobSets, t.name)
	default:
		for i := range a.jobs {
			remove(kube.Jobs, a.jobs[i].Name)
		}
		remove(kube.Services, t.name)
	}
	return first
}

// sweep deletes what a submission in the form job has made before its first Job: the
// service, which owns whatever else there is; the other forms begin with the main
// object. It tells whether there was anything.
func (t *target) sweep(ctx context.Context) (some bool, first error) {
	services, err := kube.ListAll[kube.Object](ctx, t.Client, kube.Services, t.namespace, kube.ListOptions{LabelSelector: label.Selector(t.name)})
	if errors.Is(err, kube.ErrForbidden) { // who may not see services has made none
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i := range services.Items {
		err := t.Delete(ctx, kube.Services, t.namespace, services.Items[i].Name, services.Items[i].UID, nil)
		if err != nil && !errors.Is(err, backend.ErrNotFound) && first == nil {
			first = err
		}
	}
	return len(services.Items) > 0, first
}

// goneTime bounds the wait for pods that end: their grace period is 30 s where nobody
// says otherwise, and one of a node that is gone never ends.
const goneTime = 2 * time.Minute

// gone waits until the app and its pods are no more.
func (t *target) gone(ctx context.Context) error {
	late := time.After(goneTime)
	for wait := 50 * time.Millisecond; ; wait = min(wait*2, time.Second) {
		_, err := t.find(ctx)
		if err != nil && !errors.Is(err, backend.ErrNotFound) {
			return err
		}
		if err != nil {
			pods, err := t.pods(ctx)
			if err != nil || len(pods) == 0 {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("%s: the app is deleted, but after %v it has still not ended: see `kubectl -n %s get pods -l %s`", t.Client, goneTime, t.namespace, label.Selector(t.name))
		case <-time.After(wait):
		}
	}
}
