package slurm

import (
	"context"
	"errors"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Intervals of Wait. The folder is read often and Slurm seldom: each call costs its controller.
const (
	folderEvery = 200 * time.Millisecond
	slurmFirst  = 2 * time.Second
	slurmLast   = 15 * time.Second
)

// Wait blocks until the app is terminal. After the first answer, it tolerates a controller that
// does not answer. Errors: ErrNotFound, ErrUnavailable, those of ctx.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	pause, asked := slurmFirst, time.Now()
	s, err := b.Describe(ctx, id)
	for {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && (s == nil || !errors.Is(err, backend.ErrUnavailable)):
			return nil, err
		case err == nil && s.State.Terminal():
			return s, nil
		}
		if err := b.sleep(ctx, id, asked.Add(pause)); err != nil {
			return nil, err
		}
		asked, pause = time.Now(), min(pause*3/2, slurmLast)
		var next *spec.Status
		if next, err = b.Describe(ctx, id); err == nil {
			s = next
		}
	}
}

// sleep waits until a time, or until the launcher recorded a begin or the end of the app.
func (b *Backend) sleep(ctx context.Context, id string, until time.Time) error {
	f, err := b.folderOf(ctx, id)
	if err != nil {
		return err
	}
	before := f.Changed()
	for {
		rest := time.Until(until)
		if rest <= 0 || !f.Changed().Equal(before) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(rest, folderEvery)):
		}
	}
}
