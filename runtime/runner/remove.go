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

// removal holds the options of a removal.
type removal struct {
	backend.DeleteOptions
	command string // recorded in the tombstone
	// unrecorded continues if the history cannot record the removal first: if it is
	// interrupted then, no later command completes it.
	unrecorded bool
}

// remove deletes an app that has ended with status s. It writes the tombstone first, so
// that the next command completes an interrupted removal, and deletes the record last. done
// is false if another process removed the app.
func (r *Runner) remove(
	ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status, how removal,
) (done bool, err error) {
	ctx = context.WithoutCancel(ctx) // a started removal is completed
	t := r.newTombstone(ctx, b, ref, s, how)
	if r.History != nil {
		err := r.History.BeginRemoval(ctx, t)
		if err != nil && !how.unrecorded && !errors.Is(err, history.ErrFull) { // removing frees space
			return false, err
		}
	}
	failpoint.Hit(failpoint.RemovalNoted)
	deleted := b.Delete(ctx, ref.ID, how.DeleteOptions)
	if errors.Is(deleted, backend.ErrUnavailable) && neverSubmitted(s) {
		deleted = backend.ErrNotFound
	}
	failpoint.Hit(failpoint.Removed)
	if deleted != nil && !errors.Is(deleted, backend.ErrNotFound) && !isGone(ctx, b, ref) {
		r.abortRemoval(ctx, ref)
		return false, fmt.Errorf("delete app %s: %w", ref.Handle(), deleted)
	}
	existed := false
	if r.History != nil {
		if existed, err = r.History.FinishRemoval(ctx, t); err != nil {
			err = fmt.Errorf("app %s is deleted, but still in the history: %w", t.Handle(), err)
		}
	}
	switch {
	case errors.Is(deleted, backend.ErrNotFound):
		return existed, err // only the history had the app
	case deleted != nil:
		return true, fmt.Errorf("app %s is deleted, but some of its files are left: %w",
			ref.Handle(), deleted)
	}
	return true, err
}

func isGone(ctx context.Context, b backend.Backend, ref history.AppKey) bool {
	_, err := b.Describe(ctx, ref.ID)
	return errors.Is(err, backend.ErrNotFound)
}

// newTombstone returns the tombstone of an app that is about to be removed.
func (r *Runner) newTombstone(
	ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status, how removal,
) history.Tombstone {
	t := history.Tombstone{
		AppKey:      ref,
		State:       s.State,
		SubmittedAt: s.SubmittedAt,
		FinishedAt:  s.FinishedAt,
		RemovedAt:   r.now(),
		Command:     how.command,
		KeepLogs:    how.KeepLogs,
		Owner:       submitter(),
	}
	if row := r.row(ctx, ref); row != nil {
		t.Name = row.Name
	}
	keeper := b.Capabilities().Logs
	if keeper == nil {
		return t
	}
	kept, err := keeper.RetainableLogs(ctx, ref.ID, how.DeleteOptions)
	if errors.Is(err, backend.ErrNotFound) {
		kept, err = r.findLogs(ctx, b, ref, s), nil
	}
	if err == nil && kept != nil {
		t.Kept, err = json.Marshal(kept)
	}
	if err != nil {
		r.warn("cannot tell which logs of app %s will be kept: %v", ref.Handle(), err)
	}
	return t
}

func (r *Runner) abortRemoval(ctx context.Context, ref history.AppKey) {
	if r.History == nil {
		return
	}
	if err := r.History.AbortRemoval(ctx, ref.Backend, ref.ID); err != nil {
		r.warn("%v", err)
	}
}

// completeRemovals completes removals whose process has died: a killed `prune` must leave
// neither an app without its record nor a record without its app.
func (r *Runner) completeRemovals(ctx context.Context) {
	pending, err := r.History.PendingRemovals(ctx)
	if err != nil {
		r.warn("%v", err)
		return
	}
	for i := range pending {
		if t := &pending[i]; !r.submitterAlive(t.Owner) {
			if err := r.completeRemoval(ctx, t); err != nil {
				r.warn("app %s is only partly deleted: %v", t.Handle(), err)
			}
		}
	}
}

func (r *Runner) completeRemoval(ctx context.Context, t *history.Tombstone) error {
	b, err := r.Backends.Get(t.Backend)
	if err != nil {
		return err
	}
	s, err := b.Describe(ctx, t.ID)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		_, err := r.History.FinishRemoval(ctx, *t)
		return err
	case err != nil:
		return err
	case !s.State.Terminal() || !sameApp(t, s): // the ID has been reused
		return r.History.AbortRemoval(ctx, t.Backend, t.ID)
	}
	err = b.Delete(ctx, t.ID, backend.DeleteOptions{KeepLogs: t.KeepLogs})
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	_, err = r.History.FinishRemoval(ctx, *t)
	return err
}

// sameApp reports whether s belongs to the app of t, not to a later one with the same ID;
// true if a time is unknown.
func sameApp(t *history.Tombstone, s *spec.Status) bool {
	return t.SubmittedAt == nil || s.SubmittedAt == nil ||
		t.SubmittedAt.UnixNano() == s.SubmittedAt.UnixNano()
}
