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
	// retryPause is the pause between two attempts to reach an engine that went away.
	retryPause = 200 * time.Millisecond
	// askTimeout bounds the question whether the engine is still there.
	askTimeout = 2 * time.Second
	// parallel is how many requests to the engine are under way at a time: it does
	// some of the work of each alone and the rest together.
	parallel = 16
)

// engine is a connection that outlives restarts of the engine.
type engine struct {
	*client.Client

	mu    sync.Mutex
	asked time.Time // when the generation was last asked for
	last  generation
}

// generation tells one run of the engine's process from the next. The engine makes its
// default network anew at each start, unless containers run on (live-restore).
type generation struct {
	id      string    // of that network; "" if the engine has none
	created time.Time // when it began
}

// defaultBridge is the network that every engine makes for itself.
const defaultBridge = "bridge"

// generation asks the engine which of its runs this is.
func (e *engine) generation(ctx context.Context) (generation, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	n, err := e.NetworkInspect(ctx, defaultBridge, network.InspectOptions{})
	if errdefs.IsNotFound(err) {
		return generation{}, nil
	}
	return generation{n.ID, n.Created}, err
}

// generationAfter returns the generation as it was after t, of an engine that takes new
// connections. Many containers that end together need one question.
func (e *engine) generationAfter(ctx context.Context, t time.Time) (generation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked.After(t) {
		return e.last, nil
	}
	for {
		now := time.Now()
		err := e.pingAnew(ctx)
		if err == nil {
			var g generation
			if g, err = e.generation(ctx); err == nil {
				e.asked, e.last = now, g
				return g, nil
			}
		}
		if pause(ctx) != nil {
			return generation{}, errors.Join(ctx.Err(), err)
		}
	}
}

// pingAnew asks over a new connection: an engine that goes down still answers on
// those that are open, while it ends its containers.
func (e *engine) pingAnew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := e.Dialer()(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(askTimeout)); err != nil {
		return err
	}
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

// await returns when an engine answers. Errors: ctx.Err().
func (e *engine) await(ctx context.Context) error {
	for {
		short, cancel := context.WithTimeout(ctx, askTimeout)
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

// do calls f until an engine has answered it.
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

// inspect returns a container once an engine has answered.
func (e *engine) inspect(ctx context.Context, id string) (c container.InspectResponse, err error) {
	err = e.do(ctx, func() (err error) {
		c, err = e.ContainerInspect(ctx, id)
		return err
	})
	return c, err
}

// noTimeout has the engine send the stop signal and leave it at that: the agent
// counts the grace period, for all containers together.
const noTimeout = -1

// send asks a container to end (signal ""), or sends it a signal. It is no error if
// the container has ended.
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

// forEach calls f for each index below n, some at a time, and returns the first error.
func forEach(n int, f func(i int) error) error {
	var all errgroup.Group
	all.SetLimit(parallel)
	for i := range n {
		all.Go(func() error { return f(i) })
	}
	return all.Wait()
}
