// Package position remembers how far each replica's log was printed, for `log --new`.
//
// A Tracker belongs to one reading of one app. It selects what to read of a replica
// by the recorded Position (Options), wraps the replica's log in a Reader, which
// skips what was printed, and records the new positions as logview reports
// blocks to be written (Written, Save). A position is recorded for each replica and stream.
package position

import (
	"bytes"
	"maps"

	"torchx/runtime/backend"
)

// Position is how far the log of one replica was printed.
type Position struct {
	Attempt int   `json:"attempt"`
	Lines   int64 `json:"lines"` // ended lines of that attempt
	// Open is the number of bytes shown of a stream's last line, which has not ended.
	Open map[backend.Stream]int64 `json:"open,omitempty"`
}

// without returns a copy in which the bytes in held do not count as printed.
func (p *Position) without(held map[backend.Stream]int64) Position {
	c := Position{Attempt: p.Attempt, Lines: p.Lines}
	for s, n := range p.Open {
		if n -= held[s]; n > 0 {
			c.addOpen(s, n)
		}
	}
	return c
}

func (p *Position) addOpen(s backend.Stream, n int64) {
	if p.Open == nil {
		p.Open = map[backend.Stream]int64{}
	}
	p.Open[s] += n
}

func (p *Position) equal(q *Position) bool {
	return p.Attempt == q.Attempt && p.Lines == q.Lines && maps.Equal(p.Open, q.Open)
}

// advance moves the position past data.
func (p *Position) advance(stream backend.Stream, data []byte) {
	last := bytes.LastIndexByte(data, '\n')
	p.Lines += int64(bytes.Count(data, []byte{'\n'}))
	if last >= 0 {
		delete(p.Open, stream)
	}
	if rest := len(data) - 1 - last; rest > 0 {
		p.addOpen(stream, int64(rest))
	}
}
