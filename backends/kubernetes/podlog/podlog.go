// Package podlog copies the log of one container from a Kubernetes API server,
// each line once and in order, however often the connection is cut.
//
// The server can only be asked for lines from a whole second on. So the same lines
// come again after each cut, and the last one that was taken (its time in
// nanoseconds, its content, how many of that time there were) is looked for among
// them: all up to it is known, all behind it is new. If it is not there, the node
// has thrown it away meanwhile, perhaps with lines behind it: that is a gap.
package podlog

import (
	"context"
	"errors"
	"io"
	"time"
)

// What Container.Open fails with, apart from trouble that passes.
var (
	// ErrNotStarted says that the container has no log yet.
	ErrNotStarted = errors.New("the container has not started")
	// ErrGone says that there is no such container, and no log of it, any more.
	ErrGone = errors.New("the pod is gone")
	// ErrRefused says that the server will not let this user read the log.
	ErrRefused = errors.New("reading the log is refused")
)

// Texts of gaps, which readers show where lines can be missing.
const (
	GapRotated = "gap: rotated"
	GapDeleted = "gap: the pod was deleted before its log was read to the end"
)

// State is how far a container is.
type State int

// The states, in the order of a container's life.
const (
	Waiting State = iota // it has no log yet
	Running
	Ended // its log is complete
	Gone  // … and cannot be read any more
	Never // it did not start and will not
)

// Container is one run of one container.
type Container interface {
	// Open asks for the log with the time before each line. Errors: ErrNotStarted,
	// ErrGone, ErrRefused; any other is trouble that may pass.
	Open(ctx context.Context, o Options) (io.ReadCloser, error)
	// State is what was seen last of the container; the channel is closed when
	// there is more to see.
	State() (State, <-chan struct{})
}

// Options selects what Open sends.
type Options struct {
	Since  time.Time // lines of this whole second or later; zero: all
	Follow bool      // go on until the container has ended
	Tail   int64     // only so many lines, the last ones; 0: all
	Ended  bool      // the stream before came to its own end, so the container probably did
}

// Sink takes a log. It is called from one goroutine.
type Sink interface {
	// Size is how many bytes of the log it has.
	Size() int64
	// Write takes what comes behind them: a line with its newline, a part of a long
	// one, or a last line that has none. p is valid during the call only.
	Write(t time.Time, p []byte) error
	// Gap says that lines can be missing here. Size may be another afterwards.
	Gap(text string) error
	// Rest is called when no more has come for now, and now and then in a flood;
	// Copy may go on from c later, if the sink has everything until then.
	Rest(c Cursor) error
}

// Mode says how long Copy goes on.
type Mode struct {
	// Follow copies until the container has ended; else only what is there now.
	Follow bool
	// Patience is how long trouble may last before it is an error; 0: for ever.
	Patience time.Duration

	timing *timing // nil: the usual one
}

// Copy copies the log of a container behind what the sink has of it; cur is what
// the sink was told last, or a zero Cursor. done says that the log is complete: it
// need not be looked at again. Errors: ErrRefused, what the sink fails with,
// ctx.Err(), and trouble that lasts.
func Copy(ctx context.Context, from Container, to Sink, cur Cursor, m Mode) (done bool, err error) {
	c := newCopier(from, to, cur, m)
	done, err = c.run(ctx)
	return done, errors.Join(err, c.rest())
}

// LastTime is the time of the last line that Open has sent; zero if it sent none.
func LastTime(r io.Reader) (last time.Time, err error) {
	in := newParser(r, false)
	for {
		p, err := in.next()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		last = p.time
	}
}
