package docker

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"

	"torchx/runtime/backend"
)

// Delete removes the containers of an app that has ended, its bundle, and the
// network if it is not in use. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	s, err := b.Describe(ctx, id)
	if err != nil {
		return err
	}
	if !s.State.Terminal() {
		return fmt.Errorf("app %s is still running: cancel it first", id)
	}
	engine, err := b.connectFor(ctx, id)
	if err != nil {
		return fmt.Errorf("delete app %s: its containers cannot be removed: %w", id, err)
	}
	if err := removeContainers(ctx, engine, id); err != nil {
		return err
	}
	if b.Has(id) {
		if err := b.Apps.Delete(ctx, id, o); err != nil {
			return err
		}
	}
	removeNetwork(ctx, engine, networkName)
	return nil
}

func removeContainers(ctx context.Context, engine *client.Client, id string) error {
	containers, err := containersOf(ctx, engine, id)
	if err != nil {
		return err
	}
	return forEach(len(containers), func(i int) error {
		err := engine.ContainerRemove(ctx, containers[i].ID,
			container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // a conflict: it is already being removed
			return fmt.Errorf("remove container %s: %w", nameOf(containers[i]), plain(err))
		}
		return nil
	})
}

func nameOf(c container.Summary) string {
	if len(c.Names) == 0 {
		return c.ID
	}
	return c.Names[0][1:] // without its slash
}

// removeNetwork removes a network that is not in use. The engine only refuses while
// containers run in it, but a created container needs it for its start, too.
func removeNetwork(ctx context.Context, engine *client.Client, name string) {
	n, err := engine.NetworkInspect(ctx, name, network.InspectOptions{})
	if err != nil || len(n.Containers) > 0 {
		return
	}
	remaining, err := engine.ContainerList(ctx,
		container.ListOptions{All: true, Filters: appsFilter()})
	if err != nil || len(remaining) > 0 {
		return
	}
	_ = engine.NetworkRemove(ctx, n.ID) // fails if a container has just joined it
}
