// Package logcopy copies a log that a remote system keeps into a local one: each
// line once and in order, however often the connection is cut, the copier is killed
// or the remote log is rotated. Docker and Kubernetes use it.
//
//	Source ── Stream of Entries ──► Copy ──► Sink (a Log: chunks, gaps, cursor.json)
//	                                │
//	                             Position: which pieces the sink already has
//
// A source can be asked for entries from a time on, so entries come again after each
// cut. There are two ways to tell those from new ones:
//
//	Line    looks for the last line taken, by its time, content and number among the
//	        lines of that time. For sources of one stream whose times are rough.
//	Offset  counts the bytes behind the first entry of a time, stream by stream. For
//	        sources that begin exactly at the time of an entry.
//
// What the two backends do differently is said by their Mode and Source:
//
//	            Docker                           Kubernetes
//	cursor      a time and both offsets          the last line, its offset and pod
//	saved       every second                     every second, and in the history
//	cut         waits until the engine answers   backs off up to 5 s, with jitter
//	silence     is normal                        opens another stream after a minute
//	end         read again without following     trusted if the stream ended by itself
package logcopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"torchx/runtime/logstore"
)

// Errors of Source.Open, apart from trouble that may pass.
var (
	// ErrNotStarted: there is no log yet.
	ErrNotStarted = errors.New("the container has not started")
	// ErrGone: the source no longer has the log.
	ErrGone = errors.New("the pod is gone")
	// ErrRefused: this user may not read the log.
	ErrRefused = errors.New("reading the log is refused")
)

// ErrPoll is returned by Stream.Next where followers would miss entries: from
// here on the log is read again and again without following.
var ErrPoll = errors.New("the log is about to rotate")

// GapRotated is shown where the source has thrown entries away.
const GapRotated = "gap: rotated"

// State is how far the writer of a log is.
type State int

// The states, in order.
const (
	Waiting State = iota // no log yet
	Running
	Ended        // the log is complete
	Gone         // the log can no longer be read
	NeverStarted // it did not start and will not
)

// Source is one remote log.
type Source interface {
	// Open asks for the log. Errors: ErrNotStarted, ErrGone, ErrRefused,
	// *UnreadableError; any other may pass.
	Open(ctx context.Context, o Options) (Stream, error)
	// State returns what was last seen of the writer; the channel is closed when
	// there is more to see.
	State() (State, <-chan struct{})
}

// Options selects what Source.Open sends.
type Options struct {
	Since    time.Time // entries of this time or later, at least; zero: all
	Follow   bool      // go on until the log is complete
	Tail     int64     // only that many entries, the last ones; 0: all
	AfterEOF bool      // the stream before ended by itself, so the writer probably ended
}

// Stream is one answer of a source.
type Stream interface {
	// Next returns the next piece. Errors: io.EOF, *ReplyError, *UnreadableError,
	// ErrPoll, or that of the connection.
	Next() (Entry, error)
	// MayBlock reports whether Next may have to wait for the source.
	MayBlock() bool
	io.Closer
}

// Entry is a line, or a part of a long one.
type Entry struct {
	Stream      logstore.Stream
	Time        time.Time // of its line
	Data        []byte    // valid until the next piece
	First, Last bool      // the line begins, ends with it; the last piece has the newline
	// Open marks a line that has no newline where the stream ends. It is taken only
	// when the log is complete.
	Open bool
	// Gap, if not empty, stands in the place of data: entries can be missing here.
	Gap string
}

// keep returns the piece with data of its own.
func (p Entry) keep() *Entry {
	p.Data = bytes.Clone(p.Data)
	return &p
}

// ReplyError is an error that a source sends in the place of the log, or within it.
type ReplyError struct {
	Text    string
	Removed bool // the source does not have the log any more
}

// Error implements error.
func (e *ReplyError) Error() string { return fmt.Sprintf("the node says: %s", e.Text) }

// UnreadableError ends a copy: the log cannot be read, now or later.
type UnreadableError struct {
	Gap string // noted in the copy; "": nothing is
	Err error
}

// Error implements error.
func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Sink takes a log. It is called from one goroutine.
type Sink interface {
	// Sizes returns the bytes that it has of stdout and stderr.
	Sizes() [2]int64
	// Last returns the time of what it has last; zero if it has nothing.
	Last() time.Time
	// Write takes what follows. p is valid during the call only.
	Write(s logstore.Stream, t time.Time, p []byte) error
	// Gap notes that entries can be missing here. A line that it cuts gets a newline.
	Gap(text string) error
	// Commit is called when no more has come for now, and now and then in a flood.
	// Another copy may go on from the position, if the sink has everything until then;
	// changed: it is another one than at the last call; now: it has to be saved at once.
	Commit(changed, now bool) error
}

// Mode says how Copy goes on.
type Mode struct {
	// Follow copies until the log is complete; else only what is there now.
	Follow bool
	// GiveUpAfter is how long trouble may last before it is an error; 0: for ever.
	GiveUpAfter time.Duration
	// GapGone is noted when the log is gone before it was read to its end.
	GapGone string
	// TrustEOF says that a followed stream which ends by itself has sent everything.
	TrustEOF bool
	Timing   Timing
}

// Timing is how fast streams follow one another, and when a silent one is given up.
type Timing struct {
	Backoff, MaxBackoff         time.Duration // between streams that bring nothing; doubled each time
	ResetAfter                  time.Duration // a stream that lasted so long brought something
	SearchTimeout               time.Duration // silence after which a line that is looked for does not come
	IdleTimeout, MaxIdleTimeout time.Duration // silence after which a stream is taken for dead; 0: never
	EndTimeout                  time.Duration // how long a stream may go on when the writer has ended
}

// Copy copies a log behind what the sink has of it. done: the log is complete and
// need not be looked at again. Errors: ErrRefused, *UnreadableError, errors of the
// sink, ctx.Err(), and trouble that lasts.
func Copy(ctx context.Context, from Source, to Sink, at Position, m Mode) (done bool, err error) {
	c := &copier{from: from, to: to, pos: at, mode: m}
	c.retry.reset(m.Timing)
	done, err = c.run(ctx)
	return done, errors.Join(err, c.commit())
}
