//go:build unix

package docker

import (
	"context"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"torchx/runtime/backend"
)

// connection is the terminal of a container.
type connection struct {
	types.HijackedResponse

	ctx    context.Context //nolint:containedctx // of the launcher
	engine *engine
	id     string // of the container
}

// attach connects to the terminal of a container, which need not run yet.
func (l *launcher) attach(id string) (*connection, error) {
	o := container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true}
	c, err := l.engine.ContainerAttach(l.ctx, id, o)
	if err != nil {
		return nil, err
	}
	return &connection{c, l.ctx, l.engine, id}, nil
}

func (c *connection) Write(p []byte) (int, error) { return c.Conn.Write(p) }

// HasUnread returns false: the engine does not tell.
func (c *connection) HasUnread() bool { return false }

// Resize sets the size of a container's terminal; it fails if the container has ended.
func (c *connection) Resize(size backend.TerminalSize) {
	ctx, cancel := context.WithTimeout(c.ctx, pingTimeout)
	defer cancel()
	o := container.ResizeOptions{Height: uint(size.Rows), Width: uint(size.Cols)}
	_ = c.engine.ContainerResize(ctx, c.id, o)
}
