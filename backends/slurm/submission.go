package slurm

import (
	"context"

	"torchx/backends/slurm/observe"
	"torchx/runtime/backend"
)

// Submission returns what was submitted: the plan in the app's folder, or what the jobs of
// TorchX and of other programs show. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Submission(ctx context.Context, id string) (*backend.Submission, error) {
	t, err := b.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.record == nil {
		return &backend.Submission{App: observe.App(t.jobs), Partial: true}, nil
	}
	r, o := t.record, t.record.Origin()
	return &backend.Submission{
		App: r.App, Cfg: r.Cfg, Component: r.Component, Args: r.Args,
		ParentRunID: o.ParentRunID, RerunOf: o.RerunOf, Labels: o.Labels,
	}, nil
}
