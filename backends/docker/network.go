//go:build unix

package docker

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"torchx/runtime/safefile"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"golang.org/x/sys/unix"
)

const (
	// networkTries bounds the attempts to use a network that others create or remove.
	networkTries = 20
	// lockWait bounds the wait for others that create the network. The lock only saves
	// work: ensureNetwork is correct without it.
	lockWait = 5 * time.Second
)

// networkLock returns a file that all users of this machine can lock.
func networkLock() string { return filepath.Join(os.TempDir(), "torchx-docker-network.lock") }

// ensureNetwork creates the app's network if it does not exist, one app at a time.
func (l *launcher) ensureNetwork(ctx context.Context) error {
	if f, err := openShared(networkLock()); err == nil {
		defer f.Close()
		for deadline := time.Now().Add(lockWait); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
				break
			}
		}
	}
	return ensureNetwork(ctx, l.engine.Client, l.request.Network)
}

// openShared opens a file that may belong to another user, for reading, which suffices to lock it.
func openShared(path string) (*os.File, error) {
	f, err := safefile.Open(path)
	if os.IsNotExist(err) {
		f, err = safefile.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644) //nolint:gosec // it is empty; every user locks it
	}
	return f, err
}

// startContainer starts a container. It retries while others create or remove its network.
func (l *launcher) startContainer(ctx context.Context, id string) error {
	name := l.request.Network
	for try := 0; ; try++ {
		err := l.startOnce(ctx, id)
		if err == nil || try == networkTries || !slices.ContainsFunc([]string{
			"network " + name + " is ambiguous", "network " + name + " not found", "network with name or ID " + name, "could not find a network matching network mode " + name,
		}, func(text string) bool { return strings.Contains(err.Error(), text) }) {
			return err
		}
		if err := l.engine.do(ctx, func() error { return l.ensureNetwork(ctx) }); err != nil {
			return err
		}
	}
}

// startOnce starts a container until the engine answers. A container may have started although
// the answer was lost: another start after its end would run the program again.
func (l *launcher) startOnce(ctx context.Context, id string) error {
	lost := false
	return l.engine.do(ctx, func() error {
		if lost {
			c, err := l.engine.ContainerInspect(ctx, id)
			if err != nil || !startTime(c).IsZero() {
				return err
			}
		}
		err := l.engine.ContainerStart(ctx, id, container.StartOptions{})
		lost = lost || unreachable(err)
		return err
	})
}

// startTime returns when a container started; zero if it never did.
func startTime(c container.InspectResponse) time.Time {
	t, err := time.Parse(time.RFC3339Nano, c.State.StartedAt)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}

// ensureNetwork creates a bridge with this name if none exists. Engines before Docker 25
// create two for simultaneous requests and then refuse the ambiguous name: the oldest one
// stays, so that all processes agree.
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
			continue // another process may have created one at the same time
		}
		for _, n := range all[1:] {
			_ = engine.NetworkRemove(ctx, n.ID) // another process may have removed it; checked again
		}
	}
	return fmt.Errorf("the engine has several networks named %s: remove all but one by `docker network rm ID`", name)
}

// networksOf lists the networks with exactly this name, oldest first.
func networksOf(
	ctx context.Context, engine *client.Client, name string,
) ([]network.Summary, error) {
	all, err := engine.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(filters.Arg("name", name))})
	if err != nil {
		return nil, fmt.Errorf("list networks %s: %w", name, plain(err))
	}
	all = slices.DeleteFunc(all, func(n network.Summary) bool { return n.Name != name })
	slices.SortFunc(all, func(a, b network.Summary) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}
