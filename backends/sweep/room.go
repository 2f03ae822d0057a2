package sweep

import (
	"context"
	"time"

	"torchx/runtime/backend"
)

// findRoom returns how many trials run at the same time, and how they start. The first trial
// stands for all.
func (c *controller) findRoom(ctx context.Context) backend.Room {
	room := &backend.Room{Apps: defaultParallel}
	if finder := c.target.Capabilities().Room; finder != nil {
		t, err := c.trials.trial(0)
		if err == nil {
			var found *backend.Room
			if found, err = finder.RoomFor(ctx, t.App, c.def.Cfg); err == nil {
				room = found
			}
		}
		c.logError(err)
	}
	if c.def.Parallel > 0 { // only devices are waited for
		room.Apps, room.Queue = c.def.Parallel, room.Queue && len(room.Cfg) > 0
	}
	return *room
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
