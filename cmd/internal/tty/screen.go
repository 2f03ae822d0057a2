package tty

import (
	"bytes"
	"io"
	"sync"
)

// Screen is a writer for messages beside the output of an app's terminal: while
// the user's terminal is in raw mode, a newline needs a carriage return.
type Screen struct {
	W io.Writer

	mu  sync.Mutex
	raw bool
}

// SetRaw turns carriage returns on or off.
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
