package docker

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
)

const (
	// comeback is the pause between two looks for an engine that went away.
	comeback = 200 * time.Millisecond
	// lifeTime bounds the question whether the engine still lives.
	lifeTime = 2 * time.Second
)

// engine is a connection that outlives restarts of what is at its other end.
type engine struct {
	*client.Client

	mu     sync.Mutex
	looked time.Time // when life was last asked for
	last   life
}

// life tells one run of the engine's process from the next. The engine makes its
// default network anew at each start, unless containers run on (live-restore).
type life struct {
	id      string    // of that network; "" if the engine has none
	created time.Time // when it began
}

// defaultBridge is the network that every engine makes for itself.
const defaultBridge = "bridge"

// life asks the engine which of its lives this is.
func (e *engine) life(ctx context.Context) (life, error) {
	ctx, cancel := context.WithTimeout(ctx, lifeTime)
	defer cancel()
	n, err := e.NetworkInspect(ctx, defaultBridge, network.InspectOptions{})
	if errdefs.IsNotFound(err) {
		return life{}, nil
	}
	return life{n.ID, n.Created}, err
}

// lifeAfter is life as it is known after a moment, when an engine takes new
// connections: many containers that end together need one question.
func (e *engine) lifeAfter(ctx context.Context, t time.Time) (life, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.looked.After(t) {
		return e.last, nil
	}
	for {
		now := time.Now()
		err := e.fresh(ctx)
		if err == nil {
			var l life
			if l, err = e.life(ctx); err == nil {
				e.looked, e.last = now, l
				return l, nil
			}
		}
		select {
		case <-ctx.Done():
			return life{}, errors.Join(ctx.Err(), err)
		case <-time.After(comeback):
		}
	}
}

// fresh asks over a new connection: an engine that goes down still answers on
// those that are open, while it ends its containers.
func (e *engine) fresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lifeTime)
	defer cancel()
	conn, err := e.Dialer()(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(lifeTime)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// await returns when an engine answers, or with the context's error.
func (e *engine) await(ctx context.Context) error {
	for {
		short, cancel := context.WithTimeout(ctx, lifeTime)
		_, err := e.Ping(short)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(comeback):
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

// endsEarly reports an answer that was cut off.
func endsEarly(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
