package logview

import (
	"sync"
	"time"
)

// restTime is how long the output must rest before a note is made that no later attempt
// follows yet: the last lines of an attempt are read a little after its end is known.
const restTime = 150 * time.Millisecond

// Note is something to tell a user between the lines of logs.
type Note struct {
	// After is the attempt whose lines come before the note; those of later ones come after.
	After int
	// Make makes the note, elsewhere than in the output. midLine: what was written so far
	// does not end with a newline.
	Make func(midLine bool)
}

// Notes are made at their place while Copy follows logs, and at once when it has ended.
type Notes struct {
	mu      sync.Mutex
	pending []Note
	closed  bool
	wake    chan struct{}
}

// NewNotes returns notes that wait for Copy to take them.
func NewNotes() *Notes { return &Notes{wake: make(chan struct{}, 1)} }

// Add adds a note.
func (n *Notes) Add(note Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		note.Make(false)
		return
	}
	n.pending = append(n.pending, note)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Close makes the pending notes; later ones are made at once.
func (n *Notes) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	for _, note := range n.pending {
		note.Make(false)
	}
	n.pending = nil
}

// take returns the notes up to the last one that comes before lines of an attempt.
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

// placedNote is a note and where in the buffered output it belongs.
type placedNote struct {
	Note
	at      int
	midLine bool
}

// place puts the notes before lines of an attempt at the end of the buffered output.
func (fo *follower) place(attempt int) {
	if fo.notes == nil {
		return
	}
	for _, note := range fo.notes.take(attempt) {
		if fo.f.lined {
			fo.f.freshLine()
		}
		fo.placed = append(fo.placed, placedNote{note, len(fo.f.out), fo.f.open != nowhere})
	}
}

// rest is how long the output has to rest until pending notes are made.
func (fo *follower) rest() time.Duration {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	return restTime - time.Since(fo.grewAt)
}
