package runner

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Wait returns the status of an app that has ended, as soon as it has. Errors:
// those of Status, or the context's.
func (r *Runner) Wait(ctx context.Context, ref history.AppKey) (*spec.Status, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	waiter, _ := b.(backend.Waiter)
	for p := poller(); ; {
		if waiter != nil {
			s, err := waiter.Wait(ctx, ref.ID)
			if err == nil {
				return r.recordStatus(ctx, ref, r.row(ctx, ref), s), nil
			}
			if s := r.recordedEnd(ctx, ref, err); s != nil {
				return s, nil
			}
			// Not found: it is just being submitted, or only remembered.
			if !errors.Is(err, backend.ErrNotFound) {
				return nil, fmt.Errorf("wait for app %s: %w", ref.Handle(), err)
			}
		}
		s, err := r.Status(ctx, ref)
		if err != nil || s.State.Terminal() {
			return s, err
		}
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Cancel asks for the end of an app and returns when the request is durable; an
// unknown or finished app is left alone. Errors: backends.ErrUnavailable.
func (r *Runner) Cancel(ctx context.Context, ref history.AppKey, o backend.CancelOptions) error {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
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
	Force bool // cancel a live app first
}

// Delete forgets an app and everything of it but a tombstone. A live app is left alone
// without o.Force. Errors: those of Status.
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
	case s.State.Terminal():
	case !o.Force:
		return liveError(ref, s.State, o)
	default:
		if s, err = r.end(ctx, b, ref, o.DeleteOptions); err != nil {
			return err
		}
	}
	_, err = r.remove(ctx, b, ref, s, removal{o.DeleteOptions, "delete", true})
	return err
}

// liveError says how to delete an app that has not ended.
func liveError(ref history.AppKey, state spec.State, o DeleteOptions) error {
	keep := ""
	if o.KeepLogs {
		keep = " --keep-logs"
	}
	return fmt.Errorf("app %s is %s: end it with `torchx cancel --wait %s`, then `torchx delete%s %s` (-f does both)",
		ref.Handle(), state, ref.ID, keep, ref.ID)
}

// end cancels an app that is to be deleted and waits for its end.
func (r *Runner) end(ctx context.Context, b backend.Backend, ref history.AppKey, o backend.DeleteOptions) (*spec.Status, error) {
	if _, err := b.Describe(ctx, ref.ID); errors.Is(err, backend.ErrNotFound) {
		return nil, fmt.Errorf("app %s is just being submitted by another torchx: try again when it runs", ref.Handle())
	}
	if err := r.Cancel(ctx, ref, backend.CancelOptions{Discard: !o.KeepLogs}); err != nil {
		return nil, err
	}
	return r.Wait(ctx, ref)
}
