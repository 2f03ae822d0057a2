//go:build unix

package docker

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
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

// terminalBuffer is the most output that is written to the log at once, in bytes.
const terminalBuffer = 64 << 10

// copyTerminal writes what a container prints on its terminal to the log in the bundle. The
// engine's own log has a line only when it ends, which hides prompts, so its attached stream is
// read. Errors are only logged: they must not end the app.
func (l *launcher) copyTerminal(r *run) {
	dir := l.layout.ReplicaDir(r.replica, r.attempt)
	to, err := logcopy.OpenLog(dir)
	if err != nil {
		l.log.Printf("log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
		return
	}
	to.StartedAt, to.Checkpoint, to.Tap = r.startedAt, l.checkpoints.Of(r.replica, r.attempt), logstore.NewTap(r.onLine)
	to.Save = func() error { return nil }
	err = l.copyTerminalInto(r, to)
	if l.ctx.Err() == nil {
		err = errors.Join(err, logcopy.WriteCursor(dir, logcopy.OffsetCursor{Done: true}))
	}
	if err = errors.Join(err, to.Close()); err != nil && l.ctx.Err() == nil {
		l.log.Printf("log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
	}
}

func (l *launcher) copyTerminalInto(r *run, to *logcopy.Log) error {
	c := r.terminal // attached before the start, unless a former agent started the container
	for {
		if c != nil {
			err := l.readTerminal(c, to)
			l.terminal.Release(c)
			if err != nil {
				return err
			}
			select {
			case <-r.ended:
			case <-time.After(retryPause):
			case <-l.ctx.Done():
				return l.ctx.Err()
			}
		}
		state, err := l.engine.inspect(l.ctx, r.id)
		switch {
		case errdefs.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		running := state.State.Running || state.State.Paused
		whole := c != nil && c == r.terminal && l.engineLostAt.Load() < r.startedAt.UnixNano()
		c = nil
		if running {
			if c, err = l.attach(r.id); err != nil {
				if err := pause(l.ctx); err != nil { // it has ended, or the engine is lost: inspect waits for it
					return err
				}
				continue
			}
			l.terminal.Use(c)
		}
		if !running && whole {
			return nil
		}
		if err := l.addMissed(r, to); err != nil {
			l.log.Printf("output of %s/%d that was not read: %v", r.replica.Role,
				r.replica.ID, plain(err))
		}
		if !running {
			return nil
		}
	}
}

// readTerminal copies the stream of a connection until its end.
func (l *launcher) readTerminal(c *connection, to *logcopy.Log) error {
	buf := make([]byte, terminalBuffer)
	for {
		n, ended := c.Reader.Read(buf)
		if n > 0 {
			l.logs.progress.Add(1)
			if err := to.Write(logstore.Stdout, time.Now(), buf[:n]); err != nil {
				return err
			}
			if err := to.Flush(); err != nil {
				return err
			}
		}
		if ended != nil {
			return nil //nolint:nilerr // the container, or its engine, ended the stream
		}
	}
}

// addMissed appends what the engine's log has and the copy lacks: what was printed while
// nothing was attached.
func (l *launcher) addMissed(r *run, to *logcopy.Log) error {
	body, err := l.engine.ContainerLogs(l.ctx, r.id,
		container.LogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return err
	}
	defer body.Close()
	if _, err := io.CopyN(io.Discard, body, to.Sizes()[logstore.Stdout]); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil // the log lacks the beginning of a line, which the copy has
		}
		return err
	}
	buf := make([]byte, terminalBuffer)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			l.logs.progress.Add(1)
			if err := errors.Join(to.Write(logstore.Stdout, time.Now(), buf[:n]), to.Flush()); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
