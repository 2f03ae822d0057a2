package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

var _ backend.EndFinder = (*Backend)(nil)

// FindEnd implements backend.EndFinder: with ttl_seconds a cluster deletes an app after its end.
// The events of its objects outlive them for an hour; otherwise the last known pods decide.
func (b *Backend) FindEnd(ctx context.Context, id string, app *spec.App, last *spec.Status) (known bool) {
	t, err := b.target(ctx, id)
	if err != nil {
		return false
	}
	_, expires := t.cfg["ttl_seconds"].(int)
	if n, ok := t.cfg["ttl_seconds"].(float64); ok { // from the history
		expires = n >= 0
	}
	state, at := t.eventedEnd(ctx, len(app.Roles), last.SubmittedAt)
	switch {
	case state != spec.Unknown:
	case allEnded(app, last):
		state = spec.Succeeded
	case !expires && (last.State == spec.Submitted || last.State == spec.Unsubmitted):
		return false
	}
	before := last.State
	last.State = state
	switch state {
	case spec.Succeeded:
		last.ExitCode, last.Msg = new(0), ""
	case spec.Failed:
		last.ExitCode, last.Msg = new(1), "the cluster has deleted the app, so how it failed is not known"
	default:
		last.ExitCode, last.Msg = nil, fmt.Sprintf("the cluster no longer has the app, which was %s when last seen: its result is not known", before)
		if expires {
			last.Msg += " (ttl_seconds deletes an app after its end; to keep its result, use -cfg archive=true or torchx wait)"
		}
		return true
	}
	if last.FinishedAt == nil {
		last.FinishedAt = &at
	}
	completeReplicas(last, state)
	return true
}

// completeReplicas gives the replicas of an app that has ended a state.
func completeReplicas(s *spec.Status, state spec.State) {
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			r := &s.Roles[i].Replicas[j]
			switch {
			case r.State.Terminal():
			case state == spec.Succeeded:
				r.State, r.ExitCode, r.FinishedAt = spec.Succeeded, new(0), s.FinishedAt
			default:
				r.State = spec.Unknown
			}
		}
	}
}

// allEnded reports whether all replicas of an app were seen to succeed.
func allEnded(app *spec.App, s *spec.Status) bool {
	succeeded, all := 0, 0
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			if s.Roles[i].Replicas[j].State == spec.Succeeded {
				succeeded++
			}
		}
	}
	for i := range app.Roles {
		all += app.Roles[i].NumReplicas
	}
	return all > 0 && succeeded == all
}

// eventedEnd returns how the Jobs of an app ended by their events, Unknown if that is not known.
func (t *target) eventedEnd(ctx context.Context, roles int, submitted *time.Time) (state spec.State, at time.Time) {
	events, err := kube.List[corev1.Event](ctx, t.Client, kube.Events, t.namespace, kube.ListOptions{Cached: true})
	if err != nil {
		return spec.Unknown, at
	}
	events = slices.DeleteFunc(events, func(e corev1.Event) bool {
		return submitted != nil && observe.EventTime(&e).Before(submitted.Truncate(time.Second))
	})
	return observe.EndByEvents(events, t.name, roles)
}
