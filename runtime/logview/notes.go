package logview

import (
	"sync"
	"time"
)

// idleTime is how long the output must be idle before a note is printed that no later
// attempt follows yet: the last lines of an attempt are read a little after its end is known.
const idleTime = 150 * time.Millisecond

// Note is a message to print between the lines of logs.
type Note struct {
	// After is the attempt whose lines precede the note; lines of later attempts follow it.
	After int
	// Print prints the note, outside the output. midLine: the output so far does not end
	// with a newline.
	Print func(midLine bool)
}

// Notes are printed at their places while Copy follows logs, and immediately once it has ended.
type Notes struct {
	mu      sync.Mutex
	pending []Note
	closed  bool
	wake    chan struct{}
}

// NewNotes returns notes that wait for Copy to print them.
func NewNotes() *Notes { return &Notes{wake: make(chan struct{}, 1)} }

// Add adds a note.
func (n *Notes) Add(note Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		note.Print(false)
		return
	}
	n.pending = append(n.pending, note)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Close prints the pending notes; later ones are printed immediately.
func (n *Notes) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	for _, note := range n.pending {
		note.Print(false)
	}
	n.pending = nil
}

// take removes and returns the notes up to the last one that precedes lines of an attempt.
func (n *Notes) take(attempt int) (due []Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.pending {
		if n.pending[i].After < attempt {
			due = n.pending[:i+1]
		}
	}
	n.pending = n.pending[len(due):]
	return due
}

// placedNote is a note with its place in the buffered output.
type placedNote struct {
	Note
	at      int
	midLine bool
}

// placeNotes puts the notes that precede lines of an attempt at the end of the buffered output.
func (fo *follower) placeNotes(attempt int) {
	if fo.notes == nil {
		return
	}
	for _, note := range fo.notes.take(attempt) {
		if fo.f.lined {
			fo.f.freshLine()
		}
		fo.placed = append(fo.placed, placedNote{note, len(fo.f.out), fo.f.open != lineStart})
	}
}

// idleTimeLeft returns how long the output must stay idle until pending notes are printed.
func (fo *follower) idleTimeLeft() time.Duration {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	return idleTime - time.Since(fo.grewAt)
}
