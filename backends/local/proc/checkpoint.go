//go:build unix

package proc

import (
	"sync"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// checkpoints collects where the logs of all replicas were at some times, for
// the history.
type checkpoints struct {
	mu     sync.Mutex
	points []agent.Checkpoint
}

// of returns the function that takes the checkpoints of one attempt.
func (c *checkpoints) of(r spec.Replica, attempt int) func(logstore.Totals, time.Time) {
	return func(t logstore.Totals, now time.Time) {
		c.mu.Lock()
		defer c.mu.Unlock()
		p := agent.Checkpoint{Role: r.Role, Replica: r.ID, Attempt: attempt, Time: now}
		p.Stream, p.Line, p.Offset = "stdout", t.StdoutLines, t.StdoutBytes
		c.points = append(c.points, p)
		p.Stream, p.Line, p.Offset = "stderr", t.StderrLines, t.StderrBytes
		c.points = append(c.points, p)
	}
}

func (c *checkpoints) take() []agent.Checkpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	points := c.points
	c.points = nil
	return points
}
