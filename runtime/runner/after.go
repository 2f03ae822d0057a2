package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// SettleAfter drops the apps of p.Plan.After that have ended as required. Of the others it leaves
// there those that the backend waits for, and returns those that Submit waits for, before it
// submits. Errors: backend.ErrNotFound, backend.ErrUnavailable, *backend.UnmetError.
func (r *Runner) SettleAfter(ctx context.Context, p *Planned) (here []backend.After, err error) {
	can, err := r.Backends.Capabilities(p.Backend)
	if err != nil {
		return nil, err
	}
	var kept []backend.After
	for _, a := range p.Plan.After {
		s, err := r.See(ctx, a.App)
		if err != nil {
			return nil, fmt.Errorf("--after %s: %w", a, err)
		}
		switch met, err := isMet(a, s.Status, s.IsFinal()); {
		case err != nil:
			return nil, err
		case met:
		case can.After != nil && can.After.KeepsAfter(ctx, a):
			kept = append(kept, a)
		default:
			here = append(here, a)
		}
	}
	p.Plan.After, p.awaited = kept, here
	return here, nil
}

// isMet reports whether an app has ended as required. Errors: *backend.UnmetError.
func isMet(a backend.After, s *spec.Status, final bool) (bool, error) {
	switch {
	case !final:
		return false, nil
	case !s.State.Terminal() && s.State != spec.Unknown:
		return false, &backend.UnmetError{After: a, How: "was imported while it was " + s.State.String()}
	case a.Any || s.State == spec.Succeeded:
		return true, nil
	case s.State == spec.Unknown:
		return false, &backend.UnmetError{After: a, How: "has disappeared, its result is unknown"}
	}
	return false, &backend.UnmetError{After: a, How: "ended " + s.State.String()}
}

// Pauses of AwaitAfter while a backend does not answer.
const (
	awayFirst = time.Second
	awayLast  = time.Minute
)

// AwaitAfter waits until an app has ended, however long its backend does not answer. It returns nil
// if the app ended as required. Errors: *backend.UnmetError, that of ctx.
func (r *Runner) AwaitAfter(ctx context.Context, a backend.After) error {
	for away := (&pause{awayFirst, awayLast}); ; {
		s, err := r.Wait(ctx, a.App)
		switch {
		case err == nil:
			_, err := isMet(a, s, true)
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, backend.ErrNotFound) && a.Any:
			return nil // it was deleted, thus it had ended
		case errors.Is(err, backend.ErrNotFound):
			return &backend.UnmetError{After: a, How: "was deleted"}
		}
		if err := away.wait(ctx); err != nil {
			return err
		}
	}
}

// stepAfter begins the name of the step in which Submit waits for another app.
const stepAfter = "wait for "

// awaitApps waits for the apps that the backend does not wait for. Meanwhile the record says so,
// and CancelWaiting ends the wait. Errors: *backend.StartError, that of ctx.
func (r *Runner) awaitApps(ctx context.Context, p *Planned, to backend.Progress) error {
	for _, a := range p.awaited {
		ctx, stop := context.WithCancelCause(ctx)
		go r.watchCancel(ctx, p.Ref(), stop)
		step := backend.Step{Name: stepAfter + a.Event(), Text: "then submit it"}
		to.Tell(step)
		err := r.AwaitAfter(ctx, a)
		step.Ended, step.Failed = true, err != nil
		to.Tell(step)
		stop(nil)
		if cause := context.Cause(ctx); errors.Is(cause, errCanceledElsewhere) {
			err = cause
		}
		if errors.Is(err, errCanceledElsewhere) || errors.As(err, new(*backend.UnmetError)) {
			return &backend.StartError{Code: spec.ExitCancelled, Err: err}
		}
		if err != nil {
			return err
		}
	}
	if len(p.awaited) == 0 || len(p.Plan.After) == 0 {
		return nil
	}
	if _, err := r.SettleAfter(ctx, p); err != nil { // the backend may have forgotten them meanwhile
		return &backend.StartError{Code: spec.ExitCancelled, Err: err}
	}
	return nil
}

// errCanceledElsewhere is why a submission ends that `torchx cancel` ended.
var errCanceledElsewhere = errors.New("canceled before it was submitted")

// watchCancel stops a wait when the record of its app says that the app was canceled.
func (r *Runner) watchCancel(
	ctx context.Context, ref history.AppKey, stop context.CancelCauseFunc,
) {
	for p := newPoller(); p.wait(ctx) == nil; {
		if s := r.LastStatus(ctx, ref); s != nil && s.State == spec.Cancelled {
			stop(errCanceledElsewhere)
		}
	}
}

// isAwaiting reports whether the submission of an app waits for another app.
func isAwaiting(o *history.Outcome) bool {
	return o.State == spec.Submitted && strings.HasPrefix(o.Msg, spec.PreparingMark+stepAfter)
}

// cancelWaiting cancels an app that its submitter has not submitted yet, because it waits for
// another app, and reports whether it did.
func (r *Runner) cancelWaiting(ctx context.Context, ref history.AppKey) (bool, error) {
	if row := r.row(ctx, ref); row == nil || !isAwaiting(&row.Outcome) {
		return false, nil
	}
	now, code := r.now(), spec.ExitCancelled
	return true, r.History.SetStatus(ctx, ref.Backend, ref.ID, &spec.Status{
		State: spec.Cancelled, Msg: errCanceledElsewhere.Error(), ExitCode: &code, FinishedAt: &now,
	})
}
