package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
)

// networkTries bounds how often a network is looked for while others make it, too.
const networkTries = 20

// ensureNetwork makes a bridge of that name if there is none. An engine before
// Docker 25 makes two if it is asked twice at once, and then takes the name for
// neither: the older one stays, so that all who look do the same.
func ensureNetwork(ctx context.Context, engine *client.Client, name string) error {
	for range networkTries {
		all, err := networksOf(ctx, engine, name)
		if err != nil {
			return err
		}
		if len(all) == 1 {
			return nil
		}
		if len(all) == 0 {
			_, err = engine.NetworkCreate(ctx, name, network.CreateOptions{Driver: "bridge"})
			if err != nil && !errdefs.IsConflict(err) {
				return fmt.Errorf("create network %s: %w", name, plain(err))
			}
			continue // somebody else may have made one in the same moment
		}
		for _, n := range all[1:] {
			_ = engine.NetworkRemove(ctx, n.ID) // another one may be faster; looked at again
		}
	}
	return fmt.Errorf("there are several networks %s: remove all but one by `docker network rm ID`", name)
}

// networksOf lists the networks of exactly that name, oldest first.
func networksOf(ctx context.Context, engine *client.Client, name string) ([]network.Summary, error) {
	all, err := engine.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(filters.Arg("name", name))})
	if err != nil {
		return nil, fmt.Errorf("look for network %s: %w", name, plain(err))
	}
	all = slices.DeleteFunc(all, func(n network.Summary) bool { return n.Name != name })
	slices.SortFunc(all, func(a, b network.Summary) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, nil
}

// troubled recognises a start that failed because somebody else was just making
// or removing the network.
func troubled(err error, name string) bool {
	text := err.Error()
	return strings.Contains(text, "network "+name+" is ambiguous") || strings.Contains(text, "network "+name+" not found") ||
		strings.Contains(text, "could not find a network matching network mode "+name)
}
