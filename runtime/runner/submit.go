package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Submit records the app, then starts it, so that a crash in between leaves a trace. It
// returns after the first start of all replicas; a failure is recorded. An app that cannot
// be recorded still runs, with a warning. Errors: backend.ErrExists, *backend.StartError,
// also for an unavailable backend.
func (r *Runner) Submit(ctx context.Context, p *Planned) (spec.Handle, error) {
	ref := p.Ref()
	b, err := r.Backends.Get(p.Backend)
	if err != nil {
		return spec.Handle{}, err
	}
	if p.Plan.Cfg, err = resolveTarget(b, p.Plan.Cfg); err != nil {
		return spec.Handle{}, fmt.Errorf("start app %s: %w", ref.Handle(), err)
	}
	p.Plan.Component, p.Plan.Args = p.Component, p.Args
	r.inheritTags(ctx, p)
	if p.Plan.Record, err = json.Marshal(p.Provenance); err != nil {
		return spec.Handle{}, fmt.Errorf("encode the record of app %s: %w", ref.Handle(), err)
	}
	if p.Plan.Begin != nil {
		defer p.Plan.Begin()()
	}
	recorded, notice, err := r.record(ctx, p)
	if err != nil {
		return spec.Handle{}, err
	}
	p.Plan.Unrecorded = !recorded
	failpoint.Hit(failpoint.Recorded)
	if recorded && p.Recorded != nil {
		p.Recorded()
	}
	if err := r.start(ctx, b, p, recorded); err != nil {
		if recorded {
			r.recordFailure(context.WithoutCancel(ctx), b, ref, err)
		}
		if errors.Is(err, backend.ErrUnavailable) {
			err = &backend.StartError{Code: spec.ExitNotStarted, Err: err}
		}
		return spec.Handle{}, fmt.Errorf("start app %s: %w", ref.Handle(), err)
	}
	if notice != "" { // only now: it says that the app runs
		r.warn("%s", notice)
	}
	if recorded {
		// A record that stays SUBMITTED means that Submit was interrupted. If Status
		// fails now, the next command gets it.
		_, _ = r.Status(ctx, ref)
	}
	return spec.Handle{Backend: ref.Backend, Session: spec.Session, AppID: ref.ID}, nil
}

// start submits a plan to its backend. The steps of a recorded app are recorded, too.
func (r *Runner) start(ctx context.Context, b backend.Backend, p *Planned, recorded bool) error {
	to := p.Plan.Progress
	if recorded {
		steps := r.recordSteps(ctx, p.Ref(), to)
		defer steps.close()
		to = steps.tell
	}
	if err := r.awaitApps(ctx, p, to); err != nil {
		return err
	}
	plan := *p.Plan
	plan.Progress = to
	return b.Submit(ctx, &plan)
}

// resolveTarget returns options with an explicit target.
func resolveTarget(b backend.Backend, cfg backend.Config) (backend.Config, error) {
	if t := b.Capabilities().Target; t != nil {
		return t.ResolveTarget(cfg)
	}
	return cfg, nil
}

// record writes the app's row. If it returns false without an error, the app has no row, for
// the reason in notice, but may run. Errors: backend.ErrExists.
func (r *Runner) record(ctx context.Context, p *Planned) (recorded bool, notice string, err error) {
	if r.History == nil {
		return false, "", nil
	}
	row, err := r.newRow(p)
	if err == nil {
		err = r.History.Insert(ctx, row)
	}
	switch {
	case err == nil:
		return true, "", nil
	case errors.Is(err, history.ErrExists):
		return false, "", backend.Errorf(backend.ErrExists,
			"app %s is already in the history: choose another app ID", p.Ref().Handle())
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	}
	return false, fmt.Sprintf("app %s is not in the history, but runs: %v", p.Ref().Handle(), err), nil
}

func (r *Runner) newRow(p *Planned) (history.App, error) {
	app, err := marshal(p.Plan.App)
	if err != nil {
		return history.App{}, fmt.Errorf("encode app: %w", err)
	}
	cfg, err := marshal(p.Plan.Cfg)
	if err != nil {
		return history.App{}, fmt.Errorf("encode options: %w", err)
	}
	return history.App{
		AppKey:      history.AppKey{ID: p.Plan.ID, Backend: p.Backend},
		Name:        p.Plan.App.Name,
		Spec:        app,
		Cfg:         cfg,
		Source:      p.Source,
		Labels:      p.Labels,
		Outcome:     history.Outcome{Msg: p.Origin, State: spec.Submitted},
		SubmittedAt: new(r.now()),
		Submitter:   submitter(),
	}, nil
}

// recordFailure updates the record of an app whose start failed. The backend's status is better
// than the error; an app that existed before gets no record of this attempt.
func (r *Runner) recordFailure(
	ctx context.Context, b backend.Backend, ref history.AppKey, cause error,
) {
	var err error
	if errors.Is(cause, backend.ErrExists) {
		err = r.History.Delete(ctx, ref.Backend, ref.ID)
	} else {
		err = r.History.SetStatus(ctx, ref.Backend, ref.ID, r.failureStatus(ctx, b, ref, cause))
	}
	if err != nil && !errors.Is(err, history.ErrNotFound) {
		r.warn("cannot record that app %s did not start: %v", ref.Handle(), err)
	}
}

// notStartedText is the message of an app whose submission was canceled.
const notStartedText = "interrupted before it started"

func (r *Runner) failureStatus(
	ctx context.Context, b backend.Backend, ref history.AppKey, cause error,
) *spec.Status {
	var start *backend.StartError
	isStart := errors.As(cause, &start)
	if seen, err := b.Describe(ctx, ref.ID); err == nil && (seen.State.Terminal() || !isStart) {
		return seen
	}
	code, now := spec.ExitNotStarted, r.now()
	s := &spec.Status{State: spec.Failed, Msg: cause.Error(), FinishedAt: &now}
	switch {
	case isStart && start.Code == spec.ExitCancelled:
		code, s.State = start.Code, spec.Cancelled
	case isStart:
		code = start.Code
	case errors.Is(cause, context.Canceled):
		code, s.State, s.Msg = spec.ExitCancelled, spec.Cancelled, notStartedText
	}
	s.ExitCode = &code
	if errors.Is(cause, backend.ErrPartLeft) {
		s.StartedAt = &now
	}
	return s
}

// neverSubmitted reports whether an app with this recorded status never reached its backend.
func neverSubmitted(s *spec.Status) bool {
	_, replicas := countEnds(s)
	return s.State.Terminal() && s.StartedAt == nil && replicas == 0
}
