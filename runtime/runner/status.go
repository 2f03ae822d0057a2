package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Status returns an app's status from its backend and records it in the history. If the
// backend no longer has the app, or is unreachable and the app has ended, it returns the
// recorded status. Errors: backend.ErrNotFound, backend.ErrUnavailable.
func (r *Runner) Status(ctx context.Context, ref history.AppKey) (*spec.Status, error) {
	seen, err := r.See(ctx, ref)
	return seen.Status, err
}

// Seen is an app as its backend has just reported it.
type Seen struct {
	*spec.Status
	missing  bool // the backend did not have the app, and Status is the recorded one
	imported bool // Status is that of its export
}

// IsFinal reports whether nothing more will be known of the app: it has ended, it was imported, or
// its backend no longer has it and its end is unknown.
func (s Seen) IsFinal() bool {
	return s.State.Terminal() || s.imported || s.missing && s.State == spec.Unknown
}

// See is Status for callers that open logs next: the backend need not be asked again.
func (r *Runner) See(ctx context.Context, ref history.AppKey) (Seen, error) {
	row := r.row(ctx, ref)
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return Seen{}, err
	}
	s, err := b.Describe(ctx, ref.ID)
	switch {
	case err == nil:
		seen := Seen{Status: r.recordStatus(ctx, ref, row, s)}
		seen.imported = b.Capabilities().Imports != nil
		return seen, nil
	case errors.Is(err, backend.ErrNotFound) && row == nil:
		return Seen{}, r.unknownApp(ctx, ref)
	case errors.Is(err, backend.ErrNotFound):
		s, err := r.lastKnownStatus(ctx, b, ref, row)
		return Seen{Status: s, missing: true}, err
	}
	if ended := r.recordedResult(ctx, ref, err); ended != nil {
		return Seen{Status: ended}, nil
	}
	if row != nil && isAwaiting(&row.Outcome) && r.submitterAlive(row.Submitter) {
		if s := r.LastStatus(ctx, ref); s != nil { // the backend does not have the app yet
			return Seen{Status: s}, nil
		}
	}
	return Seen{}, fmt.Errorf("get status of app %s: %w", ref.Handle(), err)
}

// LastStatus returns the recorded status of an app; nil if none is recorded.
func (r *Runner) LastStatus(ctx context.Context, ref history.AppKey) *spec.Status {
	if r.History == nil {
		return nil
	}
	s, err := r.History.Status(ctx, ref.Backend, ref.ID)
	if err != nil {
		return nil
	}
	s.Handle = ref.Handle()
	return s
}

// recordedResult returns the recorded result of an app if cause says that its backend is
// unreachable; nil if no result is recorded.
func (r *Runner) recordedResult(ctx context.Context, ref history.AppKey, cause error) *spec.Status {
	if !errors.Is(cause, backend.ErrUnavailable) {
		return nil
	}
	s := r.LastStatus(ctx, ref)
	if s == nil || !s.State.Terminal() {
		return nil
	}
	return s
}

// recordStatus completes a status from a backend, records it and returns it.
func (r *Runner) recordStatus(
	ctx context.Context, ref history.AppKey, row *history.App, s *spec.Status,
) *spec.Status {
	s.Handle = ref.Handle()
	if row == nil {
		return s
	}
	if s.SubmittedAt == nil {
		s.SubmittedAt = row.SubmittedAt
	}
	if row.StartedAt != nil && (s.StartedAt == nil || row.StartedAt.Before(*s.StartedAt)) {
		s.StartedAt = row.StartedAt // of an attempt that the backend no longer has
	}
	if known := r.fullerResult(ctx, ref, s); known != nil {
		return known
	}
	if err := r.History.SetStatus(ctx, ref.Backend, ref.ID, s); err != nil &&
		!errors.Is(err, history.ErrNotFound) && ctx.Err() == nil {
		r.warn("%v", err)
	}
	return s
}

// fullerResult returns the recorded result of an app if it has more replica results than s,
// else nil: clusters delete pods, and their results with them, which may make s look like another
// result.
func (r *Runner) fullerResult(
	ctx context.Context, ref history.AppKey, s *spec.Status,
) *spec.Status {
	if !s.State.Terminal() {
		return nil
	}
	ends, all := countEnds(s)
	if ends == all {
		return nil
	}
	known, err := r.History.Status(ctx, ref.Backend, ref.ID)
	if err != nil || !known.State.Terminal() {
		return nil
	}
	if more, _ := countEnds(known); more <= ends {
		return nil
	}
	known.Handle = s.Handle
	return known
}

// countEnds returns how many replicas are known to have run and ended, and how many exist.
func countEnds(s *spec.Status) (n, all int) {
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			all++
			if one := &s.Roles[i].Replicas[j]; one.State.Terminal() && one.StartedAt != nil {
				n++
			}
		}
	}
	return n, all
}

