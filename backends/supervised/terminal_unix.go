//go:build unix

package supervised

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"torchx/backends/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// inputFile is the name of the FIFO in the bundle through which clients send input.
const inputFile = "tty.fifo"

// dialInterval is the pause between attempts to connect to an agent that is not listening yet.
const dialInterval = 5 * time.Millisecond

// TerminalInput returns the path of the FIFO on which the agent of an app with a terminal listens
// (package ttypipe).
func TerminalInput(b agent.Bundle) string { return filepath.Join(b.Dir, inputFile) }

// terminal is a client's connection. It reads output from the log, which has every byte,
// and sends input to the agent.
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
func (t Terminals) OpenTerminal(
	_ context.Context, id string, o backend.TerminalOptions,
) (backend.Terminal, error) {
	bundle := t.Bundle(id)
	m, err := bundle.Manifest()
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.Backend != t.Backend {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	if m.TTY == nil {
		return nil, backend.Errorf(backend.ErrUnsupported,
			"app %s has no terminal: it was not started with --tty", id)
	}
	r := spec.Replica{Role: m.App.Roles[0].Name}
	source, err := t.Source(id, r)
	if err != nil {
		return nil, err
	}
	output, err := logstore.OpenRaw(source, o)
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	hasEnded := func() bool {
		_, done, err := source.State()
		return done || err != nil
	}
	return &terminal{output: output, path: TerminalInput(bundle), hasEnded: hasEnded, closed: make(chan struct{})}, nil
}

// Next waits for output.
func (t *terminal) Next(ctx context.Context) (backend.TerminalOutput, error) {
	return t.output.Next(ctx)
}

// send sends a message to the agent, again if the agent was replaced by a new one.
func (t *terminal) send(message func(*ttypipe.Sender) error) error {
	for {
		s, err := t.connect()
		if err != nil {
			return err
		}
		if err = message(s); !errors.Is(err, ttypipe.ErrNoListener) || t.hasEnded() {
			return err
		}
		t.disconnect(s)
	}
}

// disconnect forgets a connection without a listener.
func (t *terminal) disconnect(s *ttypipe.Sender) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sender == s {
		t.sender = nil
		s.Close()
	}
}

// connect returns the connection and waits until the agent listens. It fails after Close,
// because nothing could end a blocked Write then.
func (t *terminal) connect() (*ttypipe.Sender, error) {
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
		notYet := errors.Is(err, fs.ErrNotExist) || errors.Is(err, ttypipe.ErrNoListener)
		if !notYet || t.hasEnded() {
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

// Write sends input to the agent.
func (t *terminal) Write(p []byte) (sent int, err error) {
	err = t.send(func(s *ttypipe.Sender) error {
		n, err := s.Write(p[sent:])
		sent += n
		return err
	})
	return sent, err
}

// CloseInput sends EOF to the replica.
func (t *terminal) CloseInput() error { return t.send((*ttypipe.Sender).End) }

// Resize sets the size of the terminal.
func (t *terminal) Resize(size backend.TerminalSize) error {
	return t.send(func(s *ttypipe.Sender) error { return s.Resize(size.Rows, size.Cols) })
}

// Close closes the connection.
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
