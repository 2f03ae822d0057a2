package logstore

import (
	"bytes"
	"sync"
)

// maxTapLine is how much of a line is passed to the function, from its start.
const maxTapLine = 64 << 10

// Tap splits the bytes of both streams into lines, until its function returns true. A nil
// tap ignores everything.
type Tap struct {
	mu      sync.Mutex // each stream may have its own goroutine
	line    func([]byte) bool
	partial [2][]byte // the unfinished line of each stream
}

// NewTap returns a tap that calls line with each line, without its end, until it returns
// true; nil if line is nil.
func NewTap(line func([]byte) bool) *Tap {
	if line == nil {
		return nil
	}
	return &Tap{line: line}
}

// Feed adds bytes that were read from a stream.
func (t *Tap) Feed(stream Stream, p []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.line != nil && len(p) > 0 {
		chunk, rest, whole := bytes.Cut(p, []byte{'\n'})
		start := t.partial[stream]
		if !whole {
			t.partial[stream] = append(start, chunk[:min(len(chunk), maxTapLine-len(start))]...)
			return
		}
		if len(start) > 0 {
			chunk = append(start, chunk[:min(len(chunk), maxTapLine-len(start))]...)
			t.partial[stream] = start[:0]
		}
		if t.line(bytes.TrimSuffix(chunk, []byte{'\r'})) {
			t.line, t.partial = nil, [2][]byte{}
		}
		p = rest
	}
}
