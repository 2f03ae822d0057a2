package kubernetes

import (
	"context"
	"errors"
	"fmt"

	"torchx/backends/kubernetes/manifest"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

// push builds what is not built and brings local images to where the cluster finds them.
func (b *Backend) push(ctx context.Context, p *backend.Plan, req *manifest.Request, o manifest.Options) error {
	if len(req.ImagesToPush) == 0 {
		return nil
	}
	pushes, err := req.Pushes(ctx, p)
	if err != nil {
		return err
	}
	if b.config.Images == nil {
		return errors.New("images cannot be pushed: there is nothing that builds them")
	}
	images, err := b.config.Images()
	if err != nil {
		return fmt.Errorf("push images: %w", err)
	}
	return images.Push(ctx, pushes, workspace.PushOptions{Quiet: o.Quiet, Progress: p.Progress})
}
