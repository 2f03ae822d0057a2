package logcopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// commitInterval and commitBytes bound what lies between two commits in a flood.
	commitInterval = time.Second
	commitBytes    = 1 << 20
	// maxReplies is how often in a row a source may reply with an error instead of a
	// complete log; then it no longer has the log.
	maxReplies = 5
)

// Position tells entries that the sink already has from new ones. It is implemented by
// *LinePosition and *OffsetPosition.
type Position interface {
	// options returns from where on the next stream is opened.
	options(follow bool) Options
	// begin is called when that stream is open.
	begin(to Sink, afterEOF bool)
	// consume writes the new part of an entry.
	consume(c *copier, e Entry) error
	// searching reports whether the stream has not reached the cursor yet.
	searching() bool
	// stopSearch gives up the search for the cursor: it notes a gap, if text is not "", and the
	// entries read instead count as new.
	stopSearch(c *copier, text string) error
	// finish marks the log as complete; tail, if not nil, is its last line, which has no newline.
	finish(c *copier, tail *Entry) error
	// shift accounts for bytes that the sink added by itself. It reports whether the cursor
	// has to be saved immediately.
	shift(before, after [2]int64) (moved bool)
	// changed reports whether the position changed since the last call.
	changed() bool
	// complete reports whether the log is complete.
	complete() bool
}

// copier copies one log.
type copier struct {
	from Source
	to   Sink
	pos  Position
	mode Mode

	last        streamState
	retry       retry
	committed   time.Time
	uncommitted int64 // bytes written since the last commit
}

// streamState is what the streams so far have shown about the end of the log.
type streamState struct {
	readOnce  bool   // read the next stream to its end without following
	polling   bool   // do not follow any more
	atEOF     bool   // a followed stream reached EOF, and nothing new arrived since
	prevAtEOF bool   // atEOF before the current stream
	startSize int64  // of the sink when the current stream began, in bytes
	received  bool   // the current stream sent an entry
	tail      *Entry // last line of the current stream, if it has no newline
}

// retry is the state of the back-off between streams.
type retry struct {
	failingSince time.Time // zero: the last stream did not fail
	backoff      time.Duration
	idleTimeout  time.Duration
	replies      int // errors received instead of the log, in a row
}

func (r *retry) reset(t Timing) { r.backoff, r.idleTimeout = t.Backoff, t.IdleTimeout }

// run opens stream after stream until the log is complete.
func (c *copier) run(ctx context.Context) (done bool, err error) {
	for {
		state, changed := c.from.State()
		switch {
		case state == NeverStarted:
			return true, nil
		case state == Gone:
			return true, c.finishGone()
		case state == Waiting && !c.mode.Follow:
			return false, nil
		case state == Waiting:
			if err := Sleep(ctx, changed, c.mode.Timing.IdleTimeout); err != nil {
				return false, err
			}
			continue
		}
		follow := c.mode.Follow && state == Running && !c.last.readOnce && !c.last.polling
		size, start := c.size(), time.Now()
		stalled, err := c.stream(ctx, follow)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, errTailTooShort):
			continue
		case errors.Is(err, ErrPoll):
			c.last.polling = true
			continue
		}
		if !stalled {
			if stop, done, err := c.handleEnd(state, follow, err); stop {
				return done, err
			}
		}
		searching := c.pos.searching()
		c.last.readOnce = stalled && searching || follow && searching && errors.Is(err, io.EOF)
		if c.size() > size || time.Since(start) > c.mode.Timing.ResetAfter {
			c.retry.reset(c.mode.Timing)
		} else if stalled {
			c.retry.idleTimeout = min(2*c.retry.idleTimeout, c.mode.Timing.MaxIdleTimeout)
		}
		if stalled {
			continue
		}
		if err := c.backOff(ctx, changed); err != nil {
			return false, err
		}
	}
}

// handleEnd decides after a stream that ended with err whether to stop copying.
func (c *copier) handleEnd(state State, follow bool, err error) (stop, done bool, _ error) {
	var failed *sinkError
	var unreadable *UnreadableError
	var reply *ReplyError
	clean := errors.Is(err, io.EOF)
	switch {
	case errors.As(err, &failed), errors.Is(err, ErrRefused):
		return true, false, err
	case errors.As(err, &unreadable):
		if unreadable.Gap != "" {
			err = errors.Join(err, c.gap(unreadable.Gap))
		}
		return true, true, err
	case errors.Is(err, ErrGone):
		return true, true, c.finishGone()
	case errors.Is(err, ErrNotStarted):
		return !c.mode.Follow, false, nil
	case clean && !follow && state == Ended:
		return true, true, c.pos.finish(c, c.last.tail)
	case clean && !follow && !c.mode.Follow:
		return true, false, nil
	case clean:
		c.last.atEOF = c.mode.TrustEOF && (follow && !c.pos.searching() || c.last.prevAtEOF && c.size() == c.last.startSize)
		c.retry.failingSince, c.retry.replies = time.Time{}, 0
		return false, false, nil
	case errors.As(err, &reply):
		c.last.atEOF = c.last.prevAtEOF && reply.Removed
		if c.retry.replies++; state == Ended && c.retry.replies >= maxReplies {
			return true, true, c.finishRemoved(reply)
		}
	}
	if c.retry.failingSince.IsZero() {
		c.retry.failingSince = time.Now()
	}
	if c.mode.GiveUpAfter > 0 && time.Since(c.retry.failingSince) > c.mode.GiveUpAfter {
		return true, false, err
	}
	return false, false, nil
}

