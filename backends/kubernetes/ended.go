package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// FindEnd implements backend.EndFinder: with ttl_seconds a cluster deletes an app after its end.
// The events of its objects outlive them for an hour; otherwise the last known pods decide.
func (b *Backend) FindEnd(
	ctx context.Context, id string, app *spec.App, last *spec.Status,
) (known bool) {
	if last.State == spec.Unknown {
		return true // as before: nothing more will be known
	}
	t, err := b.target(ctx, id)
	if err != nil {
		return false
	}
	end := t.eventedEnd(ctx, app, last.SubmittedAt)
	switch {
	case end.State != spec.Unknown:
	case enoughSucceeded(app, last):
		end.State = spec.Succeeded
	case !t.expires() && (last.State == spec.Submitted || last.State == spec.Unsubmitted):
		return false
	}
	before := last.State
	last.State = end.State
	switch end.State {
	case spec.Succeeded:
		last.ExitCode, last.Msg = new(0), ""
	case spec.Failed:
		last.ExitCode, last.Msg = new(1), cmp.Or(end.Msg, end.Reason)+"; its pods are deleted, so the exit code is unknown"
		if f := last.FirstFailure; f != nil && ptr.Deref(f.ExitCode, 0) != 0 {
			last.ExitCode, last.Msg = f.ExitCode, fmt.Sprintf("%s with exit code %d",
				outcome.FailedFirst(f), *f.ExitCode)
		} else if end.Reason == batchv1.JobReasonDeadlineExceeded {
			last.ExitCode, last.Msg = new(spec.ExitDeadline), deadlineText(app)
		}
	default:
		if _, removed := t.namespaceRemoved(ctx); removed {
			last.ExitCode, last.Msg = nil, fmt.Sprintf("the app was removed with its namespace %s; it was %s when last seen", t.namespace, before)
			completeReplicas(app, last, end.State)
			return true
		}
		last.ExitCode, last.Msg = nil, fmt.Sprintf("the cluster no longer has the app, which was %s when last seen: its result is not known", before)
		if t.expires() {
			last.Msg += " (ttl_seconds deletes an app after its end; to keep its result, use -cfg archive=true or torchx wait)"
		}
		completeReplicas(app, last, end.State)
		return true
	}
	if last.FinishedAt == nil {
		last.FinishedAt = finishedAt(last, end.At)
	}
	completeReplicas(app, last, end.State)
	return true
}

// expires reports whether the cluster deletes the app after its end.
func (t *target) expires() bool {
	_, expires := t.cfg["ttl_seconds"].(int)
	if n, ok := t.cfg["ttl_seconds"].(float64); ok { // from the history
		expires = n >= 0
	}
	return expires
}

// deadlineText describes the end of an app at a time limit.
func deadlineText(app *spec.App) string {
	limits, err := app.Limits()
	if err != nil || limits.Timeout == 0 {
		return "deadline exceeded"
	}
	return spec.DeadlineText(limits.Timeout)
}

// finishedAt returns at, or if it is zero, when the last known replica ended; nil if that is
// unknown, too.
func finishedAt(s *spec.Status, at time.Time) *time.Time {
	if !at.IsZero() {
		return &at
	}
	var last *time.Time
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			if f := s.Roles[i].Replicas[j].FinishedAt; f != nil && (last == nil || f.After(*last)) {
				last = f
			}
		}
	}
	return last
}

// completeReplicas gives the replicas of an app that has ended a state.
func completeReplicas(app *spec.App, s *spec.Status, state spec.State) {
	for i := range s.Roles {
		role := app.Role(s.Roles[i].Role)
		all := role != nil && ptr.Deref(role.MinReplicas, role.NumReplicas) >= role.NumReplicas
		for j := range s.Roles[i].Replicas {
			r := &s.Roles[i].Replicas[j]
			switch {
			case r.State.Terminal():
			case state == spec.Succeeded && all:
				r.State, r.ExitCode, r.FinishedAt = spec.Succeeded, new(0), s.FinishedAt
			default:
				r.State = spec.Unknown
			}
		}
	}
}

// enoughSucceeded reports whether the required replicas of all roles were seen to succeed.
func enoughSucceeded(app *spec.App, s *spec.Status) bool {
	succeeded := map[string]int{}
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			if s.Roles[i].Replicas[j].State == spec.Succeeded {
				succeeded[s.Roles[i].Role]++
			}
		}
	}
	return len(app.Roles) > 0 && !slices.ContainsFunc(app.Roles, func(r spec.Role) bool {
		return succeeded[r.Name] < min(r.NumReplicas, ptr.Deref(r.MinReplicas, r.NumReplicas))
	})
}

// eventedEnd returns how the Jobs of an app ended by their events.
func (t *target) eventedEnd(ctx context.Context, app *spec.App, submitted *time.Time) observe.End {
	events, err := t.listEvents(ctx)
	if err != nil {
		return observe.End{State: spec.Unknown}
	}
	events = slices.DeleteFunc(events, func(e corev1.Event) bool {
		return submitted != nil && observe.EventTime(&e).Before(submitted.Truncate(time.Second))
	})
	failFast, given := t.cfg["fail_fast"].(bool)
	return observe.EndByEvents(events, t.name, app, failFast || !given)
}

// namespaceRemoved returns since when the app's namespace is being removed, or a time long ago if it
// no longer exists. If the user may not read it, it is taken for present.
func (t *target) namespaceRemoved(ctx context.Context) (since time.Time, removed bool) {
	var found kube.Object
	err := t.Get(ctx, kube.Namespaces, "", t.namespace, &found)
	if err == nil && found.DeletionTimestamp != nil {
		return found.DeletionTimestamp.Time, true
	}
	return since, errors.Is(err, backend.ErrNotFound)
}

// addNamespace adds to a failed app whose pods were deleted since when its namespace is being
// removed: controllers take that for a failure.
func addNamespace(seen *observe.Observation, removed func() (since time.Time, removed bool)) {
	if !seen.LostPods() {
		return
	}
	if since, isRemoved := removed(); isRemoved {
		seen.NamespaceRemoved = &since
	}
}

// addExpired adds how the Jobs of an app ended that its ttl_seconds has deleted while others run.
func (t *target) addExpired(ctx context.Context, seen *observe.Observation) {
	if len(seen.MissingRoles()) == 0 {
		return
	}
	if events, err := t.listEvents(ctx); err == nil {
		t.setExpired(seen, events)
	}
}

// setExpired is addExpired by the events of the app's namespace.
func (t *target) setExpired(seen *observe.Observation, events []corev1.Event) {
	missing := seen.MissingRoles()
	if len(missing) == 0 {
		return
	}
	ends := observe.JobEnds(events, t.name)
	seen.Expired = map[int]observe.End{}
	for _, role := range missing {
		if end, ok := ends[manifest.JobName(t.name, seen.App, role)]; ok {
			seen.Expired[role] = end
		}
	}
}

// listEvents returns the events of the app's namespace.
func (t *target) listEvents(ctx context.Context) ([]corev1.Event, error) {
	return kube.List[corev1.Event](ctx, t.Client, kube.Events, t.namespace,
		kube.ListOptions{Cached: true})
}
