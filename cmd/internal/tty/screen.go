package tty

import (
	"bytes"
	"io"
	"sync"
)

// Screen writes messages to a terminal that also shows an app's terminal. In raw mode a
// newline needs a carriage return.
type Screen struct {
	W io.Writer

	mu  sync.Mutex
	raw bool
}

// SetRaw sets whether newlines get carriage returns.
func (s *Screen) SetRaw(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = on
}

func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.raw {
		return s.W.Write(p)
	}
	if _, err := s.W.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
