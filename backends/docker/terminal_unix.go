//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"torchx/backends/bundled"
	"torchx/backends/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
)

// OpenTerminal connects to the terminal of an app.
func (b *Backend) OpenTerminal(_ context.Context, id string, o backend.TerminalOptions) (backend.Terminal, error) {
	return bundled.OpenTerminal(b.Apps, id, o)
}

// terminal passes what clients type to the container of the only replica. Input that no attempt
// has taken goes to the next one.
type terminal struct {
	ctx    context.Context //nolint:containedctx // of the launcher
	engine *engine
	input  *ttypipe.Listener
	log    *log.Logger

	mu      sync.Mutex
	changed *sync.Cond
	size    backend.TerminalSize
	current *connection // nil between attempts
	ended   bool        // a client sent the end of the input
	closed  bool
}

// connection is the terminal of a container.
type connection struct {
	types.HijackedResponse

	id string // of the container
}

// newTerminal listens for clients. A killed agent may have left its FIFO.
func newTerminal(ctx context.Context, b agent.Bundle, size backend.TerminalSize, e *engine, l *log.Logger) (*terminal, error) {
	path := bundled.TerminalInput(b)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace the terminal's input: %w", err)
	}
	input, err := ttypipe.Listen(path)
	if err != nil {
		return nil, err
	}
	t := &terminal{ctx: ctx, engine: e, input: input, log: l, size: size}
	t.changed = sync.NewCond(&t.mu)
	go t.listen()
	go t.sendEnds()
	return t, nil
}

// attach connects to a container, which need not run yet.
func (t *terminal) attach(ctx context.Context, id string) (*connection, error) {
	c, err := t.engine.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, err
	}
	return &connection{c, id}, nil
}

// use passes input to a connection from now on; its container has started.
func (t *terminal) use(c *connection) {
	t.mu.Lock()
	t.current = c
	size := t.size
	t.changed.Broadcast()
	t.mu.Unlock()
	t.setSize(c, size)
}

// release ends a connection.
func (t *terminal) release(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == c {
		t.current = nil
	}
	c.Close()
	t.changed.Broadcast()
}

// close stops listening.
func (t *terminal) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if err := t.input.Close(); err != nil {
		t.log.Printf("close the terminal's input: %v", err)
	}
	t.changed.Broadcast()
}

// listen handles the messages of clients.
func (t *terminal) listen() {
	t.input.Each(func(m ttypipe.Message) {
		switch m.Kind {
		case ttypipe.Input:
			t.setEnded(false) // another client still sends input
			t.write(m.Data)
		case ttypipe.Size:
			t.resize(backend.TerminalSize{Rows: m.Rows, Cols: m.Cols})
		case ttypipe.End:
			t.setEnded(true)
		}
	}, func(err error) { t.log.Print(err) })
}

func (t *terminal) setEnded(ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = ended
	t.changed.Broadcast()
}

// await returns the current connection when there is one other than failed, nil at the end.
func (t *terminal) await(failed *connection, ended bool) *connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed && (t.current == nil || t.current == failed || ended && !t.ended) {
		t.changed.Wait()
	}
	if t.closed {
		return nil
	}
	return t.current
}

// write sends input to the container, or to that of the next attempt.
func (t *terminal) write(p []byte) {
	var failed *connection
	for len(p) > 0 {
		c := t.await(failed, false)
		if c == nil {
			return
		}
		n, err := c.Conn.Write(p)
		if p = p[n:]; err != nil {
			failed = c
		}
	}
}

// sendEnds sends EOF characters after the end of the input, again and again.
func (t *terminal) sendEnds() {
	for pause := backend.MinEOFPause; ; pause = min(2*pause, backend.MaxEOFPause) {
		c := t.await(nil, true)
		if c == nil {
			return
		}
		_, _ = c.Conn.Write([]byte{backend.EndOfFile}) // a lost connection is replaced
		time.Sleep(pause)
	}
}

func (t *terminal) resize(size backend.TerminalSize) {
	t.mu.Lock()
	t.size = size
	c := t.current
	t.mu.Unlock()
	if c != nil {
		t.setSize(c, size)
	}
}

// setSize sets the size of a container's terminal; it fails if the container has ended.
func (t *terminal) setSize(c *connection, size backend.TerminalSize) {
	ctx, cancel := context.WithTimeout(t.ctx, pingTimeout)
	defer cancel()
	_ = t.engine.ContainerResize(ctx, c.id, container.ResizeOptions{Height: uint(size.Rows), Width: uint(size.Cols)})
}
