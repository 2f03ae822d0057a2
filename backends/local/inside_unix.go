//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"torchx/backends/local/inside"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Exec runs a command with the environment and in the folder of a running replica.
func (b *Backend) Exec(
	ctx context.Context, id string, r spec.Replica, c backend.Command,
) (int, error) {
	p, err := b.placeOf(ctx, id, r)
	if err != nil {
		return 0, err
	}
	if c.Terminal != nil {
		p.Env = terminalEnv(p.Env)
	}
	return inside.Run(ctx, p, c)
}

// SharesPorts returns true.
func (b *Backend) SharesPorts() bool { return true }

// DialPort connects to a port of this machine, which all replicas share.
func (b *Backend) DialPort(
	ctx context.Context, id string, r spec.Replica, port int,
) (net.Conn, error) {
	if _, err := b.running(ctx, id, r); err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp",
		net.JoinHostPort("localhost", strconv.Itoa(port)))
}

// running returns the status of a replica that runs.
func (b *Backend) running(
	ctx context.Context, id string, r spec.Replica,
) (*spec.ReplicaStatus, error) {
	s, err := b.Describe(ctx, id)
	if err != nil {
		return nil, err
	}
	rs := s.Replica(r)
	switch {
	case rs == nil:
		return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	case rs.State != spec.Running || rs.PID == 0:
		return nil, fmt.Errorf("replica %s/%d of app %s: %w (%s)", r.Role, r.ID, id,
			backend.ErrNotRunning, rs.State)
	}
	return rs, nil
}

// placeOf returns where commands beside a replica run: like its process, or as planned where
// the system does not tell its environment. That is so in the moment in which the process becomes
// another program, and after it has written its title over its environment (setproctitle).
func (b *Backend) placeOf(ctx context.Context, id string, r spec.Replica) (inside.Place, error) {
	rs, err := b.running(ctx, id, r)
	if err != nil {
		return inside.Place{}, err
	}
	p, err := inside.PlaceOf(rs.PID)
	if errors.Is(err, errors.ErrUnsupported) || err == nil && !p.Has(pathVariable) {
		return b.plannedPlace(id, r, rs.Attempt)
	}
	if err != nil {
		return p, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotRunning)
	}
	if _, err := b.running(ctx, id, r); err != nil { // its PID may be that of another process
		return p, err
	}
	return p, nil
}

func (b *Backend) plannedPlace(id string, r spec.Replica, attempt int) (p inside.Place, err error) {
	m, err := b.Bundle(id).Manifest()
	if err != nil {
		return p, err
	}
	c, err := newCommands(m)
	if err != nil {
		return p, err
	}
	command := c.command(r, attempt)
	return inside.Place{Env: command.Env, Dir: command.Dir}, nil
}
