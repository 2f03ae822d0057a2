package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"torchx/backends/slurm/job"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Cancel asks for the end of an app: a job that waits is canceled, the folder records the request,
// and the launcher of one that runs is told to stop the replicas, which have a grace period. With
// Force, Slurm kills them. It does nothing if the app is unknown, ending or has ended, and records
// nothing if Slurm's controller does not answer.
func (b *Backend) Cancel(ctx context.Context, id string, o backend.CancelOptions) error {
	t, err := b.find(ctx, id)
	if err == nil {
		defer b.queue.forget(ctx)
		err = b.cancel(ctx, t, o)
	}
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

func (b *Backend) cancel(ctx context.Context, t *target, o backend.CancelOptions) error {
	if t.record == nil { // without its folder, Slurm ends it, with its own grace period
		if job.StateOf(t.jobs).Terminal() {
			return nil
		}
		return b.slurm.Cancel(ctx, t.job, force(o)...)
	}
	run, err := t.folder.Run(t.record.App)
	if err != nil || run.End != nil {
		return err
	}
	if t.job == 0 { // it is being submitted: the launcher will see that it was canceled
		return t.folder.Cancel(o.Reason)
	}
	if err := b.slurm.Cancel(ctx, t.job, "--state=PENDING"); err != nil {
		return err
	}
	if err := t.folder.Cancel(o.Reason); err != nil {
		return err
	}
	if o.Force {
		return b.slurm.Cancel(ctx, t.job, force(o)...)
	}
	if len(run.Begins) == 0 {
		return nil // the launcher looks before it starts the replicas
	}
	if err := b.slurm.Cancel(ctx, t.job, "--batch", "--signal=USR1"); !errors.Is(err, backend.ErrUnavailable) {
		return err
	}
	return nil // the launcher looks each second
}

func force(o backend.CancelOptions) []string {
	if o.Force {
		return []string{"--full", "--signal=KILL"}
	}
	return nil
}

// Delete removes the folder of an app that has ended, and the copies of its logs; Slurm itself
// forgets jobs after a while. Errors: ErrNotFound, ErrUnsupported for jobs that torchx did not
// submit.
func (b *Backend) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	t, err := b.find(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case t.folder == "":
		return backend.Errorf(backend.ErrUnsupported,
			"torchx did not submit job %d: Slurm itself forgets it", t.job)
	case t.record == nil:
		return backend.Errorf(backend.ErrUnsupported,
			"app %s cannot be deleted here: %s", id, t.hint())
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
