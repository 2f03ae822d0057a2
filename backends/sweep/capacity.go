package sweep

import (
	"context"
	"time"

	"torchx/runtime/backend"
)

// findCapacity returns how many trials run at the same time, and how they start. The first trial
// stands for all.
func (c *controller) findCapacity(ctx context.Context) backend.Capacity {
	capacity := &backend.Capacity{Apps: defaultParallel}
	if finder := c.target.Capabilities().Capacity; finder != nil {
		t, err := c.trials.trial(0)
		if err == nil {
			var found *backend.Capacity
			if found, err = finder.CapacityFor(ctx, t.App, c.def.Cfg); err == nil {
				capacity = found
			}
		}
		c.logError(err)
	}
	if c.def.Parallel > 0 { // only devices are waited for
		capacity.Apps, capacity.Queue = c.def.Parallel, capacity.Queue && len(capacity.Cfg) > 0
	}
	return *capacity
}

// backoff is the time until the next try, which doubles.
type backoff struct{ last time.Duration }

const (
	firstPause = time.Second
	maxPause   = time.Minute
)

func (b *backoff) next() time.Duration {
	b.last = min(max(firstPause, 2*b.last), maxPause)
	return b.last
}

func (b *backoff) reset() { b.last = 0 }
