package interp

import (
	"time"

	"torchx/runtime/cpuclock"
)

// starved is how many times its limit an evaluation may take on a busy or suspended machine, which
// does not let it use the processor.
const starved = 5

// clock measures an evaluation. Its limit is one of time, which people wait for, but it must not stop
// a short evaluation for the load of the machine.
type clock struct {
	limit time.Duration
	start time.Time
	cpu   time.Duration // of the process, at the start
}

func startClock(limit time.Duration) clock {
	return clock{limit: limit, start: time.Now(), cpu: cpuclock.Used()}
}

// expired reports whether the time is over: the limit has passed, for half of it the process used a
// processor, or the limit has passed several times.
func (c clock) expired() bool {
	passed := time.Since(c.start)
	return passed >= c.limit && cpuclock.Used()-c.cpu >= c.limit/2 || passed >= starved*c.limit
}
