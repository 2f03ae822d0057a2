package slurm

import (
	"context"
	"fmt"
	"os"

	"torchx/runtime/backend"
)

// Delete removes the folder of an app that has ended, and the copies of its logs; Slurm itself forgets jobs after a while.
// Errors: ErrNotFound, ErrUnsupported for jobs that torchx did not submit.
func (b *Backend) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	t, err := b.find(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case t.folder == "":
		return backend.Errorf(backend.ErrUnsupported, "torchx did not submit job %d: Slurm itself forgets it", t.job)
	case t.record == nil:
		return backend.Errorf(backend.ErrUnsupported, "app %s cannot be deleted here: %s", id, t.hint())
	}
	if o.KeepLogs {
		if err := b.retainLogs(ctx, t); err != nil {
			return fmt.Errorf("keep the logs of app %s: %w", id, err)
		}
	}
	if err := os.RemoveAll(string(t.folder)); err != nil {
		return fmt.Errorf("delete app %s: %w", id, err)
	}
	return archives.Remove(archives.Dir(b.config.Home, id))
}
