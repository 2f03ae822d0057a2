package slurm

import (
	"context"
	"fmt"
	"strings"

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

// afterTexts returns what an app waits for, and why it does not start if Slurm cancels it; "" if it
// waits for no other app.
func afterTexts(after []backend.After) (waits, unmet string) {
	if len(after) == 0 {
		return "", ""
	}
	var names []string
	for _, a := range after {
		if !a.Any {
			names = append(names, a.App.Handle())
		}
	}
	return backend.WaitReason(after), "not started: " + strings.Join(names, " or ") + " did not succeed"
}

// dependency returns the options of sbatch that make a job wait for others. Slurm cancels a job
// that can no longer start.
func (b *Backend) dependency(
	ctx context.Context, after []backend.After, cfg backend.Config,
) ([]string, error) {
	if len(after) == 0 {
		return nil, nil
	}
	more, _ := cfg["sbatch"].([]string)
	for _, option := range more {
		if strings.HasPrefix(option, "--dep") || strings.HasPrefix(option, "-d") {
			return nil, backend.Errorf(backend.ErrInvalidOption,
				"-cfg sbatch has %s, and --after sets it, too: use one of them", option)
		}
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
