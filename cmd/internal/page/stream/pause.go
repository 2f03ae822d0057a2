package stream

import (
	"context"
	"time"
)

// After an event its clients ask what changed, and all that costs CPU time. The next event waits
// until the cost was at most a share of a core: little while the feed changes all the time, as
// the log of an app that floods does, and more once it pauses, so that the last lines come
// promptly.
const (
	changingShare = 0.01
	stillShare    = 0.05

	pace     = 125 * time.Millisecond // the least time between two events of a feed
	longPace = 3 * time.Second        // the greatest

	lookPace  = 100 * time.Millisecond // between two looks whether a feed pauses: waking up costs time, too
	lookShare = 100                    // a look costs at most one of so many parts of the time

	// clientCost is the most that an event may cost for each client. What else the server does,
	// such as a search, must not delay events.
	clientCost = 5 * time.Millisecond
)

// pause is the time after an event.
type pause struct {
	began time.Time
	spent time.Duration // CPU time of the server when it began
	print string        // of the feed, at the last look
	still bool          // it had not changed since the look before
}

// look notes what a feed shows.
func (p *pause) look(print string) { p.still, p.print = print == p.print, print }

// left returns the time until the next event, if the server has spent so much CPU time.
func (p *pause) left(now time.Time, spent time.Duration, clients int) time.Duration {
	share := changingShare
	if p.still {
		share = stillShare
	}
	cost := min(spent-p.spent, time.Duration(clients)*clientCost)
	return min(max(time.Duration(float64(cost)/share), pace), longPace) - now.Sub(p.began)
}

// pauseOf returns the pause after an event that is about to be sent of a feed that shows print.
func (h *Hub) pauseOf(print string) pause {
	return pause{began: time.Now(), spent: h.cpu(), print: print}
}

// rest waits until the next event of a feed may be sent.
func (h *Hub) rest(ctx context.Context, f *running, p pause) {
	for wait := pace; wait > 0 && ctx.Err() == nil; {
		sleep(ctx, wait)
		now := time.Now()
		p.look(f.feed.Print())
		wait = p.left(now, h.cpu(), h.clientsOf(f))
		if p.still {
			sleep(ctx, wait)
			return
		}
		wait = min(wait, max(lookPace, lookShare*time.Since(now)))
	}
}

func (h *Hub) clientsOf(f *running) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(f.clients)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
