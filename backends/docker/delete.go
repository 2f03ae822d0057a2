package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
)

// parallel is how many requests to the engine are under way at a time: it does
// some of the work of each alone and the rest together.
const parallel = 16

// Delete removes the containers of an app that has ended, its bundle, and the
// network if nobody is left on it. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	s, err := b.Describe(ctx, id)
	if err != nil {
		return err
	}
	if !s.State.Terminal() {
		return fmt.Errorf("app %s is still running: cancel it first", id)
	}
	engine, err := b.connect(ctx)
	if err != nil {
		return fmt.Errorf("delete app %s: its containers would stay: %w", id, err)
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
	var all errgroup.Group
	all.SetLimit(parallel)
	for _, c := range containers {
		all.Go(func() error {
			err := engine.ContainerRemove(ctx, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
			if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // a conflict: it is being removed
				return fmt.Errorf("remove container %s: %w", nameOf(c), plain(err))
			}
			return nil
		})
	}
	return all.Wait()
}

func nameOf(c container.Summary) string {
	if len(c.Names) == 0 {
		return c.ID
	}
	return c.Names[0][1:] // without its slash
}

// removeNetwork takes away a network that nobody uses. The engine refuses while
// containers run in it; one that was only made waits for its start there, too.
func removeNetwork(ctx context.Context, engine *client.Client, name string) {
	n, err := engine.NetworkInspect(ctx, name, network.InspectOptions{})
	if err != nil || len(n.Containers) > 0 {
		return
	}
	waiting, err := engine.ContainerList(ctx, container.ListOptions{All: true, Filters: appsFilter()})
	if err != nil || len(waiting) > 0 {
		return
	}
	err = engine.NetworkRemove(ctx, n.ID)
	if err != nil && !errors.Is(err, context.Canceled) {
		return // somebody has just joined it: the network stays, as it should
	}
}
