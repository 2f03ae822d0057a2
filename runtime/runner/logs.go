package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/humanize"
	"torchx/runtime/logview"
	"torchx/runtime/spec"
)

// LogInput is the open log of one replica.
type LogInput struct {
	Role   string
	ID     int
	Reader backend.LogReader
}

// Logs opens the logs of the replicas that role and ids select; "" and none mean all.
// Without ids it waits until the app has started. For a removed app it opens the logs that
// were kept, with a warning. The caller closes the readers. Errors: backend.ErrNotFound
// (app, role, replica), those of Status.
func (r *Runner) Logs(
	ctx context.Context, ref history.AppKey, role string, ids []int, o backend.LogOptions,
) ([]LogInput, error) {
	return r.LogsOf(ctx, ref, role, ids, func(*spec.Status, spec.Replica) backend.LogOptions { return o })
}

// LastLines returns the last lines of the replica of an app that failed first, as
// logview.LastLines selects them, and none if no replica failed. Errors: those of Logs.
func (r *Runner) LastLines(
	ctx context.Context, ref history.AppKey, s *spec.Status,
) ([]string, error) {
	first := s.FirstFailure
	if first == nil {
		return nil, nil
	}
	open, err := r.Logs(ctx, ref, first.Role, []int{first.ID},
		backend.LogOptions{Tail: logview.Tail, Attempt: &first.Attempt, Untimed: true})
	if err != nil {
		return nil, err
	}
	defer CloseLogs(open)
	return logview.LastLines(ctx, open[0].Reader)
}

// ReplicaOptions returns the options with which the log of a replica is opened. The status is
// that of the app, nil if the app was removed.
type ReplicaOptions func(*spec.Status, spec.Replica) backend.LogOptions

