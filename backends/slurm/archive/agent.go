package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

const (
	// endTime bounds how long the agent tries to copy the rest of an app that has ended.
	endTime = 10 * time.Minute
)

// Intervals of the agent. Each look costs a call of Slurm's controller.
const (
	firstPause = 2 * time.Second
	lastPause  = 15 * time.Second
)

// Agent follows an app to its end.
type Agent struct {
	Dir  string // of the archive
	Logs bool   // copy them
	// Describe returns the status of the app; Copier what copies its logs.
	Describe func(ctx context.Context) (*spec.Status, error)
	Copier   func(ctx context.Context) (*Copier, error)
	// Status records a status of the app, Ended its end; on may be nil.
	Status func(ctx context.Context, s *spec.Status) error
	Ended  func(on *backend.OnEnd, s *spec.Status) error
	Log    func(format string, args ...any) // writes a line to the agent's log

	copier *Copier
	last   string // what was logged last
}

// Run follows the app until it has ended and its logs are complete. It returns immediately if the
// archive has an agent, and soon after the archive is deleted.
func (g *Agent) Run(ctx context.Context) error {
	return Followers.Run(ctx, g.Dir, func(ctx context.Context, i agent.Followed) error {
		s := g.follow(ctx, i.Begun)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := g.Ended(i.OnEnd, s); err != nil {
			g.Log("%v", err)
		}
		return nil
	})
}

// follow returns the last status of the app.
func (g *Agent) follow(ctx context.Context, begun time.Time) *spec.Status {
	last := &spec.Status{State: spec.Unknown, Msg: "the app is not on its cluster"}
	var ended time.Time
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		s, err := g.Describe(ctx)
		switch {
		case errors.Is(err, backend.ErrNotFound) && (last.State != spec.Unknown || time.Since(begun) > agent.SubmitTime):
			return last
		case errors.Is(err, backend.ErrNotFound):
		case err != nil:
			g.logOnce(err)
		default:
			if last.State != s.State || s.State.Terminal() && ended.IsZero() {
				pause = firstPause
				g.record(ctx, s)
			}
			if last = s; s.State.Terminal() && ended.IsZero() {
				ended = time.Now()
			}
			complete := g.pass(ctx, !ended.IsZero())
			if !ended.IsZero() && (complete || time.Since(ended) > endTime) {
				return last
			}
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(pause):
		}
	}
}

// record stores a status in the history.
func (g *Agent) record(ctx context.Context, s *spec.Status) {
	if err := g.Status(ctx, s); err != nil {
		g.logOnce(fmt.Errorf("record status: %w", err))
	}
}

// pass copies logs, of an app that is archived. It reports whether nothing is left to copy.
func (g *Agent) pass(ctx context.Context, ended bool) (complete bool) {
	if !g.Logs {
		return true
	}
	var err error
	if g.copier == nil {
		g.copier, err = g.Copier(ctx)
	}
	if err == nil {
		complete, err = g.copier.Pass(ctx, ended)
	}
	if err != nil {
		g.logOnce(err)
	}
	return complete
}

// logOnce logs an error unless it repeats.
func (g *Agent) logOnce(err error) {
	if text := err.Error(); text != g.last {
		g.last = text
		g.Log("%s", text)
	}
}
