//go:build unix

package docker

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"

	"github.com/docker/go-connections/nat"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Addresses names a container's address in the app's network, which this machine has a
// way to if the engine runs on its kernel, else where the port is published.
func (l *launcher) Addresses(ctx context.Context, r spec.Replica, port int) (found []agent.Address) {
	l.mu.Lock()
	current := l.current[r]
	l.mu.Unlock()
	if current == nil || !strings.HasPrefix(l.engine.DaemonHost(), localEngine) {
		return nil // elsewhere those addresses may be somebody else's
	}
	c, err := l.engine.ContainerInspect(ctx, current.id)
	if err != nil || c.NetworkSettings == nil {
		return nil
	}
	if n := c.NetworkSettings.Networks[l.request.Network]; n != nil && n.IPAddress != "" && runtime.GOOS == "linux" {
		return []agent.Address{{HostPort: net.JoinHostPort(n.IPAddress, strconv.Itoa(port))}}
	}
	for _, b := range c.NetworkSettings.Ports[nat.Port(strconv.Itoa(port)+"/tcp")] {
		found = append(found, agent.Address{HostPort: net.JoinHostPort(b.HostIP, b.HostPort), Proxied: true})
	}
	return found
}

// tapArchived hands what a former agent archived to whoever looks for a line.
func (a *archive) tapArchived() error {
	if a.run.line == nil || !a.run.adopted {
		return nil
	}
	r, err := logstore.Open(logstore.Source{
		Dir:   func(int) string { return a.dir },
		State: func() (int, bool, error) { return 1, true, nil },
	}, backend.LogOptions{Tail: -1})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(a.l.ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		stream := logstore.Stdout
		if b.Stream == backend.Stderr {
			stream = logstore.Stderr
		}
		a.tap.Feed(stream, b.Data)
	}
}
