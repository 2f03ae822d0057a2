package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// Delete removes all objects of an app and returns when they and the pods are gone.
// Errors: ErrNotFound, ErrUnavailable.
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
		// Another client deleted it, or its submission was interrupted.
		var found bool
		if found, err = t.removeServices(ctx); err == nil && !found {
			return errors.Join(missing, b.forgetLogs(id, o))
		}
	default:
		err = missing
	}
	if err != nil {
		return err
	}
	if err := t.waitGone(ctx, o.Abandon); err != nil {
		return err
	}
	return b.forgetLogs(id, o)
}

// remove deletes the main objects; the cluster deletes the objects they own. It tries all
// and returns the first error.
func (t *target) remove(ctx context.Context, a *app) (first error) {
	remove := func(r kube.Resource, name string) {
		err := ignoreMissing(t.Delete(ctx, r, t.namespace, name, "", nil))
		first = cmp.Or(first, err)
	}
	switch a.form {
	case manifest.FormVolcano:
		remove(kube.VolcanoJobs, t.name)
	case manifest.FormJobSet:
		remove(kube.JobSets, t.name)
	default:
		for i := range a.Jobs {
			remove(kube.Jobs, a.Jobs[i].Name)
		}
		// The cluster deletes the service with the last Job, so the right to delete it is not
		// needed.
		if err := t.Delete(ctx, kube.Services, t.namespace, t.name, "", nil); !errors.Is(err, kube.ErrForbidden) {
			first = cmp.Or(first, ignoreMissing(err))
		}
	}
	return first
}

// removeServices deletes the service of an interrupted submission with gang=job, which
// creates the service before the Jobs. (The other forms create the main object first.) It
// reports whether it found one; it finds none if the user may not list services.
func (t *target) removeServices(ctx context.Context) (found bool, first error) {
	services, err := kube.List[kube.Object](ctx, t.Client, kube.Services, t.namespace,
		kube.ListOptions{LabelSelector: kube.AppSelector(t.name)})
	if errors.Is(err, kube.ErrForbidden) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i := range services {
		err := ignoreMissing(t.Delete(ctx, kube.Services, t.namespace, services[i].Name, services[i].UID, nil))
		first = cmp.Or(first, err)
	}
	return len(services) > 0, first
}

const (
	// goneTime bounds the wait for pods to end: their grace period defaults to 30 s, and a pod
	// of a lost node never ends.
	goneTime = 2 * time.Minute
	// goneHint is when the user is told what takes so long.
	goneHint = 5 * time.Second
)

// waitGone waits until the app and its pods are deleted. With abandon, it gives up the pods of lost
// nodes.
func (t *target) waitGone(ctx context.Context, abandon bool) error {
	late, hint, hinted, due := time.After(goneTime), time.Now().Add(goneHint), false, &overdue{}
	for pause := 50 * time.Millisecond; ; pause = min(pause*2, time.Second) {
		_, err := t.find(ctx)
		if ignoreMissing(err) != nil {
			return err
		}
		if err != nil {
			pods, err := t.pods(ctx)
			if err != nil || len(pods) == 0 {
				return err
			}
			if !hinted && time.Now().After(hint) {
				hinted = true
				p := &pods[0]
				t.warnOnce(fmt.Sprintf("%s: waiting for pod %s on node %s to end (`kubectl%s -n %s delete pod --force %[2]s` ends it if the node is lost)",
					t.Client, p.Name, cmp.Or(p.Spec.NodeName, "none"), t.Flag(), t.namespace))
			}
			if due.note(pods, time.Now()); abandon {
				t.killOverdue(ctx, due)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fmt.Errorf("%s: the app is deleted, but parts of it still exist after %v: see `kubectl -n %s get pods -l %s`", t.Client, goneTime, t.namespace, kube.AppSelector(t.name))
		case <-time.After(pause):
		}
	}
}
