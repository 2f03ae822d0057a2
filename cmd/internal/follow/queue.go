package follow

import (
	"context"
	"fmt"
	"time"
)

// queueInterval is how often a foreground run checks whether its app is still queued.
const queueInterval = 100 * time.Millisecond

// awaitStart prints why an app is queued, whenever that changes, and returns when the app has
// started or ended; after the first message if the command returns after the start.
func (fg *foreground) awaitStart(ctx context.Context) error {
	tick := time.NewTicker(queueInterval)
	defer tick.Stop()
	for last := ""; ; {
		s, err := fg.backend.Describe(ctx, fg.ref.ID)
		if err != nil {
			return fmt.Errorf("check whether %s is still queued: %w", fg.ref.Handle(), err)
		}
		if !isQueued(s) {
			return nil
		}
		if s.Msg != last && !fg.signals.interrupted() {
			last = s.Msg
			fg.SayOnce("%s %s", fg.ref.Handle(), s.Msg)
		}
		if fg.returns {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
