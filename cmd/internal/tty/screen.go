package tty

import (
	"bytes"
	"io"
	"sync"
)

// TtyScreen is where messages go beside the output of an app's terminal: while
// ours is in raw mode, a line's end needs a carriage return.
type TtyScreen struct {
	W io.Writer

	mu  sync.Mutex
	raw bool
}

// SetRaw turns carriage returns on or off.
func (s *TtyScreen) SetRaw(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = on
}

func (s *TtyScreen) Write(p []byte) (int, error) {
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
