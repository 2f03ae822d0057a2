package slurm

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"torchx/backends/archive"
	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// OutputOf returns the folder of an app's outputs, which is in the folder of the app.
func (b *Backend) OutputOf(ctx context.Context, id string) (*backend.Output, error) {
	t, err := b.find(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case t.folder == "":
		return nil, backend.Errorf(backend.ErrNotFound,
			"app %s has no output folder: torchx did not submit it", id)
	case t.record == nil:
		return nil, backend.Errorf(backend.ErrNotFound,
			"the outputs of app %s cannot be read here: %s", id, t.hint())
	}
	return &backend.Output{Place: t.folder.Path(folder.OutputDir), Here: true}, nil
}

// FolderOf returns the folder of an app. Without its options it is that of an app without job_dir.
func (b *Backend) FolderOf(id string) string {
	f, err := b.folderOf(context.Background(), id)
	if err != nil {
		return filepath.Join(b.config.Home, homeFolder, safefile.Escape(id))
	}
	return string(f)
}

// CollectMetrics reads what replicas have written until now: no supervisor collects it.
func (b *Backend) CollectMetrics(ctx context.Context, id string, _ *spec.App, ended bool) error {
	t, err := b.find(ctx, id)
	if err != nil || t.record == nil {
		return err
	}
	c, err := collect.New(collect.Config{
		Dir: string(t.folder), App: t.record.App, LogDir: t.folder.Attempt, Output: t.folder.Path(folder.OutputDir),
		Attempts: func() ([]collect.Attempt, error) { return attemptsOf(t) },
	})
	if err != nil {
		return err
	}
	if !ended {
		return c.Once(ctx)
	}
	return c.Complete(ctx)
}

// attemptsOf returns the attempts of an app in the order of their starts.
func attemptsOf(t *target) (all []collect.Attempt, err error) {
	run, err := t.folder.Run(t.record.App)
	if err != nil {
		return nil, err
	}
	for r, attempts := range run.Replicas {
		for _, a := range attempts {
			all = append(all, collect.Attempt{Replica: r, Number: a.Number, Start: a.Start})
		}
	}
	slices.SortFunc(all, func(a, b collect.Attempt) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Role, b.Role), a.ID-b.ID)
	})
	return all, nil
}

// Size returns the bytes that Delete frees: those of the app's folder, and of the copies of its
// logs.
func (b *Backend) Size(
	ctx context.Context, id string, o backend.DeleteOptions,
) (total int64, err error) {
	t, err := b.find(ctx, id)
	if err != nil || t.record == nil {
		return 0, err
	}
	for _, dir := range []string{string(t.folder), archives.Dir(b.config.Home, id)} {
		n, err := archive.Size(dir, o.KeepLogs)
		if err != nil {
			return 0, fmt.Errorf("size of app %s: %w", id, err)
		}
		total += n
	}
	return total, nil
}
