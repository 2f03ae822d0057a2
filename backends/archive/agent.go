package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/spec"
)

const (
	// submitTime is how long an app may take to appear: its agent begins before the submission,
	// so that a crash in between loses nothing.
	submitTime = 10 * time.Minute
	// lockWait outlasts processes that only check whether the lock is held.
	lockWait = 5 * time.Second
	// deletedEvery is how often an agent checks that its archive still exists.
	deletedEvery = time.Second
)

// Source is an app that runs elsewhere, as its agent sees it.
type Source interface {
	// Describe returns the status of the app. Errors: backend.ErrNotFound, and others, after
	// which the agent tries again.
	Describe(ctx context.Context) (*spec.Status, error)
	// Copy copies what the logs of the app have and their copies lack; ended says that the app of
	// the last status has ended. It reports whether the app has ended and nothing is left to
	// copy. An error of a complete copy ends the agent, and the next command starts another;
	// after others the agent tries again.
	Copy(ctx context.Context, ended bool) (complete bool, err error)
	io.Closer
}

// Pace is how often agents ask for the status of an app.
type Pace struct {
	First, Last time.Duration // pauses: the first one after a change of the state, and the longest
	Away        time.Duration // the longest pause while Describe fails
	// Rest is how long after the end of an app the rest of its logs is copied. A status that the
	// history does not take is then given up. 0: until the logs are complete and the end is
	// recorded.
	Rest time.Duration
}

// Agent is the process that follows the app of an archive.
type Agent struct {
	Kind
	Home, Dir string // the home, and the archive
	Info      Info
	Log       *log.Logger
	History   *agent.History

	logged string // the last error in the log
}

// Main is the main function of an agent: it follows the app, and then starts the actions for its
// end. open opens the history, and source the app. It returns the exit code of the process.
func (k Kind) Main(dir string, open agent.StoreOpener, source func(*Agent) (Source, error)) int {
	return agent.Supervise(func(l *log.Logger) error {
		g, err := k.NewAgent(dir, open, l)
		if err != nil {
			return err
		}
		defer g.History.Close(l)
		if err := g.Run(context.Background(), source); err != nil || g.Info.OnEnd == nil {
			return err
		}
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		return agent.RunOnEnd(g.Home, exe)
	})
}

// NewAgent returns the agent of an archive.
func (k Kind) NewAgent(dir string, open agent.StoreOpener, l *log.Logger) (g *Agent, err error) {
	g = &Agent{Kind: k, Home: filepath.Dir(filepath.Dir(dir)), Dir: dir, Log: l}
	g.History = agent.NewHistory(g.Home, open)
	g.Info, err = k.Read(dir)
	return g, err
}

// Run follows the app until it has ended and its logs are complete, and records that nothing is
// left to do. An error means that the next command starts another agent. It returns immediately
// if another process is the agent, and soon after the archive is deleted.
func (g *Agent) Run(ctx context.Context, source func(*Agent) (Source, error)) error {
	lock, err := g.supervisor(g.Dir).Acquire(lockWait)
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
	if g.Info, err = g.Read(g.Dir); err != nil || g.Info.Done {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go g.cancelWhenDeleted(ctx, cancel)
	app, err := source(g)
	if err != nil {
		return err
	}
	defer app.Close()
	s, err := g.follow(ctx, app)
	if ctx.Err() != nil {
		return nil // the archive was deleted
	}
	if err != nil {
		return err
	}
	return g.end(s)
}

// cancelWhenDeleted calls cancel after the archive was deleted.
func (g *Agent) cancelWhenDeleted(ctx context.Context, cancel context.CancelFunc) {
	for g.Has(g.Dir) {
		if !sleep(ctx, deletedEvery) {
			return
		}
	}
	cancel()
}

// progress is what an agent knows of its app.
type progress struct {
	last, recorded *spec.Status // the last one, and the last one that the history took
	ended          time.Time    // when the end was seen; zero: not yet
}

// follow follows the app, and returns its last status.
func (g *Agent) follow(ctx context.Context, app Source) (*spec.Status, error) {
	unknown := &spec.Status{State: spec.Unknown, Msg: "the app is not on its cluster"}
	p := &progress{last: unknown, recorded: unknown}
	for pause := g.Pace.First; ; pause = pause * 3 / 2 {
		before, longest := p.last.State, g.Pace.Last
		s, err := app.Describe(ctx)
		switch {
		case errors.Is(err, backend.ErrNotFound):
			if before != spec.Unknown || time.Since(g.Info.Begun) > submitTime {
				return p.last, nil
			}
		case err != nil:
			g.logOnce(err)
			longest = g.Pace.Away
		default:
			if isOver, err := g.see(ctx, app, p, s); isOver {
				return s, err
			}
			if s.State != before {
				pause = g.Pace.First
			}
		}
		pause = min(pause, longest)
		if !sleep(ctx, pause) {
			return p.last, ctx.Err()
		}
	}
}

// see records a new status and copies logs. It reports whether nothing is left to do.
func (g *Agent) see(
	ctx context.Context, app Source, p *progress, s *spec.Status,
) (isOver bool, err error) {
	if p.last = s; s.State.Terminal() && p.ended.IsZero() {
		p.ended = time.Now()
	}
	if g.Changed(p.recorded, s) && g.record(ctx, s) {
		p.recorded = s
	}
	hasEnded, isBounded := !p.ended.IsZero(), g.Pace.Rest > 0
	complete, err := app.Copy(ctx, hasEnded)
	if err != nil {
		if complete {
			return true, err
		}
		g.logOnce(err)
	}
	if isBounded {
		return complete || hasEnded && time.Since(p.ended) > g.Pace.Rest, nil
	}
	return complete && !g.Changed(p.recorded, s), nil
}

// record stores a status in the history and reports whether that has it.
func (g *Agent) record(ctx context.Context, s *spec.Status) bool {
	store, err := g.History.Store(ctx)
	if err == nil {
		err = store.SetStatus(ctx, g.Backend, g.Info.ID, s)
	}
	if err != nil {
		g.logOnce(fmt.Errorf("record status: %w", err))
	}
	return err == nil
}

// end records the end of the app, and that its agent is done.
func (g *Agent) end(s *spec.Status) error {
	last := *s // the source may still read s
	last.Handle = spec.Handle{Backend: g.Backend, Session: spec.Session, AppID: g.Info.ID}.String()
	if err := agent.NoteEnd(g.Home, g.Dir, g.Info.OnEnd, &last); err != nil {
		g.Log.Print(err)
	}
	i, err := g.Read(g.Dir)
	if i.Done = true; err == nil {
		err = g.Write(g.Dir, i)
	}
	if err != nil {
		return err
	}
	g.supervisor(g.Dir).RemoveEntry()
	return nil
}

// logOnce logs an error unless it repeats.
func (g *Agent) logOnce(err error) {
	if text := err.Error(); text != g.logged {
		g.logged = text
		g.Log.Print(text)
	}
}

// sleep pauses for d. It reports false if ctx is done before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
