package slurm

import (
	"context"
	"fmt"
	"os"

	"torchx/runtime/backend"
)

// Delete removes the folder of an app that has ended; Slurm itself forgets jobs after a while.
// Errors: ErrNotFound, ErrUnsupported for jobs that torchx did not submit.
func (b *Backend) Delete(ctx context.Context, id string, _ backend.DeleteOptions) error {
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
	if err := os.RemoveAll(string(t.folder)); err != nil {
		return fmt.Errorf("delete app %s: %w", id, err)
	}
	return nil
}
