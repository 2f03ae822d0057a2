// Package logcopy copies a remote log into a local one: every line once and in order,
// even if connections break, the copier is killed or the remote log is rotated. Lines
// that are lost leave a gap, which readers see. Docker and Kubernetes use it.
//
//	Source ── Stream of Entries ──► Copy ──► Sink (a Log: chunks, gaps, cursor.json)
//	                                 │
//	                              Position: which entries the sink already has
//
// Copy opens streams until the log is complete. After an interruption it opens the next
// one at the time of the saved cursor, so the source sends some entries again. A
// Position skips those:
//
//	LinePosition    searches the last line copied, by its time, content and number among
//	                the lines with that time. For sources of one stream that round times.
//	OffsetPosition  counts the bytes after the first entry with a time, per stream. For
//	                sources that start exactly at the time of an entry.
//
// The backends differ in their Mode and Source:
//
//	               Docker                           Kubernetes
//	cursor         a time and both offsets          the last line, its offset and pod
//	saved          every second                     every second, and in the history
//	disconnected   waits until the engine answers   backs off up to 5 s, with jitter
//	silent         normal                           opens another stream after a minute
//	EOF            reads again without following    trusted if a followed stream sends it
package logcopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"torchx/runtime/logstore"
)

// Errors of Source.Open. Copy retries after any other error.
var (
	// ErrNotStarted: the log does not exist yet.
	ErrNotStarted = errors.New("the container has not started")
	// ErrGone: the source no longer has the log.
	ErrGone = errors.New("the pod is gone")
	// ErrRefused: this user may not read the log.
	ErrRefused = errors.New("reading the log is refused")
)

// ErrPoll is returned by Stream.Next where followers would miss entries: Copy then
// reads the log repeatedly without following.
var ErrPoll = errors.New("the log is about to rotate")

// GapRotated is shown where the source no longer has entries.
const GapRotated = "gap: rotated"

// GapEmpty is the notice at the end of a log of which nothing is left.
const GapEmpty = "gap: the log is no longer there"

// State is the state of the writer of a log.
type State int

// The states, in order.
const (
	Waiting State = iota // no log yet
	Running
	Ended        // the log is complete
	Gone         // the log can no longer be read
	NeverStarted // the writer did not start and will not
)

// Source is one remote log.
type Source interface {
	// Open opens a stream of the log. Errors: ErrNotStarted, ErrGone, ErrRefused,
	// *UnreadableError, and others, which are retried.
	Open(ctx context.Context, o Options) (Stream, error)
	// State returns the last known state of the writer. The channel is closed when the
	// state changes.
	State() (State, <-chan struct{})
}

// Options selects what Source.Open sends.
type Options struct {
	Since    time.Time // at least the entries of this time or later; zero: all
	Follow   bool      // wait for new entries until the log is complete
	Tail     int64     // only the last Tail entries; 0: all
	AfterEOF bool      // the previous stream reached EOF, so the writer has probably ended
}

// Stream is one response of a source.
type Stream interface {
	// Next returns the next entry. Errors: io.EOF, *ReplyError, *UnreadableError,
	// ErrPoll, or an error of the connection.
	Next() (Entry, error)
	// MayBlock reports whether the next call of Next may wait for the source.
	MayBlock() bool
	io.Closer
}

// Entry is a line, or a part of a long line.
type Entry struct {
	Stream      logstore.Stream
	Time        time.Time // of its line
	Data        []byte    // valid until the next call of Next
	First, Last bool      // first, last part of its line; the last part has the newline
	// Open marks a line without a newline at the end of the stream. It is copied only
	// when the log is complete.
	Open bool
	// Gap, if not empty, replaces all other fields: entries may be missing here.
	Gap string
}

// keep returns a copy of the entry that remains valid.
func (e Entry) keep() *Entry {
	e.Data = bytes.Clone(e.Data)
	return &e
}

// ReplyError is an error message that a source sends instead of the log, or within it.
type ReplyError struct {
	Text    string
	Removed bool // the source no longer has the log
}

