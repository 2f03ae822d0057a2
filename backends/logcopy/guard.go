package logcopy

import (
	"context"
	"sync/atomic"
	"time"
)

// guard ends a stream that stays silent: a node or a proxy that went away without
// closing it, a kubelet that lost sight of a log that was rotated.
type guard struct {
	quiet     time.Duration
	timing    Timing
	searching atomic.Bool
	last      atomic.Int64 // unix ns of the last byte
	stopped   atomic.Bool
}

func newGuard(t Timing, quiet time.Duration) *guard {
	g := &guard{quiet: quiet, timing: t}
	g.heard()
	return g
}

// heard notes that something came.
func (g *guard) heard() { g.last.Store(time.Now().UnixNano()) }

// watch calls stop when the stream has to end; it returns with ctx.
func (g *guard) watch(ctx context.Context, from Source, stop func()) {
	_, changed := from.State()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			var s State
			if s, changed = from.State(); s >= Ended && late == nil {
				late = time.After(g.timing.EndTimeout)
			}
			continue
		case <-late:
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

// left is how much longer silence may last; it has to be asked again by then.
func (g *guard) left() time.Duration {
	idle := time.Since(time.Unix(0, g.last.Load()))
	if g.searching.Load() {
		return g.timing.SearchTimeout - idle
	}
	return min(g.quiet-idle, max(g.timing.SearchTimeout, g.quiet/4))
}
