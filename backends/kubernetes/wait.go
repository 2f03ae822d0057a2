package kubernetes

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// gather is how long changes are let come together before they are looked at: a
// gang's pods change all at once.
const gather = 50 * time.Millisecond

// Wait blocks until the app is terminal: it watches, and bears that the cluster is
// away for a while. All logs are archived meanwhile. Errors: backends.ErrNotFound, also
// of an app that is deleted meanwhile, backends.ErrUnavailable, those of ctx.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	k := b.keepLogs(t)
	var last *spec.Status
	err = t.follow(ctx, func(seen *observe.Seen) bool {
		s := t.snapshot(seen)
		k.see(s)
		last = s.Status
		return last.State.Terminal()
	})
	k.end(ctx, err)
	if err != nil {
		return nil, err
	}
	return last, nil
}

// follow calls see with what is seen of an app now and after each change, until
// see says that it is done. It knows pods that were deleted while it ran. Errors:
// those of Wait.
func (t *target) follow(ctx context.Context, see func(seen *observe.Seen) (done bool)) error {
	first, err := t.glance(ctx)
	if err != nil {
		return err
	}
	if see(first) {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := newFollower(t, first)
	failed := make(chan error, 2) // of the two mirrors
	go func() { failed <- f.main.Run(ctx) }()
	go func() { failed <- f.pods.Run(ctx) }()
	for {
		main, pods := f.main.Changed(), f.pods.Changed()
		seen, err := f.look()
		if err != nil {
			return err
		}
		if seen != nil && see(seen) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-main:
		case <-pods:
		}
		if err := sleep(ctx, gather); err != nil {
			return err
		}
	}
}

// mainMirror is a mirror of the main object of an app, whatever its form.
type mainMirror interface {
	Run(ctx context.Context) error
	Changed() <-chan struct{}
}

// follower keeps what is seen of an app up to date.
type follower struct {
	t    *target
	main mainMirror
	pods *kube.Mirror[corev1.Pod]
	read func(seen *observe.Seen) (ready, there bool) // the main object, as it was last if it is gone
	keep observe.Seen                                 // what does not change
}

func newFollower(t *target, first *observe.Seen) *follower {
	f := &follower{t: t, keep: observe.Seen{App: first.App}}
	named := kube.ListOptions{FieldSelector: "metadata.name=" + t.name}
	a := &app{volcano: first.Volcano, jobSet: first.JobSet, jobs: first.Jobs}
	f.pods = kube.NewMirror[corev1.Pod](t.Client, kube.Pods, t.namespace, kube.ListOptions{LabelSelector: a.selector(t.name)})
	switch {
	case first.Volcano != nil:
		m := kube.NewMirror[kube.VolcanoJob](t.Client, kube.VolcanoJobs, t.namespace, named)
		f.main, f.read = m, func(seen *observe.Seen) (ready, there bool) {
			seen.Volcano, ready, there = one(m, first.Volcano)
			return ready, there
		}
	case first.JobSet != nil:
		m := kube.NewMirror[kube.JobSet](t.Client, kube.JobSets, t.namespace, named)
		f.main, f.read = m, func(seen *observe.Seen) (ready, there bool) {
			seen.JobSet, ready, there = one(m, first.JobSet)
			return ready, there
		}
	default:
		m := kube.NewMirror[batchv1.Job](t.Client, kube.Jobs, t.namespace, kube.ListOptions{LabelSelector: ownJobs(t.name)})
		f.main, f.read = m, func(seen *observe.Seen) (ready, there bool) {
			seen.Jobs, ready, there = all(m, first.Jobs)
			return ready, there
		}
	}
	return f
}

// ownJobs selects the Jobs of an app but those of a JobSet.
func ownJobs(name string) string { return label.Selector(name) + ",!" + label.JobSetName }

// one is the only object of a mirror, or as it was last if it is not there any more.
// Another one of the same name, made after it was deleted, is not meant.
func one[T any](m *kube.Mirror[T], first *T) (object *T, ready, there bool) {
	items, gone, ready := m.Snapshot()
	for i, o := range append(items, gone...) {
		if kube.UID(&o) == kube.UID(first) {
			return &o, ready, i < len(items)
		}
	}
	return first, ready, false
}

// all are the objects of a mirror and, as they were last, those that are not there
// any more: also those of the first look that were deleted before the mirror's.
func all(m *kube.Mirror[batchv1.Job], first []batchv1.Job) (jobs []batchv1.Job, ready, there bool) {
	items, gone, ready := m.Snapshot()
	jobs = append(items[:len(items):len(items)], gone...)
	for i := range first {
		if !slices.ContainsFunc(jobs, func(j batchv1.Job) bool { return j.UID == first[i].UID }) {
			jobs = append(jobs, first[i])
		}
	}
	return jobs, ready, len(items) >= len(first)
}

// look is what is seen now; nil before all of it was read. An app that is deleted
// when it has ended, as ttl_seconds has it, is still seen. Errors: backends.ErrNotFound.
func (f *follower) look() (*observe.Seen, error) {
	seen := f.keep
	ready, there := f.read(&seen)
	if !ready {
		return nil, nil //nolint:nilnil // there is nothing yet, which is no error
	}
	if !there && !seen.State().Terminal() {
		return nil, backend.Errorf(backend.ErrNotFound, "app %s is not on %s any more: somebody deleted it before it had ended", manifest.Handle(f.t.id), f.t.Client)
	}
	if seen.Pods, seen.Gone, ready = f.pods.Snapshot(); !ready {
		return nil, nil //nolint:nilnil // as above
	}
	return &seen, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