// Error implements error.
func (e *ReplyError) Error() string { return fmt.Sprintf("the node replied: %s", e.Text) }

// UnreadableError ends a copy: the log cannot be read, now or later.
type UnreadableError struct {
	Gap string // noted in the copy, if not empty
	Err error
}

// Error implements error.
func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Sink receives a log. It is called from one goroutine.
type Sink interface {
	// Sizes returns the sizes of stdout and stderr, in bytes.
	Sizes() [2]int64
	// Last returns the time of the last entry; zero if the sink is empty.
	Last() time.Time
	// Write appends an entry. p is valid during the call only.
	Write(s logstore.Stream, t time.Time, p []byte) error
	// Gap notes that entries may be missing here. A line that it interrupts gets a newline.
	Gap(text string) error
	// Commit is called when the source pauses, and about every second otherwise. Once the
	// sink has written everything up to the position, a later copy may resume from it.
	// changed: the position changed since the last call; now: save it immediately.
	Commit(changed, now bool) error
}

// Mode selects how Copy retries and when it ends.
type Mode struct {
	// Follow copies until the log is complete; otherwise Copy ends after the entries that it has
	// now.
	Follow bool
	// GiveUpAfter is how long streams may fail before Copy returns the error; 0: forever.
	GiveUpAfter time.Duration
	// GapGone is the gap noted if the log disappears before it was read to its end.
	GapGone string
	// TrustEOF says that a followed stream that ends with EOF has sent everything.
	TrustEOF bool
	Timing   Timing
}

// Timing sets the pauses between streams and the timeouts of silent ones.
type Timing struct {
	Backoff, MaxBackoff         time.Duration // between streams without new entries; doubled each time
	ResetAfter                  time.Duration // a stream that lasts this long resets the back-off
	SearchTimeout               time.Duration // silence after which the search for the cursor's line ends
	IdleTimeout, MaxIdleTimeout time.Duration // silence after which a stream counts as dead; 0: never
	EndTimeout                  time.Duration // how long a stream may last after the writer ended
}

// Copy appends to the sink what is missing of a log. done: the log is complete and need
// not be copied again. Errors: ErrRefused, *UnreadableError, errors of the sink,
// ctx.Err(), and failures that last longer than GiveUpAfter.
func Copy(ctx context.Context, from Source, to Sink, at Position, m Mode) (done bool, err error) {
	c := &copier{from: from, to: to, pos: at, mode: m}
	c.retry.reset(m.Timing)
	done, err = c.run(ctx)
	return done, errors.Join(err, c.commit())
}

// guard ends a stream that stays silent: its node or proxy disappeared without closing
// it, or the kubelet lost track of a rotated log.
type guard struct {
	idleTimeout time.Duration
	timing      Timing
	searching   atomic.Bool
	last        atomic.Int64 // Unix time of the last byte, in ns
	stopped     atomic.Bool
}

func newGuard(t Timing, idleTimeout time.Duration) *guard {
	g := &guard{idleTimeout: idleTimeout, timing: t}
	g.touch()
	return g
}

// touch restarts the idle time.
func (g *guard) touch() { g.last.Store(time.Now().UnixNano()) }

// watch calls stop when the stream has to end. It returns then, or when ctx ends.
func (g *guard) watch(ctx context.Context, from Source, stop func()) {
	_, changed := from.State()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var deadline <-chan time.Time // of a stream whose writer has ended
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			var s State
			if s, changed = from.State(); s >= Ended && deadline == nil {
				deadline = time.After(g.timing.EndTimeout)
			}
			continue
		case <-deadline:
		case <-timer.C:
			if d := g.remaining(); d > 0 {
				timer.Reset(d)
				continue
			}
		}
		g.stopped.Store(true)
		stop()
		return
	}
}

// remaining returns when to check again. If it is not positive, the stream was silent too long.
func (g *guard) remaining() time.Duration {
	idle := time.Since(time.Unix(0, g.last.Load()))
	if g.searching.Load() {
		return g.timing.SearchTimeout - idle
	}
	return min(g.idleTimeout-idle, max(g.timing.SearchTimeout, g.idleTimeout/4))
}
