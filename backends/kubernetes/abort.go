package kubernetes

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
)

// stopVolcano aborts a Volcano Job and notes that in its metadata, only once, to keep the time of
// the first cancellation, and not if the user may not abort it.
func (t *target) stopVolcano(ctx context.Context, j *kube.VolcanoJob, meta map[string]any) error {
	patch := func(meta map[string]any) error {
		return t.Patch(ctx, kube.VolcanoJobs, t.namespace, t.name, "",
			map[string]any{"metadata": meta})
	}
	if _, ok := j.Annotations[kube.AnnotationCancelled]; !ok {
		if err := patch(meta); err != nil {
			return err
		}
	}
	if j.Status.State.Phase == "Aborting" {
		return nil
	}
	err := t.abort(ctx, j)
	if errors.Is(err, kube.ErrForbidden) {
		_ = patch(map[string]any{"annotations": map[string]any{kube.AnnotationCancelled: nil, kube.AnnotationCancelReason: nil, kube.AnnotationCancelFailed: nil}}) // the user sees err
	}
	return err
}

// command asks Volcano's controller to act on a job (volcano.sh/apis, bus/v1alpha1); the
// controller deletes it afterwards.
type command struct {
	kube.Object
	Action       string                 `json:"action"`
	TargetObject *metav1.OwnerReference `json:"target"`
}

// abort ends a Volcano Job as `vcctl job suspend` does.
func (t *target) abort(ctx context.Context, j *kube.VolcanoJob) error {
	owner := metav1.OwnerReference{APIVersion: manifest.TypeVolcano.APIVersion, Kind: manifest.TypeVolcano.Kind, Name: j.Name, UID: j.UID, Controller: new(true)}
	c := command{Action: "AbortJob", TargetObject: &owner}
	c.TypeMeta = metav1.TypeMeta{APIVersion: "bus.volcano.sh/v1alpha1", Kind: "Command"}
	c.GenerateName, c.Namespace, c.OwnerReferences = j.Name+"-abort-", j.Namespace, []metav1.OwnerReference{owner}
	err := t.Create(ctx, kube.VolcanoCommands, t.namespace, c, false, nil)
	if !errors.Is(err, backend.ErrNotFound) && !errors.Is(err, kube.ErrForbidden) {
		return err
	}
	// TorchX does the same.
	patched := t.Patch(ctx, kube.VolcanoJobs, t.namespace, j.Name, "status", map[string]any{
		"status": map[string]any{"state": map[string]any{"phase": "Aborted"}},
	})
	if errors.Is(patched, kube.ErrForbidden) {
		return err // the right that is meant for it
	}
	return patched
}

// abortEvery is the pause between commands to abort a Volcano Job. Most end at the first one.
const abortEvery = 15 * time.Second

// aborter aborts a canceled Volcano Job again while it has not ended: Volcano's controller
// deletes a command before it acts on it (its processNextCommand), and so may lose it.
type aborter struct {
	target *target
	job    atomic.Pointer[kube.VolcanoJob] // nil: nothing to abort
}

// note takes the job of an observation.
func (a *aborter) note(seen *observe.Observation) {
	j := seen.Volcano
	if j != nil && (j.Annotations[kube.AnnotationCancelled] == "" || seen.State().Terminal()) {
		j = nil
	}
	a.job.Store(j)
}

// start aborts now and then until stop is called.
func (a *aborter) start(ctx context.Context) (stop func()) {
	return repeat(ctx, abortEvery, func(ctx context.Context) {
		if j := a.job.Load(); j != nil {
			_ = a.target.abort(ctx, j) // the next one may succeed
		}
	})
}

// repeat calls act, with a pause before each call, until stop is called.
func repeat(ctx context.Context, pause time.Duration, act func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for kube.Sleep(ctx, pause) == nil {
			act(ctx)
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}
