package logcopy

import (
	"context"
	"sync/atomic"
	"time"
)

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
