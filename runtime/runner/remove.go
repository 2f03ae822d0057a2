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

// removal is how an app is removed.
type removal struct {
	backend.DeleteOptions
	command string // that of the tombstone
	// unnoted goes on when the history cannot note beforehand what is going to
	// happen: then a removal that is cut short is not finished by anybody.
	unnoted bool
}

// remove takes away an app that has ended, of which s is the status. The history
// notes first that the app is going, so that the next command finishes what is cut
// short here; its record goes last. done is false if somebody else was faster.
func (r *Runner) remove(ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status, how removal) (done bool, err error) {
	ctx = context.WithoutCancel(ctx) // what is begun is finished
	t := r.tombstoneFor(ctx, b, ref, s, how)
	if err := r.bury(ctx, t); err != nil {
		// A full disk must not keep anybody from making room.
		if !how.unnoted && !errors.Is(err, history.ErrFull) {
			return false, err
		}
	}
	failpoint.Hit(failpoint.RemovalNoted)
	deleted := b.Delete(ctx, ref.ID, how.DeleteOptions)
	failpoint.Hit(failpoint.Removed)
	if deleted != nil && !r.isGone(ctx, b, ref) {
		r.unbury(ctx, ref)
		return false, fmt.Errorf("delete app %s: %w", ref.Handle(), deleted)
	}
	known, err := r.buried(ctx, t)
	switch {
	case errors.Is(deleted, backend.ErrNotFound):
		return known, err // only the history had it
	case deleted != nil:
		return true, fmt.Errorf("app %s is deleted, but not all of it: %w", ref.Handle(), deleted)
	}
	return true, err
}

func (r *Runner) isGone(ctx context.Context, b backend.Backend, ref history.AppKey) bool {
	_, err := b.Describe(ctx, ref.ID)
	return errors.Is(err, backend.ErrNotFound)
}

// tombstoneFor says what will be left of an app.
func (r *Runner) tombstoneFor(ctx context.Context, b backend.Backend, ref history.AppKey, s *spec.Status, how removal) history.Tombstone {
	t := history.Tombstone{
		AppKey:      ref,
		State:       s.State,
		SubmittedAt: s.SubmittedAt,
		FinishedAt:  s.FinishedAt,
		GoneAt:      r.now(),
		Command:     how.command,
		KeepLogs:    how.KeepLogs,
		Owner:       submitter(),
	}
	if row := r.row(ctx, ref); row != nil {
		t.Name = row.Name
	}
	keeper, ok := b.(backend.LogRetainer)
	if !ok {
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
		r.warn("which logs of app %s will be left is not known: %v", ref.Handle(), err)
	}
	return t
}

func (r *Runner) bury(ctx context.Context, t history.Tombstone) error {
	if r.History == nil {
		return nil
	}
	return r.History.BeginRemoval(ctx, t)
}

func (r *Runner) unbury(ctx context.Context, ref history.AppKey) {
	if r.History == nil {
		return
	}
	if err := r.History.AbortRemoval(ctx, ref.Backend, ref.ID); err != nil {
		r.warn("%v", err)
	}
}

func (r *Runner) buried(ctx context.Context, t history.Tombstone) (known bool, err error) {
	if r.History == nil {
		return false, nil
	}
	known, err = r.History.FinishRemoval(ctx, t)
	if err != nil {
		err = fmt.Errorf("app %s is deleted, but not from the history: %w", t.Handle(), err)
	}
	return known, err
}

// finishRemovals does what is left of removals that were cut short: a killed
// `prune` must leave neither an app without its record nor a record without its app.
func (r *Runner) finishRemovals(ctx context.Context) {
	burials, err := r.History.PendingRemovals(ctx)
	if err != nil {
		r.warn("%v", err)
		return
	}
	for i := range burials {
		if t := &burials[i]; !r.submitterAlive(t.Owner) {
			if err := r.finishRemoval(ctx, t); err != nil {
				r.warn("app %s is only half deleted: %v", t.Handle(), err)
			}
		}
	}
}

func (r *Runner) finishRemoval(ctx context.Context, t *history.Tombstone) error {
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
	case !s.State.Terminal() || !sameApp(t, s): // the id has gone to another app
		return r.History.AbortRemoval(ctx, t.Backend, t.ID)
	}
	err = b.Delete(ctx, t.ID, backend.DeleteOptions{KeepLogs: t.KeepLogs})
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	_, err = r.History.FinishRemoval(ctx, *t)
	return err
}

// sameApp tells an app from a later one with its id. Where nobody knows, it is the same.
func sameApp(t *history.Tombstone, s *spec.Status) bool {
	return t.SubmittedAt == nil || s.SubmittedAt == nil || t.SubmittedAt.UnixNano() == s.SubmittedAt.UnixNano()
}