// LogsOf is Logs with options for each replica.
func (r *Runner) LogsOf(
	ctx context.Context, ref history.AppKey, role string, ids []int, o ReplicaOptions,
) ([]LogInput, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	s, err := r.See(ctx, ref)
	if err == nil {
		if err := r.CheckReplicas(ctx, ref, s.Status, role, ids); err != nil {
			return nil, err // before waiting for the start
		}
	}
	waits := func() bool { return err == nil && len(ids) == 0 && !s.State.Started() && !s.IsFinal() }
	if waits() && r.Waiting != nil {
		r.Waiting(s.Status)
	}
	for p := newPoller(); waits(); s, err = r.See(ctx, ref) {
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
	if errors.Is(err, backend.ErrNotFound) {
		return r.keptLogs(ctx, b, ref, role, ids, o, err)
	}
	if err != nil {
		return nil, err
	}
	targets, err := r.Replicas(ctx, ref, s.Status, role, ids)
	if err != nil {
		return nil, err
	}
	return r.LogsAt(ctx, ref, s, targets, len(ids) > 0, o)
}

// LogsAt opens the logs of replicas of a started app that was just seen. Unless they were named,
// those without a log are skipped.
func (r *Runner) LogsAt(ctx context.Context, ref history.AppKey, s Seen, targets []spec.Replica,
	named bool, o ReplicaOptions,
) ([]LogInput, error) {
	if len(targets) == 0 {
		return nil, notFound("app %s has no log because no replica was started: %s", ref.Handle(),
			cmp.Or(s.Msg, s.State.String()))
	}
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	if err := r.missingError(ctx, b, ref, s); err != nil {
		return r.foundLogs(ctx, b, ref, s.Status, targets, named, o, err)
	}
	open := func(t spec.Replica) (backend.LogReader, error) {
		options := o(s.Status, t)
		options.Untimed = options.Untimed && len(targets) == 1 // several logs are merged by time
		return b.Logs(ctx, ref.ID, t, options)
	}
	return r.open(open, ref, targets, named)
}

// Replicas returns the replicas of an app with status s that role and ids select. Errors: as
// CheckReplicas.
func (r *Runner) Replicas(
	ctx context.Context, ref history.AppKey, s *spec.Status, role string, ids []int,
) ([]spec.Replica, error) {
	return selectReplicas(ref, r.replicas(ctx, ref, s), role, ids)
}

// CheckReplicas returns an error, with a similar name, if an app with status s lacks the
// role or one of the replicas; "" and none mean all. Errors: backend.ErrNotFound.
func (r *Runner) CheckReplicas(
	ctx context.Context, ref history.AppKey, s *spec.Status, role string, ids []int,
) error {
	_, err := r.Replicas(ctx, ref, s, role, ids)
	return err
}

// CloseLogs closes all readers.
func CloseLogs(inputs []LogInput) {
	for _, in := range inputs {
		_ = in.Reader.Close() // opened only for reading
	}
}

// replicas returns the replicas of an app by role, in order: as reported by its backend,
// else as recorded.
func (r *Runner) replicas(
	ctx context.Context, ref history.AppKey, s *spec.Status,
) []spec.RoleStatus {
	if len(s.Roles) > 0 {
		return s.Roles
	}
	row := r.row(ctx, ref)
	var app spec.App
	if row == nil || json.Unmarshal(row.Spec, &app) != nil || app.CheckLimits() != nil {
		return nil
	}
	var roles []spec.RoleStatus
	for _, role := range app.Roles {
		rs := spec.RoleStatus{Role: role.Name}
		for id := range role.NumReplicas {
			rs.Replicas = append(rs.Replicas, spec.ReplicaStatus{ID: id})
		}
		roles = append(roles, rs)
	}
	return roles
}

// selectReplicas returns the replicas that role and ids select. If no role is known at all, it
// does not check ids.
func selectReplicas(
	ref history.AppKey, known []spec.RoleStatus, role string, ids []int,
) ([]spec.Replica, error) {
	var names []string
	var targets []spec.Replica
	var of *spec.RoleStatus
	for i := range known {
		names = append(names, known[i].Role)
		if known[i].Role == role {
			of = &known[i]
		}
		for _, replica := range known[i].Replicas {
			if role == "" || known[i].Role == role {
				targets = append(targets, spec.Replica{Role: known[i].Role, ID: replica.ID})
			}
		}
	}
	if role != "" && of == nil && len(known) > 0 {
		return nil, notFound("no role %q in app %s: it has %s.%s", role, ref.Handle(),
			strings.Join(names, ", "), humanize.Hint(role, names))
	}
	if len(ids) == 0 {
		return targets, nil
	}
	var named []spec.Replica
	for _, id := range ids {
		replica := spec.Replica{Role: role, ID: id}
		if of != nil && !slices.Contains(targets, replica) {
			return nil, notFound("no replica %d in role %s of app %s: %s", id, role, ref.Handle(),
				replicaRange(of.Replicas))
		}
		named = append(named, replica)
	}
	return named, nil
}

// replicaRange describes the replicas of a role.
func replicaRange(replicas []spec.ReplicaStatus) string {
	if len(replicas) == 0 {
		return "it has none"
	}
	first, last := replicas[0].ID, replicas[0].ID
	for _, r := range replicas {
		first, last = min(first, r.ID), max(last, r.ID)
	}
	return fmt.Sprintf("it has %d to %d", first, last)
}

// open opens each replica's log. Unless replicas were named, it skips those without a log
// (never started, or purged) with a warning; if all lack one, that is an error.
func (r *Runner) open(open func(spec.Replica) (backend.LogReader, error), ref history.AppKey,
	targets []spec.Replica, named bool,
) ([]LogInput, error) {
	var inputs []LogInput
	var missing error
	for _, t := range targets {
		reader, err := open(t)
		switch {
		case err == nil:
			inputs = append(inputs, LogInput{t.Role, t.ID, reader})
		case !named && errors.Is(err, backend.ErrNotFound):
			missing = errors.Join(missing, fmt.Errorf("no log of %s/%d: %w", t.Role, t.ID, err))
		default:
			CloseLogs(inputs)
			return nil, fmt.Errorf("open log of %s/%d of app %s: %w", t.Role,
				t.ID, ref.Handle(), err)
		}
	}
	if missing == nil {
		return inputs, nil
	}
	lines := strings.Split(missing.Error(), "\n")
	more := ""
	if len(lines) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(lines)-1)
	}
	if len(inputs) == 0 {
		return nil, notFound("app %s: %s%s", ref.Handle(), lines[0], more)
	}
	r.warn("app %s: %s%s", ref.Handle(), lines[0], more)
	return inputs, nil
}
