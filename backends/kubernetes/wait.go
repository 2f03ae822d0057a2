package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// settleTime is how long changes are collected before they are processed: the pods of a
// gang change at the same time. It is settleFactor times what processing took, up to longestSettle:
// each of thousands of pods changes several times, and each change takes a look at all of them.
const (
	settleTime    = 50 * time.Millisecond
	settleFactor  = 40
	longestSettle = 3 * time.Second
)

// settleAfter returns how long to collect changes after processing the last ones took so long.
func settleAfter(took time.Duration) time.Duration {
	return min(max(settleTime, settleFactor*took), longestSettle)
}

// Wait blocks until the app is terminal, and archives its logs meanwhile. It tolerates a
// cluster that is unreachable for a while. Errors: ErrNotFound (also if the app is deleted
// meanwhile), ErrUnavailable, those of ctx.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	logs := &waitArchiver{b: b, t: t, stoppedLogs: b.stopping.take(id)}
	var last *spec.Status
	late := &overdue{}
	if b.canceledBy(id).Abandon {
		defer t.keepKilling(ctx, late)()
	}
	again := &aborter{target: t}
	defer again.start(ctx)()
	err = t.follow(ctx, func(seen *observe.Observation) bool {
		late.note(seen.Pods, time.Now())
		again.note(seen)
		s := t.snapshot(seen)
		if !seen.PodsHidden {
			logs.update(s)
		}
		last = s.Status
		return last.State.Terminal()
	})
	logs.end(ctx, err)
	if err != nil {
		return nil, unreadable(err)
	}
	return last, nil
}

// follow calls see with the app as it is now and after each change, until see reports
// that it is done. It remembers pods that are deleted meanwhile. Errors: those of Wait.
func (t *target) follow(
	ctx context.Context, see func(seen *observe.Observation) (done bool),
) error {
	first, err := t.observe(ctx)
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
	if !first.PodsHidden {
		go func() { failed <- f.pods.Run(ctx) }()
	}
	for {
		main, pods := f.main.Changed(), f.pods.Changed()
		began := time.Now()
		seen, err := f.current(ctx)
		if err != nil {
			return err
		}
		if seen != nil && see(seen) {
			return nil
		}
		took := time.Since(began)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-main:
		case <-pods:
		}
		if err := kube.Sleep(ctx, settleAfter(took)); err != nil {
			return err
		}
	}
}

// mainMirror is a mirror of the main objects of an app of any form.
type mainMirror interface {
	Run(ctx context.Context) error
	Changed() <-chan struct{}
}

// follower keeps an app's observation up to date by mirrors.
type follower struct {
	t    *target
	main mainMirror
	pods *kube.Mirror[corev1.Pod]
	// read sets the main objects. If they are gone, it sets the last known ones and returns
	// exists false.
	read func(seen *observe.Observation) (ready, exists bool)
	app  *spec.App // as submitted
	// expired holds the ends of Jobs that were deleted before the first observation.
	expired map[int]observe.End
	// podsHidden means that the user may not list pods, so their mirror does not run.
	podsHidden bool
	// admission identifies what was observed when Kueue's workloads were last read.
	admission string
	workloads []kube.Workload
}

func newFollower(t *target, first *observe.Observation) *follower {
	f := &follower{t: t, app: first.App, expired: first.Expired, podsHidden: first.PodsHidden}
	a := &app{Observation: *first}
	f.pods = kube.NewMirror[corev1.Pod](t.Client, kube.Pods, t.namespace,
		kube.ListOptions{LabelSelector: a.selector(t.name)})
	if t.podsVersion != "" {
		f.pods.Seed(first.Pods, t.podsVersion)
	}
	switch {
	case first.Volcano != nil:
		followOne(f, kube.VolcanoJobs, first.Volcano, func(seen *observe.Observation, j *kube.VolcanoJob) { seen.Volcano = j })
	case first.JobSet != nil:
		followOne(f, kube.JobSets, first.JobSet, func(seen *observe.Observation, s *kube.JobSet) { seen.JobSet = s })
	default:
		m := kube.NewMirror[batchv1.Job](t.Client, kube.Jobs, t.namespace,
			kube.ListOptions{LabelSelector: ownJobs(t.name)})
		jobs := first.Jobs // not first, which has all pods
		f.main, f.read = m, func(seen *observe.Observation) (ready, exists bool) {
			seen.Jobs, ready, exists = allJobs(m, jobs)
			return ready, exists
		}
	}
	return f
}

