//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"torchx/backends/local/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// inputFile is the FIFO in the bundle by which input reaches a terminal.
const inputFile = "tty.fifo"

// dialInterval is how often an agent that does not listen yet is tried.
const dialInterval = 5 * time.Millisecond

func inputPath(b agent.Bundle) string { return filepath.Join(b.Dir, inputFile) }

// terminal is a client's connection: output is read from the log, which has every
// byte, and input goes to the agent.
type terminal struct {
	output   *logstore.Raw
	path     string
	hasEnded func() bool // the app has ended
	closed   chan struct{}
	once     sync.Once

	mu     sync.Mutex
	sender *ttypipe.Sender // nil: not connected yet
}

// OpenTerminal connects to the terminal of an app.
func (b *Backend) OpenTerminal(_ context.Context, id string, o backend.TerminalOptions) (backend.Terminal, error) {
	bundle := b.Bundle(id)
	m, err := bundle.Manifest()
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.Backend != b.Backend {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	if m.TTY == nil {
		return nil, backend.Errorf(backend.ErrUnsupported, "app %s has no terminal: it was not started with --tty", id)
	}
	r := spec.Replica{Role: m.App.Roles[0].Name}
	source, err := b.Source(id, r)
	if err != nil {
		return nil, err
	}
	output, err := logstore.OpenRaw(source, o)
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	over := func() bool {
		_, done, err := source.State()
		return done || err != nil
	}
	return &terminal{output: output, path: inputPath(bundle), hasEnded: over, closed: make(chan struct{})}, nil
}

// Next waits for output.
func (t *terminal) Next(ctx context.Context) (backend.TerminalOutput, error) {
	return t.output.Next(ctx)
}

// connected waits until the agent listens. After Close it does not connect: nothing
// would end a Write that waits for room then.
func (t *terminal) connected() (*ttypipe.Sender, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.sender == nil {
		select {
		case <-t.closed:
			return nil, fs.ErrClosed
		default:
		}
		s, err := ttypipe.Dial(t.path)
		if err == nil {
			t.sender = s
			break
		}
		early := errors.Is(err, fs.ErrNotExist) || errors.Is(err, ttypipe.ErrNoListener)
		if !early || t.hasEnded() {
			return nil, err
		}
		select {
		case <-t.closed:
			return nil, fs.ErrClosed
		case <-time.After(dialInterval):
		}
	}
	return t.sender, nil
}

// Write passes input on.
func (t *terminal) Write(p []byte) (int, error) {
	s, err := t.connected()
	if err != nil {
		return 0, err
	}
	return s.Write(p)
}

// CloseInput lets the replica read an end of file.
func (t *terminal) CloseInput() error {
	s, err := t.connected()
	if err != nil {
		return err
	}
	return s.End()
}

// Resize sets the size.
func (t *terminal) Resize(size backend.TerminalSize) error {
	s, err := t.connected()
	if err != nil {
		return err
	}
	return s.Resize(size.Rows, size.Cols)
}

// Close ends the connection.
func (t *terminal) Close() error {
	t.once.Do(func() { close(t.closed) })
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.output.Close()
	if t.sender != nil {
		err = errors.Join(err, t.sender.Close())
	}
	return err
}
