package docker

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"
)

const (
	// retryPause is the pause between two attempts to reach a lost engine.
	retryPause = 200 * time.Millisecond
	// pingTimeout bounds the check whether the engine still answers.
	pingTimeout = 2 * time.Second
	// parallel is how many requests are sent to the engine at the same time. It does part
	// of the work of each sequentially.
	parallel = 16
)

// engine is a connection that survives restarts of the engine.
type engine struct {
	*client.Client

	mu        sync.Mutex
	checkedAt time.Time // when current was requested
	current   generation
}

// generation identifies one run of the engine's process. The engine recreates its
// default network at each start, unless containers keep running (live-restore).
type generation struct {
	id      string    // of the default network; "" if the engine has none
	created time.Time // of the default network
}

// defaultBridge is the name of the engine's default network.
const defaultBridge = "bridge"

// generation requests the current generation of the engine.
func (e *engine) generation(ctx context.Context) (generation, error) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	n, err := e.NetworkInspect(ctx, defaultBridge, network.InspectOptions{})
	if errdefs.IsNotFound(err) {
		return generation{}, nil
	}
	return generation{n.ID, n.Created}, err
}

// generationAfter returns a generation that was requested after t over a new connection.
// Containers that end together share one request.
func (e *engine) generationAfter(ctx context.Context, t time.Time) (generation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checkedAt.After(t) {
		return e.current, nil
	}
	for {
		now := time.Now()
		err := e.pingNewConnection(ctx)
		if err == nil {
			var g generation
			if g, err = e.generation(ctx); err == nil {
				e.checkedAt, e.current = now, g
				return g, nil
			}
		}
		if pause(ctx) != nil {
			return generation{}, errors.Join(ctx.Err(), err)
		}
	}
}

// pingNewConnection pings over a new connection: an engine that shuts down still answers
// on open ones while it stops its containers.
func (e *engine) pingNewConnection(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	conn, err := e.Dialer()(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // an ssh process has no deadline
	defer stop()
	if _, err := io.WriteString(conn, "GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// pause waits for retryPause. Errors: ctx.Err().
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(retryPause):
		return nil
	}
}

// await returns when the engine answers. Errors: ctx.Err().
func (e *engine) await(ctx context.Context) error {
	for {
		short, cancel := context.WithTimeout(ctx, pingTimeout)
		_, err := e.Ping(short)
		cancel()
		if err == nil {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// do calls f until the engine answers it.
func (e *engine) do(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || !unreachable(err) {
			return err
		}
		if err := e.await(ctx); err != nil {
			return err
		}
	}
}

// inspect returns a container. It retries until the engine answers.
func (e *engine) inspect(ctx context.Context, id string) (c container.InspectResponse, err error) {
	err = e.do(ctx, func() (err error) {
		c, err = e.ContainerInspect(ctx, id)
		return err
	})
	return c, err
}

// noTimeout makes the engine send only the stop signal: the agent times the grace
// period, for all containers together.
const noTimeout = -1

// send stops a container (signal "") or sends it a signal. A container that has already
// ended is not an error.
func (e *engine) send(ctx context.Context, id, signal string) (err error) {
	if signal == "" {
		timeout := noTimeout
		err = e.ContainerStop(ctx, id, container.StopOptions{Timeout: &timeout})
	} else {
		err = e.ContainerKill(ctx, id, signal)
	}
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}

// forEach calls f for each index below n, up to parallel at a time. It returns the first error.
func forEach(n int, f func(i int) error) error {
	var all errgroup.Group
	all.SetLimit(parallel)
	for i := range n {
		all.Go(func() error { return f(i) })
	}
	return all.Wait()
}
