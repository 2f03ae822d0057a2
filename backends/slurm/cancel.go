package slurm

import (
	"context"
	"errors"

	"torchx/backends/slurm/job"
	"torchx/runtime/backend"
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
