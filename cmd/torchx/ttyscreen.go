package main

import (
	"bytes"
	"io"
	"sync"
)

// ttyScreen is where messages go beside the output of an app's terminal: while
// ours is in raw mode, a line's end needs a carriage return.
type ttyScreen struct {
	w io.Writer

	mu  sync.Mutex
	raw bool
}

func (s *ttyScreen) setRaw(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = on
}

func (s *ttyScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.raw {
		return s.w.Write(p)
	}
	if _, err := s.w.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
