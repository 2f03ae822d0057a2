package slurm

import (
	"context"
	"fmt"

	"torchx/runtime/backend"
)

// KeepsAfter implements backend.AfterKeeper: Slurm waits for its own jobs.
func (b *Backend) KeepsAfter(ctx context.Context, a backend.After) bool {
	if a.App.Backend != Name {
		return false
	}
	t, err := b.find(ctx, a.App.ID)
	return err == nil && t.job != 0
}

// dependency returns the options of sbatch that make a job wait for others. Slurm cancels a job
// that can no longer start.
func (b *Backend) dependency(ctx context.Context, after []backend.After) ([]string, error) {
	if len(after) == 0 {
		return nil, nil
	}
	text := ""
	for _, a := range after {
		t, err := b.find(ctx, a.App.ID)
		if err != nil {
			return nil, err
		}
		kind := "afterok"
		if a.Any {
			kind = "afterany"
		}
		text += fmt.Sprintf(",%s:%d", kind, t.job)
	}
	return []string{"--dependency=" + text[1:], "--kill-on-invalid-dep=yes"}, nil
}
