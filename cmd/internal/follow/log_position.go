package follow

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"torchx/runtime/backend"
)

// position is how far `log --new` has come in the log of one replica.
type position struct {
	Attempt int   `json:"attempt"`
	Lines   int64 `json:"lines"` // with an end, of that attempt
	// Open is how many bytes were shown of a stream's last line, which has no end yet.
	Open map[backend.Stream]int64 `json:"open,omitempty"`
}

// clone returns a copy without what is in held.
func (p *position) clone(held map[backend.Stream]int64) position {
	c := position{Attempt: p.Attempt, Lines: p.Lines}
	for s, n := range p.Open {
		if n -= held[s]; n > 0 {
			if c.Open == nil {
				c.Open = map[backend.Stream]int64{}
			}
			c.Open[s] = n
		}
	}
	return c
}

func (p *position) equal(q *position) bool {
	return p.Attempt == q.Attempt && p.Lines == q.Lines && maps.Equal(p.Open, q.Open)
}

// advance goes on by what a block holds.
func (p *position) advance(stream backend.Stream, data []byte) {
	last := bytes.LastIndexByte(data, '\n')
	p.Lines += int64(bytes.Count(data, []byte{'\n'}))
	if last >= 0 {
		delete(p.Open, stream)
	}
	if rest := len(data) - 1 - last; rest > 0 {
		if p.Open == nil {
			p.Open = map[backend.Stream]int64{}
		}
		p.Open[stream] += int64(rest)
	}
}

// newLines reads a log from a position on, whose reader begins at the first line
// that was not seen to its end, and keeps account of what was written. Next is
// called by one goroutine, the rest by another.
type newLines struct {
	backend.LogReader
	whole bool // lines are shown whole only: JSON, a regex
	lined bool // lines get prefixes
	// tail is the attempt from which on a last line without an end is left for
	// later where lines are shown whole.
	tail int
	from position
	skip map[backend.Stream]int64 // bytes at the start of from's lines that were shown

	mu    sync.Mutex
	now   position
	held  map[backend.Stream]int64 // of now.Open: kept by the formatter, not shown
	queue []position               // after each block that is not dealt with
	count int64                    // blocks dealt with
	done  position                 // after those
}

func newNewLines(r backend.LogReader, from position) *newLines {
	return &newLines{
		LogReader: r, from: from, skip: maps.Clone(from.Open), now: from.clone(nil), done: from.clone(nil),
		held: map[backend.Stream]int64{},
	}
}

// Next hands out the next block with what was not shown before.
func (n *newLines) Next(ctx context.Context) (backend.Block, error) {
	for {
		b, err := n.LogReader.Next(ctx)
		if err != nil {
			return b, err
		}
		n.mu.Lock()
		show := n.take(&b)
		if show {
			n.queue = append(n.queue, n.now.clone(n.held))
		}
		n.mu.Unlock()
		if show {
			return b, nil
		}
	}
}

// take cuts off what was shown before and advances; false: nothing is left.
func (n *newLines) take(b *backend.Block) bool {
	if b.Attempt != n.now.Attempt {
		n.now = position{Attempt: b.Attempt}
		n.skip, n.held = nil, map[backend.Stream]int64{}
	}
	if b.Skipped > 0 {
		n.now.Lines += b.Skipped
		delete(n.now.Open, b.Stream)
		delete(n.skip, b.Stream)
		delete(n.held, b.Stream)
	}
	if b.Notice != "" {
		return true
	}
	n.cut(b)
	if len(b.Data) == 0 {
		return false
	}
	ends := b.Data[len(b.Data)-1] == '\n'
	if n.whole && !ends && !b.Partial && b.Attempt >= n.tail {
		last := bytes.LastIndexByte(b.Data, '\n') + 1
		if b.Data = b.Data[:last]; last == 0 {
			return false
		}
	}
	n.now.advance(b.Stream, b.Data)
	n.hold(b)
	return true
}

// hold notes what the formatter keeps until the line ends.
func (n *newLines) hold(b *backend.Block) {
	last := bytes.LastIndexByte(b.Data, '\n')
	if last >= 0 || !b.Partial {
		delete(n.held, b.Stream)
	}
	if n.whole && b.Partial {
		n.held[b.Stream] += int64(len(b.Data) - 1 - last)
	}
}

// cut removes the part of a line that was shown before; of a line that only its
// end was missing of, nothing is left to show where it would get a prefix.
func (n *newLines) cut(b *backend.Block) {
	seen := n.skip[b.Stream]
	if seen == 0 {
		return
	}
	at := min(seen, int64(len(b.Data)))
	if i := bytes.IndexByte(b.Data[:at], '\n'); i >= 0 {
		at = int64(i)
	}
	if b.Data = b.Data[at:]; len(b.Data) > 0 {
		delete(n.skip, b.Stream)
	} else {
		n.skip[b.Stream] = seen - at
	}
	if len(b.Data) > 0 && b.Data[0] == '\n' && (n.lined || n.whole) {
		n.now.advance(b.Stream, b.Data[:1])
		b.Data = b.Data[1:]
	}
}

// written notes how many blocks are dealt with.
func (n *newLines) written(count int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if more := int(count - n.count); more > 0 {
		n.done, n.count = n.queue[more-1], count
		n.queue = append(n.queue[:0], n.queue[more:]...)
	}
}

// reached is the position after all that is dealt with.
func (n *newLines) reached() position {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 { // with what was cut off behind the last block
		return n.now.clone(n.held)
	}
	return n.done.clone(nil)
}
