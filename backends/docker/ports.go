package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"torchx/runtime/spec"
)

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
	addresses, err := addressesOf(engine, c, port)
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return nil, errors.New("the container has no address")
	}
	address := addresses[0].HostPort
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("nothing listens at %s: the program must listen on 0.0.0.0, not on 127.0.0.1: %w", address, syscall.ECONNREFUSED)
	}
	return conn, err
}
