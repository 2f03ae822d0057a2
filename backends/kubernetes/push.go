package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
)

// push builds what is not built and brings local images to where the cluster finds them.
func (b *Backend) push(ctx context.Context, p *backend.Plan, req *Request, o options) error {
	if len(req.ImagesToPush) == 0 {
		return nil
	}
	pushes, err := req.pushes(ctx, p)
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
	return images.Push(ctx, pushes, workspace.PushOptions{Quiet: o.quiet, Progress: p.Progress})
}

// pushes are the images to push, with the folders of those that are built from a workspace.
func (r *Request) pushes(ctx context.Context, p *backend.Plan) (pushes []workspace.Push, err error) {
	trees, bases := r.trees, r.bases
	if trees == nil { // the plan was read from a file
		again := &backend.Plan{App: p.App.Clone()}
		im := images{push: map[string]PushedImage{}}
		for i := range again.App.Roles {
			role := &again.App.Roles[i]
			if role.Workspace == nil || len(role.Workspace.Projects) == 0 {
				continue
			}
			if _, err := im.nameWorkspace(ctx, again, role, "/"); err != nil {
				return nil, err
			}
		}
		trees, bases = im.trees, im.bases
	}
	for local, remote := range r.ImagesToPush {
		push := workspace.Push{Local: local, Remote: remote.String(), Tree: trees[local], Base: bases[local]}
		if push.Tree == nil && !strings.HasPrefix(local, localImage) {
			return nil, fmt.Errorf("no workspace of the app makes the image %s: its files have changed since the app was planned; plan it again", local)
		}
		pushes = append(pushes, push)
	}
	return pushes, nil
}
