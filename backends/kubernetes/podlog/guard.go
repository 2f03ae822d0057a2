package podlog

import (
	"context"
	"sync/atomic"
	"time"
)

// timing is when Copy loses its patience with a server that says nothing.
type timing struct {
	pause, maxPause time.Duration // between streams that bring nothing
	steady          time.Duration // a stream that lasted so long was none of those
	search          time.Duration // silence after which a line that is looked for does not come
	quiet, maxQuiet time.Duration // silence after which a stream is taken for dead, though none may be
	ended           time.Duration // how long a stream goes on when the container has ended
}

func usual() *timing {
	return &timing{
		pause: 50 * time.Millisecond, maxPause: 5 * time.Second, steady: 10 * time.Second,
		search: time.Second, quiet: time.Minute, maxQuiet: 10 * time.Minute, ended: 3 * time.Second,
	}
}

// guard ends a stream that says nothing although it should: a node or a proxy that
// went away without a word, a kubelet that lost sight of a log that was rotated.
type guard struct {
	quiet     time.Duration
	timing    *timing
	searching atomic.Bool
	last      atomic.Int64 // unix ns of the last byte
	stopped   atomic.Bool
}

func newGuard(t *timing, quiet time.Duration) *guard {
	g := &guard{quiet: quiet, timing: t}
	g.heard()
	return g
}

// heard notes that the stream says something.
func (g *guard) heard() { g.last.Store(time.Now().UnixNano()) }

// watch calls stop when the stream is to end; it returns with ctx.
func (g *guard) watch(ctx context.Context, from Container, stop func()) {
	_, changed := from.State()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var over <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			var s State
			if s, changed = from.State(); s >= Ended && over == nil {
				over = time.After(g.timing.ended)
			}
			continue
		case <-over:
		case <-timer.C:
			if left := g.left(); left > 0 {
				timer.Reset(left)
				continue
			}
		}
		g.stopped.Store(true)
		stop()
		return
	}
}

// left is how much longer silence may last, as far as a look now can tell.
func (g *guard) left() time.Duration {
	most := g.quiet
	idle := time.Since(time.Unix(0, g.last.Load()))
	if g.searching.Load() {
		return g.timing.search - idle
	}
	return min(most-idle, max(g.timing.search, most/4))
}