// lastKnownStatus returns the status of an app that its backend does not have: the recorded one
// if the app has ended or is being submitted, else what the backend still knows of its end, or
// FAILED.
func (r *Runner) lastKnownStatus(
	ctx context.Context, b backend.Backend, ref history.AppKey, row *history.App,
) (*spec.Status, error) {
	s, err := r.History.Status(ctx, ref.Backend, ref.ID)
	if err != nil {
		if errors.Is(err, history.ErrNotFound) {
			return nil, r.unknownApp(ctx, ref)
		}
		return nil, err
	}
	s.Handle = ref.Handle()
	submitting := s.State == spec.Submitted || s.State == spec.Unsubmitted
	if s.State.Terminal() || submitting && r.submitterAlive(row.Submitter) {
		return s, nil
	}
	if row.State == spec.Submitted || row.State == spec.Unsubmitted {
		// The app may have started, and its submitter ended, since the backend was asked.
		if again, err := b.Describe(ctx, ref.ID); err == nil {
			return r.recordStatus(ctx, ref, row, again), nil
		}
	}
	if f := b.Capabilities().Ends; f != nil {
		app := &spec.App{}
		if json.Unmarshal(row.Spec, app) != nil {
			app = &spec.App{} // the number of roles is unknown
		}
		if f.FindEnd(ctx, ref.ID, app, s) {
			return r.recordStatus(ctx, ref, row, s), nil
		}
	}
	return r.recordStatus(ctx, ref, row, r.vanished(s, submitting)), nil
}

// hasVanished reports whether nothing more will be known of an app: its backend no longer has it,
// and its end is unknown.
func hasVanished(ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status) bool {
	return s.State == spec.Unknown && isGone(ctx, b, ref)
}

// vanished returns the status of an app that disappeared from its backend while it ran.
func (r *Runner) vanished(s *spec.Status, submitting bool) *spec.Status {
	s.Msg = fmt.Sprintf("its backend no longer has the app, which was %s when last seen: its result is unknown", s.State)
	if submitting {
		s.Msg = "torchx ended before the app was started"
	}
	code, now := spec.ExitNotStarted, r.now()
	s.State, s.ExitCode, s.FinishedAt = spec.Failed, &code, &now
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			if replica := &s.Roles[i].Replicas[j]; !replica.State.Terminal() {
				replica.State = spec.Unknown
			}
		}
	}
	return s
}

// Describe returns an app as it was submitted. Errors: backend.ErrNotFound,
// backend.ErrUnavailable.
func (r *Runner) Describe(ctx context.Context, ref history.AppKey) (*history.View, error) {
	if row := r.row(ctx, ref); row != nil && row.Spec != nil {
		return recordedView(row), nil
	}
	if v, err := r.submission(ctx, ref); v != nil || err != nil {
		return v, err
	}
	return r.partial(ctx, ref)
}

// submission returns the submission that a backend keeps; nil if it keeps none.
func (r *Runner) submission(ctx context.Context, ref history.AppKey) (*history.View, error) {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err != nil || can.Submissions == nil {
		return nil, err
	}
	s, err := can.Submissions.Submission(ctx, ref.ID)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, r.unknownApp(ctx, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("describe app %s: %w", ref.Handle(), err)
	}
	v := &history.View{App: history.App{AppKey: ref, Labels: s.Labels}, Partial: s.Partial}
	v.Component, v.Args, v.ParentRunID, v.RerunOf = s.Component, s.Args, s.ParentRunID, s.RerunOf
	if !s.Partial {
		v.Name = s.App.Name
	}
	if v.Spec, err = marshal(s.App); err == nil && s.Cfg != nil {
		v.Cfg, err = marshal(s.Cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("describe app %s: %w", ref.Handle(), err)
	}
	return v, nil
}

// partial describes an app by the roles and replicas that the backend reports.
func (r *Runner) partial(ctx context.Context, ref history.AppKey) (*history.View, error) {
	s, err := r.Status(ctx, ref)
	if err != nil {
		return nil, err
	}
	app := spec.App{Name: ref.ID, Roles: []spec.Role{}, Metadata: map[string]any{}}
	for _, role := range s.Roles {
		known := spec.NewRole(role.Role, spec.None)
		known.NumReplicas = len(role.Replicas)
		app.Roles = append(app.Roles, known)
	}
	raw, err := marshal(app)
	if err != nil {
		return nil, fmt.Errorf("describe app %s: %w", ref.Handle(), err)
	}
	return &history.View{App: history.App{AppKey: ref, Spec: raw}, Partial: true}, nil
}
