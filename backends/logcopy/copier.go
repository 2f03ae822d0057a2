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
	// restEvery and restBytes bound what lies between two cursors in a flood.
	commitInterval = time.Second
	commitBytes    = 1 << 20
	// maxReplies is how often a source may answer with an error in the place of a log
	// that is complete: then it has none.
	maxReplies = 5
)

// Position tells entries that the sink has from new ones. A *Line and an *Offset are
// positions.
type Position interface {
	// start says from where on the next stream is asked for.
	start(follow bool) Options
	// begin is called when that stream has begun.
	begin(to Sink)
	// take writes what is new of a piece.
	take(c *copier, p Entry) error
	// searching reports whether the place to go on from has not come yet.
	searching() bool
	// lose gives up the search: what came instead is new.
	lose(c *copier) error
	// finish marks the log as complete; tail, if any, is its last line, which has no newline.
	finish(c *copier, tail *Entry) error
	// move accounts for bytes that the sink added by itself; saved: the cursor has to be
	// saved at once.
	move(before, after [2]int64) (saved bool)
	// changed reports whether the position is another one since the last call.
	changed() bool
	// complete reports whether the log was finished.
	complete() bool
}

// copier copies one log.
type copier struct {
	from Source
	to   Sink
	pos  Position
	mode Mode

	last        ending
	retry       retry
	committed   time.Time
	uncommitted int64 // bytes written since the last rest
}

// ending is what is known of the end of the log from the streams so far.
type ending struct {
	finite bool   // the next stream is read to its end, without following
	polls  bool   // no stream is followed any more
	whole  bool   // a stream was followed to its own end, and nothing came since
	before bool   // whole, before this stream
	began  int64  // size of the sink then
	came   bool   // this stream brought anything
	tail   *Entry // an open line at its end
}

// retry is what is known of trouble.
type retry struct {
	since   time.Time // when it began; zero: there is none
	pause   time.Duration
	quiet   time.Duration
	replies int // errors in the place of the log, in a row
}

func (r *retry) reset(t Timing) { r.pause, r.quiet = t.Backoff, t.IdleTimeout }

// run opens stream after stream until the log is complete.
func (c *copier) run(ctx context.Context) (done bool, err error) {
	for {
		state, changed := c.from.State()
		switch {
		case state == NeverStarted:
			return true, nil
		case state == Gone:
			return true, c.gone()
		case state == Waiting && !c.mode.Follow:
			return false, nil
		case state == Waiting:
			if err := sleep(ctx, changed, c.mode.Timing.IdleTimeout); err != nil {
				return false, err
			}
			continue
		}
		follow := c.mode.Follow && state == Running && !c.last.finite && !c.last.polls
		size, began := c.size(), time.Now()
		stalled, err := c.stream(ctx, follow)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, errTooShort):
			continue
		case errors.Is(err, ErrPoll):
			c.last.polls = true
			continue
		}
		if !stalled {
			if over, done, err := c.judge(state, follow, err); over {
				return done, err
			}
		}
		searching := c.pos.searching()
		c.last.finite = stalled && searching || follow && searching && errors.Is(err, io.EOF)
		if c.size() > size || time.Since(began) > c.mode.Timing.ResetAfter {
			c.retry.reset(c.mode.Timing)
		} else if stalled {
			c.retry.quiet = min(2*c.retry.quiet, c.mode.Timing.MaxIdleTimeout)
		}
		if stalled {
			continue
		}
		if err := c.wait(ctx, changed); err != nil {
			return false, err
		}
	}
}

// judge tells from the end of a stream whether the copy is over.
func (c *copier) judge(state State, follow bool, err error) (over, done bool, _ error) {
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
		return true, true, c.gone()
	case errors.Is(err, ErrNotStarted):
		return !c.mode.Follow, false, nil
	case clean && !follow && state == Ended:
		return true, true, c.pos.finish(c, c.last.tail)
	case clean && !follow && !c.mode.Follow:
		return true, false, nil
	case clean:
		c.last.whole = c.mode.TrustEOF && (follow && !c.pos.searching() || c.last.before && c.size() == c.last.began)
		c.retry.since, c.retry.replies = time.Time{}, 0
		return false, false, nil
	case errors.As(err, &reply):
		c.last.whole = c.last.before && reply.Removed
		if c.retry.replies++; state == Ended && c.retry.replies >= maxReplies {
			return true, true, c.removed(reply)
		}
	}
	if c.retry.since.IsZero() {
		c.retry.since = time.Now()
	}
	if c.mode.GiveUpAfter > 0 && time.Since(c.retry.since) > c.mode.GiveUpAfter {
		return true, false, err
	}
	return false, false, nil
}