// stream opens and copies one stream. stalled: the guard ended it because it was silent.
func (c *copier) stream(ctx context.Context, follow bool) (stalled bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := c.pos.options(follow)
	o.Follow, o.AfterEOF = follow, c.last.atEOF
	in, err := c.from.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer in.Close()
	c.last.received, c.last.prevAtEOF, c.last.atEOF, c.last.startSize = false, c.last.atEOF, false, c.size()
	c.pos.begin(c.to, c.last.prevAtEOF)
	g := newGuard(c.mode.Timing, c.retry.idleTimeout)
	g.searching.Store(c.pos.searching())
	if follow && c.retry.idleTimeout > 0 {
		var wg sync.WaitGroup
		wg.Go(func() { g.watch(ctx, c.from, cancel) })
		defer wg.Wait()
		defer cancel()
	}
	err = c.consumeAll(in, g)
	if c.pos.searching() && !follow && errors.Is(err, io.EOF) &&
		(c.last.received || !c.last.prevAtEOF) {
		text := GapRotated
		if state, _ := c.from.State(); state != Running && !c.last.received {
			text = GapEmpty // it was deleted with its writer, or rotated
		}
		if err := c.pos.stopSearch(c, text); err != nil {
			return false, err
		}
	}
	if err := c.commit(); err != nil {
		return false, err
	}
	return g.stopped.Load(), err
}

func (c *copier) consumeAll(in Stream, g *guard) error {
	for {
		e, err := in.Next()
		switch {
		case err != nil:
			return err
		case e.Gap != "":
			err = c.gap(e.Gap)
		case e.Open:
			c.last.tail = e.keep()
		default:
			c.last.received, c.last.tail = true, nil
			c.retry.failingSince, c.retry.replies = time.Time{}, 0
			err = c.pos.consume(c, e)
			g.searching.Store(c.pos.searching())
		}
		drained := in.MayBlock()
		if drained {
			g.touch()
		}
		if err == nil && (drained || c.uncommitted >= commitBytes || time.Since(c.committed) >= commitInterval) {
			err = c.commit()
		}
		if err != nil {
			return err
		}
	}
}

// size returns the bytes that the sink has of both streams.
func (c *copier) size() int64 {
	s := c.to.Sizes()
	return s[0] + s[1]
}

func (c *copier) write(e Entry) error {
	c.uncommitted += int64(len(e.Data))
	return wrapSink(c.to.Write(e.Stream, e.Time, e.Data))
}

func (c *copier) gap(text string) error {
	before := c.to.Sizes()
	if err := wrapSink(c.to.Gap(text)); err != nil {
		return err
	}
	if c.pos.shift(before, c.to.Sizes()) {
		return wrapSink(c.to.Commit(true, true))
	}
	return nil
}

// commit tells the sink that the position covers all that was written.
func (c *copier) commit() error {
	c.committed, c.uncommitted = time.Now(), 0
	return wrapSink(c.to.Commit(c.pos.changed(), c.pos.complete()))
}

// finishRemoved ends the copy of a log that the source no longer has.
func (c *copier) finishRemoved(r *ReplyError) error {
	if c.last.atEOF {
		return c.pos.finish(c, c.last.tail)
	}
	return c.gap("gap: " + r.Text)
}

// finishGone ends the copy of a log that can no longer be read.
func (c *copier) finishGone() error {
	if c.last.atEOF {
		return c.pos.finish(c, c.last.tail)
	}
	if c.pos.searching() {
		if err := c.pos.stopSearch(c, ""); err != nil { // it was not rotated: it is gone
			return err
		}
	}
	return errors.Join(c.gap(c.mode.GapGone), c.pos.finish(c, nil))
}

// backOff waits, longer each time. A change of the source ends the wait.
func (c *copier) backOff(ctx context.Context, changed <-chan struct{}) error {
	d := c.retry.backoff/2 + rand.N(c.retry.backoff) // spread the copiers when a server comes back
	c.retry.backoff = min(2*c.retry.backoff, c.mode.Timing.MaxBackoff)
	return Sleep(ctx, changed, d)
}

// Sleep waits for d, for a change, or until ctx is done, whose error it then returns. changed may
// be nil.
func Sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-t.C:
	}
	return nil
}

// sinkError is a failure of the sink: opening another stream does not help.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return fmt.Sprintf("keep log: %v", e.err) }
func (e *sinkError) Unwrap() error { return e.err }

func wrapSink(err error) error {
	if err == nil {
		return nil
	}
	return &sinkError{err}
}
