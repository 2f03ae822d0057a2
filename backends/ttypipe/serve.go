//go:build unix

package ttypipe

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"sync"
	"time"

	"torchx/runtime/backend"
)

// maxQueuedInput bounds the input that is queued for the replica, in bytes. If it is
// full the FIFO fills, and then clients block.
const maxQueuedInput = 64 << 10

// Terminal is the terminal of one attempt.
type Terminal interface {
	// Write writes input, or a part of it. After an error it gets no more.
	Write(p []byte) (n int, err error)
	// Resize sets the size, if the attempt has not ended.
	Resize(size backend.TerminalSize)
	// HasUnread reports whether the replica is known to have unread input.
	HasUnread() bool
	Close()
}

// Server is the agent's side of an app's terminal. It forwards the input of clients to the
// terminal of the only replica's attempt. Input that an attempt did not take goes to the next one.
type Server struct {
	input *Listener
	log   *log.Logger

	mu      sync.Mutex
	changed *sync.Cond
	size    backend.TerminalSize
	current Terminal // nil between attempts
	queue   []byte
	ended   bool // a client sent the end of the input
	closed  bool
}

// Serve listens for clients at a path, where a killed agent may have left its FIFO.
func Serve(path string, size backend.TerminalSize, l *log.Logger) (*Server, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace the terminal's input: %w", err)
	}
	input, err := Listen(path)
	if err != nil {
		return nil, err
	}
	s := &Server{input: input, log: l, size: size}
	s.changed = sync.NewCond(&s.mu)
	go s.listen()
	go s.forward()
	return s, nil
}

// Size returns the size of the terminal.
func (s *Server) Size() backend.TerminalSize {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Use makes a terminal the current one and sets its size.
func (s *Server) Use(t Terminal) {
	s.mu.Lock()
	s.current = t
	size := s.size
	s.changed.Broadcast()
	s.mu.Unlock()
	t.Resize(size)
}

// Release closes a terminal.
func (s *Server) Release(t Terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == t {
		s.current = nil
	}
	t.Close()
	s.changed.Broadcast()
}

// ReleaseCurrent closes the current terminal, if there is one. It does nothing if s is nil.
func (s *Server) ReleaseCurrent() {
	if s == nil {
		return
	}
	s.mu.Lock()
	t := s.current
	s.mu.Unlock()
	if t != nil {
		s.Release(t)
	}
}

// Close stops listening. It does nothing if s is nil.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if err := s.input.Close(); err != nil {
		s.log.Printf("close the terminal's input: %v", err)
	}
	s.changed.Broadcast()
}

// listen handles the messages of clients.
func (s *Server) listen() {
	s.input.Each(func(m Message) {
		switch m.Kind {
		case Input:
			s.enqueue(m.Data)
		case Size:
			s.resize(backend.TerminalSize{Rows: m.Rows, Cols: m.Cols})
		case End:
			s.end()
		}
	}, func(err error) { s.log.Print(err) })
}

func (s *Server) enqueue(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) >= maxQueuedInput && !s.closed {
		s.changed.Wait()
	}
	s.ended = false // another client still sends input
	s.queue = append(s.queue, p...)
	s.changed.Broadcast()
}

func (s *Server) resize(size backend.TerminalSize) {
	s.mu.Lock()
	s.size = size
	t := s.current
	s.mu.Unlock()
	if t != nil {
		t.Resize(size)
	}
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}

// forward writes queued input to the current terminal. After the end of the input it sends EOF
// characters, again and again: a terminal drops an EOF that arrives while a program changes its
// mode, as REPLs do around each line.
func (s *Server) forward() {
	pause := backend.MinEOFPause
	for {
		to, chunk := s.next()
		switch {
		case to == nil:
			return
		case len(chunk) > 0:
			n, err := to.Write(chunk)
			s.discard(to, n, err)
			pause = backend.MinEOFPause
		default:
			if !to.HasUnread() {
				_, _ = to.Write([]byte{backend.EndOfFile})
			}
			time.Sleep(pause)
			pause = min(2*pause, backend.MaxEOFPause)
		}
	}
}

// next waits for input to write. An empty chunk is the end of the input; a nil terminal
// means that the server is closed.
func (s *Server) next() (Terminal, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed && (s.current == nil || len(s.queue) == 0 && !s.ended) {
		s.changed.Wait()
	}
	if s.closed {
		return nil, nil
	}
	return s.current, s.queue[:min(len(s.queue), 4096)] // enqueue only appends after it
}

// discard removes input that was written. A terminal that failed gets no more.
func (s *Server) discard(to Terminal, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue[:0:0], s.queue[n:]...)
	if err != nil && s.current == to {
		s.current = nil
	}
	s.changed.Broadcast()
}
