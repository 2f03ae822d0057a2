package podlog

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
	restEvery = time.Second
	restBytes = 1 << 20
	// maxBodies is how often a node may answer with an error in the place of the log
	// of a container that has ended: then it has no log.
	maxBodies = 5
)

// copier copies one log.
type copier struct {
	from   Container
	to     Sink
	mode   Mode
	timing *timing

	cur  Cursor
	line line  // that passes
	pos  int64 // where it stands in the sink
	size int64 // of the sink

	// While it is looked for the cursor's line:
	searching bool
	nth       int     // lines of its time so far
	held      []piece // what is new if it does not come
	came      bool    // any line

	finite bool      // read to the end next, without following
	whole  bool      // a stream was followed to its own end, and nothing came since
	before bool      // … it was so before the last stream
	began  int64     // the sink's size then
	tail   *piece    // what it left without a newline
	since  time.Time // when trouble began; zero: there is none
	pause  time.Duration
	quiet  time.Duration
	bodies int // errors in the place of the log, in a row

	rested time.Time
	unsaid int64 // bytes since the sink was told a cursor
	dirty  bool
}

func newCopier(from Container, to Sink, cur Cursor, m Mode) *copier {
	c := &copier{from: from, to: to, mode: m, timing: m.timing, cur: cur, size: to.Size()}
	if c.timing == nil {
		c.timing = usual()
	}
	if cur.Offset > c.size { // the sink was cut: nothing is known of what it has
		c.cur = Cursor{}
	}
	c.pause, c.quiet = c.timing.pause, c.timing.quiet
	return c
}

// run opens stream after stream until the log is complete.
func (c *copier) run(ctx context.Context) (done bool, err error) {
	for {
		state, changed := c.from.State()
		switch {
		case state == Never:
			return true, nil
		case state == Gone:
			return true, c.deleted()
		case state == Waiting && !c.mode.Follow:
			return false, nil
		case state == Waiting:
			if err := sleep(ctx, changed, c.timing.quiet); err != nil {
				return false, err
			}
			continue
		}
		follow := c.mode.Follow && state == Running && !c.finite
		before := c.size
		began := time.Now()
		stalled, err := c.stream(ctx, follow)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if !stalled {
			if over, done, err := c.judge(state, follow, err); over {
				return done, err
			}
		}
		c.finite = stalled && c.searching || follow && c.searching && errors.Is(err, io.EOF)
		if c.size > before || time.Since(began) > c.timing.steady {
			c.pause, c.quiet = c.timing.pause, c.timing.quiet
		} else if stalled {
			c.quiet = min(2*c.quiet, c.timing.maxQuiet)
		}
		if stalled {
			continue
		}
		if err := c.wait(ctx, changed); err != nil {
			return false, err
		}
	}
}

// judge tells from the end of a stream whether all is over.
func (c *copier) judge(state State, follow bool, err error) (over, done bool, _ error) {
	var body *bodyError
	var failed *sinkError
	clean := errors.Is(err, io.EOF)
	switch {
	case errors.As(err, &failed), errors.Is(err, ErrRefused):
		return true, false, err
	case errors.Is(err, ErrGone):
		return true, true, c.deleted()
	case errors.Is(err, ErrNotStarted):
		return !c.mode.Follow, false, nil
	case clean && !follow && state == Ended:
		return true, true, c.finish()
	case clean && !follow && !c.mode.Follow:
		return true, false, nil
	}
	if clean {
		c.whole = follow && !c.searching || c.before && c.size == c.began
		c.since, c.bodies = time.Time{}, 0
		return false, false, nil
	}
	if errors.As(err, &body) {
		c.whole = c.before && body.removed()
		if c.bodies++; state == Ended && c.bodies >= maxBodies {
			return true, true, c.removed(body)
		}
	}
	if c.since.IsZero() {
		c.since = time.Now()
	}
	if c.mode.Patience > 0 && time.Since(c.since) > c.mode.Patience {
		return true, false, err
	}
	return false, false, nil
}

// stream copies one answer of the server. stalled says that it was ended here
// because nothing came.
func (c *copier) stream(ctx context.Context, follow bool) (stalled bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	since := c.cur.since()
	body, err := c.from.Open(ctx, Options{Since: since, Follow: follow, Ended: c.whole})
	if err != nil {
		return false, err
	}
	defer body.Close()
	c.begin()
	g := newGuard(c.timing, c.quiet)
	g.searching.Store(c.searching)
	if follow {
		var guarding sync.WaitGroup
		guarding.Go(func() { g.watch(ctx, c.from, cancel) })
		defer guarding.Wait()
		defer cancel()
	}
	in := newParser(body, !since.IsZero())
	err = c.takeAll(in, g)
	if c.searching && !follow && errors.Is(err, io.EOF) {
		if lost := c.missed(); lost != nil {
			return false, lost
		}
	}
	if rest, ok := in.last(); ok && errors.Is(err, io.EOF) {
		rest = rest.keep()
		c.tail = &rest
	}
	if serr := c.rest(); serr != nil {
		return false, serr
	}
	return g.stopped.Load(), err
}

