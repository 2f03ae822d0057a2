package agent

import (
	"sync"
	"time"

	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Checkpoints collects log positions of all replicas for the history.
type Checkpoints struct {
	mu     sync.Mutex
	points []Checkpoint
}

// Of returns a function that records the checkpoints of one attempt.
func (c *Checkpoints) Of(r spec.Replica, attempt int) func(logstore.Totals, time.Time) {
	return func(t logstore.Totals, now time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		p := Checkpoint{Role: r.Role, Replica: r.ID, Attempt: attempt, Time: now}
		p.Stream, p.Line, p.Offset = "stdout", t.StdoutLines, t.StdoutBytes
		c.points = append(c.points, p)
		p.Stream, p.Line, p.Offset = "stderr", t.StderrLines, t.StderrBytes
		c.points = append(c.points, p)
	}
}

// Take returns the checkpoints since the last call.
func (c *Checkpoints) Take() []Checkpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	points := c.points
	c.points = nil
	return points
}
