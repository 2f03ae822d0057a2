package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

var _ backend.PortDialer = (*Backend)(nil)

// SharesPorts returns false: containers have addresses of their own.
func (b *Backend) SharesPorts() bool { return false }

// DialPort connects to a port of a container: at its address if this machine can reach it,
// otherwise where the engine publishes the port.
func (b *Backend) DialPort(ctx context.Context, id string, r spec.Replica, port int) (net.Conn, error) {
	engine, target, err := b.runningContainer(ctx, id, r)
	if err != nil {
		return nil, err
	}
	c, err := engine.ContainerInspect(ctx, target.ID)
	if err != nil {
		return nil, plain(err)
	}
	address := addressOf(c, port, strings.HasPrefix(engine.DaemonHost(), localEngine))
	if address == "" {
		return nil, errors.New("this machine cannot reach the containers of the engine: publish the ports of the role by -cfg publish_ports=true")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("nothing listens at %s: the program must listen on 0.0.0.0, not on 127.0.0.1: %w", address, syscall.ECONNREFUSED)
	}
	return conn, err
}

// addressOf returns where a port of a container is reached, "" if nowhere.
func addressOf(c container.InspectResponse, port int, isLocal bool) string {
	if c.NetworkSettings == nil {
		return ""
	}
	if isLocal && runtime.GOOS == "linux" {
		if c.HostConfig != nil && c.HostConfig.NetworkMode.IsHost() {
			return net.JoinHostPort("localhost", strconv.Itoa(port))
		}
		for _, n := range c.NetworkSettings.Networks {
			if n != nil && cmp.Or(n.IPAddress, n.GlobalIPv6Address) != "" {
				return net.JoinHostPort(cmp.Or(n.IPAddress, n.GlobalIPv6Address), strconv.Itoa(port))
			}
		}
	}
	for _, b := range c.NetworkSettings.Ports[nat.Port(strconv.Itoa(port)+"/tcp")] {
		if isLocal {
			return net.JoinHostPort(b.HostIP, b.HostPort)
		}
	}
	return ""
}
