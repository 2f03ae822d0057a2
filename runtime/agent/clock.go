package agent

import (
	"time"

	"torchx/runtime/failpoint"
)

// clock gives the times that are recorded of one app. They never go back, so that
// nothing ends before it has begun: when the system's clock is set back, it goes on
// by itself until the other has caught up.
type clock struct {
	last   time.Time
	readAt time.Time // when last was given out, by the monotonic clock
}

// at returns the time to record for what happened at t by the system's clock.
func (c *clock) at(t time.Time) time.Time {
	t = t.Round(0) // as it is read from a file
	switch {
	case !t.Before(c.last):
	case c.readAt.IsZero():
		t = c.last
	default:
		t = c.last.Add(time.Since(c.readAt))
	}
	c.last, c.readAt = t, time.Now()
	return t
}

func (a *agent) now() time.Time { return a.clock.at(failpoint.Now()) }