// stream copies one answer of the source. stalled: it was ended here because nothing came.
func (c *copier) stream(ctx context.Context, follow bool) (stalled bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := c.pos.start(follow)
	o.Follow, o.AfterEOF = follow, c.last.whole
	in, err := c.from.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer in.Close()
	c.last.came, c.last.before, c.last.whole, c.last.began = false, c.last.whole, false, c.size()
	c.pos.begin(c.to)
	g := newGuard(c.mode.Timing, c.retry.quiet)
	g.searching.Store(c.pos.searching())
	if follow && c.retry.quiet > 0 {
		var guarding sync.WaitGroup
		guarding.Go(func() { g.watch(ctx, c.from, cancel) })
		defer guarding.Wait()
		defer cancel()
	}
	err = c.takeAll(in, g)
	if c.pos.searching() && !follow && errors.Is(err, io.EOF) && (c.last.came || !c.last.before) {
		if lost := c.pos.lose(c); lost != nil {
			return false, lost
		}
	}
	if rested := c.commit(); rested != nil {
		return false, rested
	}
	return g.stopped.Load(), err
}

func (c *copier) takeAll(in Stream, g *guard) error {
	for {
		p, err := in.Next()
		switch {
		case err != nil:
			return err
		case p.Gap != "":
			err = c.gap(p.Gap)
		case p.Open:
			c.last.tail = p.keep()
		default:
			c.last.came, c.last.tail = true, nil
			c.retry.since, c.retry.replies = time.Time{}, 0
			err = c.pos.take(c, p)
			g.searching.Store(c.pos.searching())
		}
		waits := in.MayBlock()
		if waits {
			g.heard()
		}
		if err == nil && (waits || c.uncommitted >= commitBytes || time.Since(c.committed) >= commitInterval) {
			err = c.commit()
		}
		if err != nil {
			return err
		}
	}
}

// size is what the sink has of both streams.
func (c *copier) size() int64 {
	s := c.to.Sizes()
	return s[0] + s[1]
}

func (c *copier) write(p Entry) error {
	c.uncommitted += int64(len(p.Data))
	return ofSink(c.to.Write(p.Stream, p.Time, p.Data))
}

func (c *copier) gap(text string) error {
	before := c.to.Sizes()
	if err := ofSink(c.to.Gap(text)); err != nil {
		return err
	}
	if c.pos.move(before, c.to.Sizes()) {
		return ofSink(c.to.Commit(true, true))
	}
	return nil
}

// rest tells the sink where to go on.
func (c *copier) commit() error {
	c.committed, c.uncommitted = time.Now(), 0
	return ofSink(c.to.Commit(c.pos.changed(), c.pos.complete()))
}

// removed is the end of a log that the source no longer has.
func (c *copier) removed(r *ReplyError) error {
	if c.last.whole {
		return c.pos.finish(c, c.last.tail)
	}
	return c.gap("gap: " + r.Text)
}

// gone is the end of a log that can no longer be read.
func (c *copier) gone() error {
	if c.last.whole {
		return c.pos.finish(c, c.last.tail)
	}
	if c.pos.searching() {
		if err := c.pos.lose(c); err != nil {
			return err
		}
	}
	return errors.Join(c.gap(c.mode.GapGone), c.pos.finish(c, nil))
}

// wait makes a pause, longer each time, that ends when the source changes.
func (c *copier) wait(ctx context.Context, changed <-chan struct{}) error {
	d := c.retry.pause/2 + rand.N(c.retry.pause) // not all at once when a server comes back
	c.retry.pause = min(2*c.retry.pause, c.mode.Timing.MaxBackoff)
	return sleep(ctx, changed, d)
}

func sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
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

// sinkError is trouble on this side: another stream will not help.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return fmt.Sprintf("keep log: %v", e.err) }
func (e *sinkError) Unwrap() error { return e.err }

func ofSink(err error) error {
	if err == nil {
		return nil
	}
	return &sinkError{err}
}
