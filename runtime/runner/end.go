package runner

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Wait waits until an app has ended and returns its status. Errors: those of Status, or the
// context's.
func (r *Runner) Wait(ctx context.Context, ref history.AppKey) (*spec.Status, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	for p := newPoller(); ; {
		s, err := b.Wait(ctx, ref.ID)
		if err == nil {
			return r.recordStatus(ctx, ref, r.row(ctx, ref), s), nil
		}
		if s := r.recordedResult(ctx, ref, err); s != nil {
			return s, nil
		}
		// Not found: it is being submitted, or only the history has it.
		if !errors.Is(err, backend.ErrNotFound) {
			return nil, fmt.Errorf("wait for app %s: %w", ref.Handle(), err)
		}
		s, err = r.Status(ctx, ref)
		if err != nil || s.State.Terminal() || hasVanished(ctx, b, ref, s) {
			return s, err
		}
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Observe calls see with each status of an app that is read while waiting for its end or
// following its logs, until stop is called. If the backend does not support it, see is
// never called.
func (r *Runner) Observe(ref history.AppKey, see func(*spec.Status)) (stop func()) {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err != nil || can.Observers == nil {
		return func() {}
	}
	return can.Observers.Observe(ref.ID, see)
}

// Cancel requests the end of an app and returns once the request is durable. It does
// nothing if the app is unknown or has ended. Errors: backend.ErrUnavailable.
func (r *Runner) Cancel(ctx context.Context, ref history.AppKey, o backend.CancelOptions) error {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return err
	}
	if waiting, err := r.cancelWaiting(ctx, ref); waiting {
		return err
	}
	if err := b.Cancel(ctx, ref.ID, o); err != nil && !errors.Is(err, backend.ErrNotFound) {
		return fmt.Errorf("cancel app %s: %w", ref.Handle(), err)
	}
	return nil
}

// DeleteOptions are the options of Delete.
type DeleteOptions struct {
	backend.DeleteOptions
	Force bool // cancel a live app first, and give up replicas on lost machines
}

// Delete removes an app and all of its files, except for a tombstone; of a sweep its trials, too. A
// live app is an error without o.Force. Errors: those of Status.
func (r *Runner) Delete(ctx context.Context, ref history.AppKey, o DeleteOptions) error {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return err
	}
	s, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	switch {
	case s.State.Terminal(), hasVanished(ctx, b, ref, s), b.Capabilities().Imports != nil:
	case !o.Force:
		return liveError(ref, s.State, o)
	default:
		if s, err = r.end(ctx, b, ref, o.DeleteOptions); err != nil {
			return err
		}
	}
	if r.IsSweep(ref) {
		if err := r.deleteTrials(ctx, ref, o); err != nil {
			return err
		}
	}
	o.Abandon = o.Force
	_, err = r.remove(ctx, b, ref, s, removal{o.DeleteOptions, "delete", true})
	return err
}

// liveError returns an error that tells how to delete a live app.
func liveError(ref history.AppKey, state spec.State, o DeleteOptions) error {
	keep := ""
	if o.KeepLogs {
		keep = " --keep-logs"
	}
	return fmt.Errorf("app %s is %s: end it with `torchx cancel --wait %s`, then `torchx delete%s %s` (-f does both)",
		ref.Handle(), state, ref.ID, keep, ref.ID)
}

// end cancels an app that will be deleted and waits for its end.
func (r *Runner) end(
	ctx context.Context, b backend.Backend, ref history.AppKey, o backend.DeleteOptions,
) (*spec.Status, error) {
	if _, err := b.Describe(ctx, ref.ID); errors.Is(err, backend.ErrNotFound) {
		return nil, fmt.Errorf("app %s is just being submitted by another torchx: try again once it has started", ref.Handle())
	}
	if err := r.Cancel(ctx, ref, backend.CancelOptions{Discard: !o.KeepLogs, Abandon: true}); err != nil {
		return nil, err
	}
	return r.Wait(ctx, ref)
}