// followOne mirrors the only main object of an app. An object of the same name that was
// created after the first one was deleted does not count.
func followOne[T any](f *follower, r kube.Resource, first *T, set func(*observe.Observation, *T)) {
	m := kube.NewMirror[T](f.t.Client, r, f.t.namespace,
		kube.ListOptions{FieldSelector: "metadata.name=" + f.t.name})
	f.main, f.read = m, func(seen *observe.Observation) (ready, exists bool) {
		items, gone, ready := m.Snapshot()
		set(seen, first)
		for i, o := range append(items, gone...) {
			if kube.UID(&o) == kube.UID(first) {
				set(seen, &o)
				return ready, i < len(items)
			}
		}
		return ready, false
	}
}

// allJobs returns the Jobs of a mirror and the last known state of those that are gone, including
// those that were deleted before the mirror's first list. The app exists while one of its Jobs
// does: ttl_seconds deletes each after its own end. Others that did not end are missing.
func allJobs(
	m *kube.Mirror[batchv1.Job], first []batchv1.Job,
) (jobs []batchv1.Job, ready, exist bool) {
	items, gone, ready := m.Snapshot()
	for i := range first {
		if !slices.ContainsFunc(slices.Concat(items, gone), func(j batchv1.Job) bool { return j.UID == first[i].UID }) {
			gone = append(gone, first[i])
		}
	}
	if len(items) > 0 {
		gone = slices.DeleteFunc(gone, func(j batchv1.Job) bool { return j.Spec.TTLSecondsAfterFinished == nil && !observe.JobEnded(&j) })
	}
	return slices.Concat(items, gone), ready, len(items) > 0
}

// current returns the observation, nil before the mirrors are ready. An app that is
// deleted after it has ended, as by ttl_seconds, still has one. Errors: ErrNotFound.
func (f *follower) current(ctx context.Context) (*observe.Observation, error) {
	seen := &observe.Observation{App: f.app, Expired: f.expired, PodsHidden: f.podsHidden}
	ready, exists := f.read(seen)
	if !ready {
		return nil, nil //nolint:nilnil // not ready is not an error
	}
	if seen.Pods, seen.Gone, ready = f.pods.Snapshot(); !ready && !f.podsHidden {
		return nil, nil //nolint:nilnil // as above
	}
	addNamespace(seen, func() (time.Time, bool) { return f.t.namespaceRemoved(ctx) })
	if !exists && !seen.State().Terminal() {
		return nil, backend.Errorf(backend.ErrNotFound,
			"app %s was deleted from %s before it ended", manifest.Handle(f.t.id), f.t.Client)
	}
	f.addWorkloads(ctx, seen)
	return seen, nil
}

// addWorkloads is target.addWorkloads. Kueue's evictions number the attempts, so they are read
// again when the app is suspended or resumed, and when it has other pods.
func (f *follower) addWorkloads(ctx context.Context, seen *observe.Observation) {
	if !seen.Queued() {
		return
	}
	key := []string{fmt.Sprint(seen.Suspended())}
	for i := range seen.Pods {
		key = append(key, string(seen.Pods[i].UID))
	}
	if now := strings.Join(key, " "); now != f.admission && !f.t.addWorkloads(ctx, seen) {
		f.admission, f.workloads = now, seen.Workloads
	}
	seen.Workloads = f.workloads
}
