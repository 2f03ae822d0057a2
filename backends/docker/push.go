package docker

import (
	"context"

	"torchx/backends/docker/image"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

var _ workspace.Pusher = (*Backend)(nil)

// Push builds and pushes images for a backend elsewhere. Errors: backends.ErrUnavailable
// without an engine.
func (b *Backend) Push(ctx context.Context, images []workspace.Push, o workspace.PushOptions) error {
	engine, err := b.connect(ctx)
	if err != nil {
		return backend.Errorf(backend.ErrUnavailable, "images are built and pushed by a Docker Engine: %w", err)
	}
	puller := &image.Puller{Engine: engine, Policy: image.Missing, Offline: b.offline, Progress: o.Progress}
	for _, p := range images {
		if p.Tree != nil {
			if err := b.build(ctx, engine, puller, p, o); err != nil {
				return ended(ctx, err)
			}
		}
		if err := image.Push(ctx, engine, p.Local, p.Remote, o.Progress); err != nil {
			return ended(ctx, err)
		}
	}
	return nil
}

// build makes the image of a workspace where the engine does not have it.
func (b *Backend) build(ctx context.Context, engine image.Engine, puller *image.Puller, p workspace.Push, o workspace.PushOptions) error {
	has, err := image.Has(ctx, engine, p.Local)
	if err != nil || has {
		return err
	}
	if err := puller.Ensure(ctx, image.Bases(p.Tree.Dockerfile, p.Base)); err != nil {
		return err
	}
	job := &image.Build{
		Tree: p.Tree, Base: p.Base, Name: p.Local, Quiet: o.Quiet, Progress: o.Progress,
		Labels: map[string]string{LabelVersion: b.version},
	}
	return job.Run(ctx, engine)
}

// ended prefers that the work was broken off to what that led to.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
