package position

import (
	"bytes"
	"context"
	"maps"
	"sync"

	"torchx/runtime/backend"
)

// Lines describes how a view prints lines.
type Lines struct {
	Whole    bool // only ended lines: JSON, or a regex
	Prefixed bool // each line has a prefix
}

// Reader reads a log from a position on. The underlying reader starts at the first
// line that was not shown to its end. Next is called by one goroutine, Written and
// Position by another.
type Reader struct {
	backend.LogReader
	lines Lines
	// growing is the first attempt that may still write: where only whole lines are
	// shown, its last line is left for the next reading until it has ended.
	growing int
	skip    map[backend.Stream]int64 // bytes at the start of the first lines that were shown

	mu      sync.Mutex
	read    Position                 // after the blocks that Next returned
	held    map[backend.Stream]int64 // of read.Open: kept by the formatter until the line ends
	pending []Position               // after each block that is not written
	count   int64                    // blocks written
	written Position                 // after those
}

// NewReader returns a reader of what r has after a position; growing is the first
// attempt that may still write.
func NewReader(r backend.LogReader, from Position, lines Lines, growing int) *Reader {
	return &Reader{
		LogReader: r, lines: lines, growing: growing, skip: maps.Clone(from.Open),
		read: from.without(nil), written: from.without(nil), held: map[backend.Stream]int64{},
	}
}

// Next returns the next block, without the part that was printed before.
func (r *Reader) Next(ctx context.Context) (backend.Block, error) {
	for {
		b, err := r.LogReader.Next(ctx)
		if err != nil {
			return b, err
		}
		if r.accept(&b) {
			return b, nil
		}
	}
}

// accept moves the position past a block and trims it; it reports whether something is left
// to print.
func (r *Reader) accept(b *backend.Block) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.advance(b) {
		return false
	}
	r.pending = append(r.pending, r.read.without(r.held))
	return true
}

func (r *Reader) advance(b *backend.Block) bool {
	if b.Attempt != r.read.Attempt {
		r.read = Position{Attempt: b.Attempt}
		r.skip, r.held = nil, map[backend.Stream]int64{}
	}
	if b.Skipped > 0 {
		r.read.Lines += b.Skipped
		delete(r.read.Open, b.Stream)
		delete(r.skip, b.Stream)
		delete(r.held, b.Stream)
	}
	if b.Notice != "" {
		return true
	}
	r.trimShown(b)
	if len(b.Data) == 0 {
		return false
	}
	ends := b.Data[len(b.Data)-1] == '\n'
	if r.lines.Whole && !ends && !b.Partial && b.Attempt >= r.growing {
		last := bytes.LastIndexByte(b.Data, '\n') + 1
		if b.Data = b.Data[:last]; last == 0 {
			return false
		}
	}
	r.read.advance(b.Stream, b.Data)
	r.countHeld(b)
	return true
}

// countHeld counts the bytes that the formatter keeps until the line ends.
func (r *Reader) countHeld(b *backend.Block) {
	last := bytes.LastIndexByte(b.Data, '\n')
	if last >= 0 || !b.Partial {
		delete(r.held, b.Stream)
	}
	if r.lines.Whole && b.Partial {
		r.held[b.Stream] += int64(len(b.Data) - 1 - last)
	}
}

// trimShown removes the part of a line that was shown. If only the line's end is
// left, that is removed, too, where it would get its own prefix.
func (r *Reader) trimShown(b *backend.Block) {
	shown := r.skip[b.Stream]
	if shown == 0 {
		return
	}
	at := min(shown, int64(len(b.Data)))
	if i := bytes.IndexByte(b.Data[:at], '\n'); i >= 0 {
		at = int64(i)
	}
	if b.Data = b.Data[at:]; len(b.Data) > 0 {
		delete(r.skip, b.Stream)
	} else {
		r.skip[b.Stream] = shown - at
	}
	if len(b.Data) > 0 && b.Data[0] == '\n' && (r.lines.Prefixed || r.lines.Whole) {
		r.read.advance(b.Stream, b.Data[:1])
		b.Data = b.Data[1:]
	}
}

// Written records how many of the returned blocks are written, in total.
func (r *Reader) Written(count int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := int(count - r.count); more > 0 {
		r.written, r.count = r.pending[more-1], count
		r.pending = append(r.pending[:0], r.pending[more:]...)
	}
}

// Position returns the position after all blocks that are written.
func (r *Reader) Position() Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 { // includes the bytes trimmed after the last block
		return r.read.without(r.held)
	}
	return r.written.without(nil)
}