// begin is for an answer from the cursor on.
func (c *copier) begin() {
	c.searching, c.nth, c.held, c.came = !c.cur.zero(), 0, nil, false
	c.before, c.whole, c.began = c.whole, false, c.size
	c.pos = 0
}

func (c *copier) takeAll(in *parser, g *guard) error {
	for {
		p, err := in.next()
		if err != nil {
			return err
		}
		c.came, c.tail = true, nil
		c.since, c.bodies = time.Time{}, 0
		if c.searching {
			err = c.search(p)
			g.searching.Store(c.searching)
		} else {
			c.line.add(p)
			err = c.pass(p)
		}
		rests := in.rests()
		if rests {
			g.heard()
		}
		if err == nil && (rests || c.unsaid >= restBytes || time.Since(c.rested) >= restEvery) {
			err = c.rest()
		}
		if err != nil {
			return err
		}
	}
}

// search looks for the cursor's line. All lines up to it are known.
func (c *copier) search(p piece) error {
	c.line.add(p)
	if p.first && p.time.After(c.cur.Max.Add(settle)) {
		if err := c.lose(); err != nil {
			return err
		}
		c.line = line{}
		c.line.add(p)
		return c.pass(p)
	}
	if c.line.time.Equal(c.cur.Time) {
		if p.first {
			c.nth++
		}
		if p.last && c.nth >= c.cur.Nth && c.line.sum == c.cur.Sum {
			c.searching, c.held, c.pos = false, nil, c.cur.Offset
			return nil
		}
	}
	if p.time.After(c.cur.Max) {
		c.held = append(c.held, p.keep())
	}
	return nil
}

// missed is the end of an answer without the cursor's line.
func (c *copier) missed() error {
	if !c.came && c.before {
		return nil // the stream before was read to its end, and nothing came since
	}
	return c.lose()
}

// lose tells of a gap and takes what came instead of the cursor's line.
func (c *copier) lose() error {
	c.searching = false
	if !c.cur.Lost {
		if err := c.gap(GapRotated); err != nil {
			return err
		}
	}
	c.cur.Lost, c.dirty = true, true
	c.size = c.to.Size()
	c.pos, c.cur.Offset = c.size, c.size
	held := c.held
	c.held = nil
	for _, p := range held {
		c.line.add(p)
		if err := c.pass(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) gap(text string) error {
	if err := c.to.Gap(text); err != nil {
		return &sinkError{err}
	}
	return nil
}

// pass hands on what the sink does not have.
func (c *copier) pass(p piece) error {
	end := c.pos + int64(len(p.data))
	if end > c.size {
		fresh := p.data[max(0, c.size-c.pos):]
		if err := c.to.Write(p.time, fresh); err != nil {
			return &sinkError{err}
		}
		c.unsaid += int64(len(fresh))
		c.size = end
	}
	c.pos = end
	if p.last {
		c.cur, c.dirty = c.cur.next(c.line, end), true
	}
	return nil
}

// rest tells the sink where to go on.
func (c *copier) rest() error {
	c.rested, c.unsaid = time.Now(), 0
	if !c.dirty {
		return nil
	}
	c.dirty = false
	if err := c.to.Rest(c.cur); err != nil {
		return &sinkError{err}
	}
	return nil
}

// finish takes the line without a newline at the end of a complete log.
func (c *copier) finish() error {
	var err error
	if !c.came { // the line is of an answer before
		c.searching, c.pos = false, c.cur.Offset
	}
	if c.tail != nil && !c.searching {
		c.line.add(*c.tail)
		err = c.pass(*c.tail)
	}
	c.cur.Done, c.dirty = true, true
	return err
}

// removed is the end of a log that the node has no more.
func (c *copier) removed(b *bodyError) error {
	if c.whole {
		return c.finish()
	}
	return c.gap("gap: " + b.text)
}

// deleted is the end of a log that cannot be read any more.
func (c *copier) deleted() error {
	if c.whole {
		return c.finish()
	}
	if c.searching {
		if err := c.lose(); err != nil {
			return err
		}
	}
	err := c.gap(GapDeleted)
	c.cur.Done, c.dirty = true, true
	return err
}

// wait makes a pause, longer each time, that ends when the container changes.
func (c *copier) wait(ctx context.Context, changed <-chan struct{}) error {
	d := c.pause/2 + rand.N(c.pause) // not all at once when a server comes back
	c.pause = min(2*c.pause, c.timing.maxPause)
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
