package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/spec"
)

const (
	// beginTime is how long a submission may take: the archive is created before it.
	beginTime = 10 * time.Minute
	// lockWait outlasts processes that only check whether the lock is held.
	lockWait = 5 * time.Second
	// endTime bounds how long the agent tries to copy the rest of an app that has ended.
	endTime = 10 * time.Minute
)

// Intervals of the agent. Each look costs a call of Slurm's controller.
const (
	firstPause = 2 * time.Second
	lastPause  = 15 * time.Second
)

func life(dir string) agent.Life {
	return agent.FollowerLife(dir, infoFile)
}

// Begin records, before an app is submitted, that an agent must follow it.
func Begin(dir string, i Info) error {
	i.Agent, i.Begun = true, time.Now().UTC()
	if err := i.Write(dir); err != nil {
		return err
	}
	if err := life(dir).AddEntry(); err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return nil
}

// Forget reverts Begin for an app whose submission failed.
func Forget(dir string) error {
	life(dir).RemoveEntry()
	return Remove(dir)
}

// Sweep restarts the agents of a home that died, with the program exe.
func Sweep(home, exe string) error {
	return agent.SweepFollowers(filepath.Join(home, homeFolder), infoFile, exe, func(dir string) (bool, error) {
		i, err := ReadInfo(dir)
		return i.Done, err
	})
}

// Spawn starts the agent of an archive, detached, unless it has one.
func Spawn(exe, dir string) error { return life(dir).Ensure(exe) }

// Agent follows an app to its end.
type Agent struct {
	Dir string // of the archive
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
	lock, err := life(g.Dir).Acquire(lockWait)
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := fmt.Fprintf(lock.File, "%-10d\n", os.Getpid()); err != nil { // one write replaces the old pid
		return fmt.Errorf("write %s: %w", lock.File.Name(), err)
	}
	i, err := ReadInfo(g.Dir)
	if err != nil || i.Done {
		return err
	}
	s := g.follow(ctx, i)
	if !IsArchive(g.Dir) {
		return nil
	}
	if err := g.Ended(i.OnEnd, s); err != nil {
		g.Log("%v", err)
	}
	i.Done = true
	if err := i.Write(g.Dir); err != nil {
		return err
	}
	life(g.Dir).RemoveEntry()
	return nil
}

// follow returns the last status of the app.
func (g *Agent) follow(ctx context.Context, i Info) *spec.Status {
	last := &spec.Status{State: spec.Unknown, Msg: "the app is not on its cluster"}
	var ended time.Time
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		s, err := g.Describe(ctx)
		switch {
		case errors.Is(err, backend.ErrNotFound) && (last.State != spec.Unknown || time.Since(i.Begun) > beginTime):
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
			complete := g.pass(ctx, i, !ended.IsZero())
			if !ended.IsZero() && (complete || time.Since(ended) > endTime) {
				return last
			}
		}
		for end := time.Now().Add(pause); time.Now().Before(end); {
			if !IsArchive(g.Dir) || ctx.Err() != nil {
				return last
			}
			select {
			case <-ctx.Done():
			case <-time.After(min(time.Second, time.Until(end))):
			}
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
func (g *Agent) pass(ctx context.Context, i Info, ended bool) (complete bool) {
	if !i.Logs {
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
