package logstore

import (
	"bytes"
	"sync"
)

// maxTapLine is how much of the beginning of a line is looked at.
const maxTapLine = 64 << 10

// Tap cuts what is read from both streams into lines, for as long as
// the caller looks for one. A nil tap takes no notice of anything.
type Tap struct {
	mu      sync.Mutex // the streams may be read by a goroutine each
	line    func([]byte) bool
	partial [2][]byte // the unfinished line of each stream
}

// NewTap returns a tap that hands each line, without its end, to a function until
// that returns true; nil if there is none.
func NewTap(line func([]byte) bool) *Tap {
	if line == nil {
		return nil
	}
	return &Tap{line: line}
}

// Feed takes what was read from a stream.
func (t *Tap) Feed(stream Stream, p []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.line != nil && len(p) > 0 {
		chunk, rest, whole := bytes.Cut(p, []byte{'\n'})
		begun := t.partial[stream]
		if !whole {
			t.partial[stream] = append(begun, chunk[:min(len(chunk), maxTapLine-len(begun))]...)
			return
		}
		if len(begun) > 0 {
			chunk = append(begun, chunk[:min(len(chunk), maxTapLine-len(begun))]...)
			t.partial[stream] = begun[:0]
		}
		if t.line(bytes.TrimSuffix(chunk, []byte{'\r'})) {
			t.line, t.partial = nil, [2][]byte{}
		}
		p = rest
	}
}
