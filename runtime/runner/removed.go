package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// unknownApp returns the error for an app that neither its backend nor the history has. If
// the app was removed, the error says when, and where its logs are.
func (r *Runner) unknownApp(ctx context.Context, ref history.AppKey) error {
	t, kept, ok := r.tombstone(ctx, ref)
	if !ok {
		return notFound("app %s does not exist or was deleted: see `torchx list`", ref.Handle())
	}
	return notFound("%s", removalText(&t, kept))
}

// removalText says when and how an app was removed, and what happened to its logs.
func removalText(t *history.Tombstone, kept *backend.RetainedLogs) string {
	ended := ""
	if t.FinishedAt != nil {
		ended = " at " + timeText(*t.FinishedAt)
	}
	logs, where := " with its logs", ""
	if kept != nil {
		logs, where = "", keptText(kept)
	}
	return fmt.Sprintf("app %s, which ended as %s%s, was removed%s by `torchx %s` at %s%s",
		t.Handle(), t.State, ended, logs, t.Command, timeText(t.RemovedAt), where)
}

// keptText says where the logs of a removed app are.
func keptText(kept *backend.RetainedLogs) string { return "; its logs were kept in " + kept.Dir }

// timeText formats a time for messages about removed apps.
func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// tombstone returns the tombstone of a removed app, and its kept logs if any.
func (r *Runner) tombstone(
	ctx context.Context, ref history.AppKey,
) (history.Tombstone, *backend.RetainedLogs, bool) {
	if r.History == nil {
		return history.Tombstone{}, nil, false
	}
	t, err := r.History.Tombstone(ctx, ref.Backend, ref.ID)
	if err != nil {
		if !errors.Is(err, history.ErrNotFound) {
			r.warn("%v", err)
		}
		return t, nil, false
	}
	if t.Kept == nil {
		return t, nil, true
	}
	kept := &backend.RetainedLogs{}
	if err := json.Unmarshal(t.Kept, kept); err != nil {
		r.warn("cannot read where the logs of app %s are: %v", ref.Handle(), err)
		return t, nil, true
	}
	return t, kept, true
}

// removed returns the removed apps with an ID prefix, last removed first.
func (r *Runner) removed(ctx context.Context, prefix string) []history.AppKey {
	if r.History == nil {
		return nil
	}
	all, err := r.History.FindTombstones(ctx, prefix)
	if err != nil {
		r.warn("%v", err)
	}
	var found []history.AppKey
	for _, t := range all {
		found = append(found, t.AppKey)
	}
	return found
}

// keptLogs opens the kept logs of a removed app. If there are none, it returns cause.
func (r *Runner) keptLogs(ctx context.Context, b backend.Backend, ref history.AppKey, role string, ids []int,
	o ReplicaOptions, cause error,
) ([]LogInput, error) {
	t, kept, ok := r.tombstone(ctx, ref)
	if !ok {
		kept = r.foreignLogs(ctx, b, ref)
	}
	keeper := b.Capabilities().Logs
	if keeper == nil || kept == nil {
		return nil, cause
	}
	targets, err := selectReplicas(ref, keptRoles(kept), role, ids)
	if err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		return nil, cause
	}
	if ok {
		r.warn("%s", removalText(&t, kept))
	} else {
		r.warn("app %s no longer exists%s", ref.Handle(), keptText(kept))
	}
	open := func(t spec.Replica) (backend.LogReader, error) {
		return keeper.OpenRetainedLogs(ctx, kept, t, o(nil, t))
	}
	return r.open(open, ref, targets, len(ids) > 0)
}

// foreignLogs finds logs on this machine of an app that another home submitted.
func (r *Runner) foreignLogs(
	ctx context.Context, b backend.Backend, ref history.AppKey,
) *backend.RetainedLogs {
	keeper := b.Capabilities().Logs
	if keeper == nil || r.row(ctx, ref) != nil {
		return nil
	}
	return keeper.FindLogs(ref.ID, nil, "", nil)
}

// foundLogs opens logs outside the home of an app that disappeared without torchx. If there
// are none, it returns cause.
func (r *Runner) foundLogs(ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status, targets []spec.Replica, named bool,
	o ReplicaOptions, cause error,
) ([]LogInput, error) {
	kept := r.findLogs(ctx, b, ref, s)
	if kept == nil {
		return nil, cause
	}
	r.warn("app %s is gone: its backend no longer has it, and no torchx command removed it; its logs are in %s", ref.Handle(), kept.Dir)
	open := func(t spec.Replica) (backend.LogReader, error) {
		return b.Capabilities().Logs.OpenRetainedLogs(ctx, kept, t, o(s, t))
	}
	return r.open(open, ref, targets, named)
}

// findLogs finds logs outside the home of an app that its backend no longer has.
func (r *Runner) findLogs(
	ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status,
) *backend.RetainedLogs {
	keeper, row := b.Capabilities().Logs, r.row(ctx, ref)
	if keeper == nil || row == nil {
		return nil
	}
	var cfg backend.Config
	if err := json.Unmarshal(row.Cfg, &cfg); err != nil {
		return nil // an app without options
	}
	return keeper.FindLogs(ref.ID, cfg, row.Cwd, s.Roles)
}

func keptRoles(k *backend.RetainedLogs) []spec.RoleStatus {
	var roles []spec.RoleStatus
	for _, kept := range k.Roles {
		role := spec.RoleStatus{Role: kept.Role}
		for id := range kept.Attempts {
			role.Replicas = append(role.Replicas, spec.ReplicaStatus{Role: kept.Role, ID: id})
		}
		roles = append(roles, role)
	}
	return roles
}

// missingError returns an error if the app has ended, or its end is unknown, and its backend lost
// it without a removal by torchx, else nil. It dates the loss by the first time it was noticed.
func (r *Runner) missingError(
	ctx context.Context, b backend.Backend, ref history.AppKey, s Seen,
) error {
	if !s.missing || !s.IsFinal() || !isGone(ctx, b, ref) {
		return nil
	}
	if s.State == spec.Unknown {
		return notFound("the logs of app %s are gone: %s", ref.Handle(), s.Msg)
	}
	if s.StartedAt == nil && s.Msg != "" {
		return notFound("app %s has no log because it was not started: %s", ref.Handle(), s.Msg)
	}
	ended := ""
	if s.FinishedAt != nil {
		ended = " at " + timeText(*s.FinishedAt)
	}
	return notFound("the logs of app %s, which ended as %s%s, have been gone since %s or earlier: its backend no longer has the app, and no torchx command removed it",
		ref.Handle(), s.State, ended, timeText(r.missedSince(ctx, ref, s.State)))
}

// missedSince returns when the loss of an app, which ended in a state, was first noticed, and
// records the first time.
func (r *Runner) missedSince(ctx context.Context, ref history.AppKey, ended spec.State) time.Time {
	now := r.now()
	if r.History == nil {
		return now
	}
	events, err := r.History.Events(ctx, ref.Backend, ref.ID)
	for i := range events {
		if events[i].Kind == history.EventMissing {
			return events[i].Time
		}
	}
	if err == nil {
		err = r.History.AddEvents(ctx, ref.Backend, ref.ID, []history.Event{{
			Time: now, Kind: history.EventMissing, State: ended, Msg: "its backend no longer has the app",
		}})
	}
	if err != nil {
		r.warn("%s", strings.TrimSpace(err.Error()))
	}
	return now
}
