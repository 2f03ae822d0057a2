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

// Status reports an app as its backend sees it, or as it was last seen when the
// backend no longer knows it or, for one that has ended, cannot be asked, and writes
// what it saw into the history. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (r *Runner) Status(ctx context.Context, ref history.AppKey) (*spec.Status, error) {
	return r.look(ctx, ref, r.row(ctx, ref))
}

// look is Status with the app's row, nil if it has none.
func (r *Runner) look(ctx context.Context, ref history.AppKey, row *history.App) (*spec.Status, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	s, err := b.Describe(ctx, ref.ID)
	if errors.Is(err, backend.ErrNotFound) {
		if row == nil {
			return nil, r.unknownApp(ctx, ref)
		}
		return r.remembered(ctx, b, ref, row)
	}
	if err != nil {
		if ended := r.ended(ctx, ref, err); ended != nil {
			return ended, nil
		}
		return nil, fmt.Errorf("look at app %s: %w", ref.Handle(), err)
	}
	return r.seen(ctx, ref, row, s), nil
}

// ended is what the history says of an app that has ended, which stays true when
// its backend cannot be asked, as err says; nil if there is no such thing.
func (r *Runner) ended(ctx context.Context, ref history.AppKey, err error) *spec.Status {
	if r.History == nil || !errors.Is(err, backend.ErrUnavailable) {
		return nil
	}
	s, err := r.History.Status(ctx, ref.Backend, ref.ID)
	if err != nil || !s.State.Terminal() {
		return nil
	}
	s.Handle = ref.Handle()
	return s
}

// seen completes what a backend said and records it.
func (r *Runner) seen(ctx context.Context, ref history.AppKey, row *history.App, s *spec.Status) *spec.Status {
	s.Handle = ref.Handle()
	if row == nil {
		return s
	}
	if s.SubmittedAt == nil {
		s.SubmittedAt = &row.SubmittedAt
	}
	if known := r.knownEnd(ctx, ref, s); known != nil {
		return known
	}
	if err := r.History.SetStatus(ctx, ref.Backend, ref.ID, s); err != nil && !errors.Is(err, history.ErrNotFound) {
		r.warn("%v", err)
	}
	return s
}

// knownEnd is the end of an app as the history has it, if that has more of it than its
// backend still has: clusters delete pods, and with them how they ended. Else it is nil.
func (r *Runner) knownEnd(ctx context.Context, ref history.AppKey, s *spec.Status) *spec.Status {
	if !s.State.Terminal() {
		return nil
	}
	ends, all := ownEnds(s)
	if ends == all {
		return nil
	}
	known, err := r.History.Status(ctx, ref.Backend, ref.ID)
	if err != nil || known.State != s.State {
		return nil
	}
	if more, _ := ownEnds(known); more <= ends {
		return nil
	}
	known.Handle = s.Handle
	return known
}

// ownEnds is of how many replicas it is known that they ran and how they ended, and how
// many there are.
func ownEnds(s *spec.Status) (n, all int) {
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

// remembered is the status of an app that its backend does not know: what the
// history says if the app has ended or is just being submitted, else FAILED.
func (r *Runner) remembered(ctx context.Context, b backend.Backend, ref history.AppKey, row *history.App) (*spec.Status, error) {
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
	// It may have come to life, and its submitter gone, since the backend was asked.
	if again, err := b.Describe(ctx, ref.ID); err == nil {
		return r.seen(ctx, ref, row, again), nil
	}
	return r.seen(ctx, ref, row, r.vanished(s, submitting)), nil
}

// vanished ends an app of which nobody knows how it ended.
func (r *Runner) vanished(s *spec.Status, submitting bool) *spec.Status {
	s.Msg = fmt.Sprintf("its backend no longer knows the app, which was %s when last seen: how it ended is not known", s.State)
	if submitting {
		s.Msg = "torchx ended before the app was started"
	}
	code, now := exitNotStarted, r.now()
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

// Description is an app as it was submitted; its JSON form is `describe --json`.
type Description struct {
	Handle    string          `json:"handle"`
	App       json.RawMessage `json:"app"`
	Cfg       json.RawMessage `json:"cfg"`       // null when not known
	Component *string         `json:"component"` // nil when not known
	Args      []string        `json:"args"`
	// Partial: the app is not in the history, App holds what its backend tells.
	Partial bool `json:"partial"`
}

// Describe returns what was submitted. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (r *Runner) Describe(ctx context.Context, ref history.AppKey) (*Description, error) {
	row := r.row(ctx, ref)
	if row == nil || row.App == nil {
		if d, err := r.submitted(ctx, ref); d != nil || err != nil {
			return d, err
		}
		return r.partial(ctx, ref)
	}
	d := &Description{Handle: ref.Handle(), App: row.App, Cfg: row.Cfg, Args: row.Args}
	if row.Component != "" {
		d.Component = &row.Component
	}
	return d, nil
}

// submitted is what a backend keeps of what was submitted; nil if it keeps nothing.
func (r *Runner) submitted(ctx context.Context, ref history.AppKey) (*Description, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	recorder, ok := b.(backend.SubmissionReader)
	if !ok {
		return nil, nil
	}
	s, err := recorder.Submission(ctx, ref.ID)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, r.unknownApp(ctx, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("describe app %s: %w", ref.Handle(), err)
	}
	d := &Description{Handle: ref.Handle(), Args: s.Args, Partial: s.Partial}
	if s.Component != "" {
		d.Component = &s.Component
	}
	if d.App, err = marshal(s.App); err == nil && s.Cfg != nil {
		d.Cfg, err = marshal(s.Cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("describe app %s: %w", ref.Handle(), err)
	}
	return d, nil
}

// partial makes an app of the roles and replicas that the backend reports.
func (r *Runner) partial(ctx context.Context, ref history.AppKey) (*Description, error) {
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
	return &Description{Handle: ref.Handle(), App: raw, Partial: true}, nil
}
