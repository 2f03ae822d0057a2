package archive

import (
	"context"
	"errors"
	"os"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/spec"
)

// tryLock takes a lock. It returns nil if another process holds it.
func tryLock(path string) (*os.File, error) {
	lock, err := filelock.TryAcquire(path)
	switch {
	case err == nil:
		return lock.File, nil
	case errors.Is(err, filelock.ErrHeld):
		return nil, nil //nolint:nilnil // a held lock is not an error
	}
	return nil, err
}

// Agent is the process that follows an app to its end.
type Agent struct {
	App *App
	// Status records a status of the app, the newest last; it may be slow.
	Status func(ctx context.Context, s *spec.Status) error
	// Ended is called with the last status of the app; on may be nil.
	Ended func(on *backend.OnEnd, s *spec.Status) error
	// Log writes a line to the agent's log.
	Log func(format string, args ...any)
}

// Run follows an app until it has ended and its logs are complete. It returns immediately if
// the archive has an agent, and soon after the archive is deleted.
func (g *Agent) Run(ctx context.Context) error {
	return Followers.Run(ctx, g.App.Dir, func(ctx context.Context, i agent.Followed) error {
		err := g.follow(ctx, i.Begun)
		if ctx.Err() != nil || err != nil && !errors.Is(err, backend.ErrNotFound) {
			return err
		}
		if err := g.Ended(i.OnEnd, g.lastStatus()); err != nil {
			g.Log("%v", err)
		}
		return nil
	})
}

// lastStatus returns the last known status of the app.
func (g *Agent) lastStatus() *spec.Status {
	g.App.mu.Lock()
	defer g.App.mu.Unlock()
	if g.App.snap == nil || g.App.snap.Status == nil {
		return &spec.Status{State: spec.Unknown, Msg: "the app is not on its cluster"}
	}
	return g.App.snap.Status
}

func (g *Agent) follow(ctx context.Context, begun time.Time) error {
	snap, err := g.awaitApp(ctx, begun)
	if err != nil {
		return err
	}
	g.Log("following %s", g.App.ID)
	f := g.App.Follow(snap.Status)
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		g.report(ctx)
	}()
	measuring, stop := context.WithCancel(ctx)
	defer stop()
	go g.measure(measuring)
	f.wait(ctx, g.Log)
	<-reported
	g.App.mu.Lock()
	defer g.App.mu.Unlock()
	g.Log("ended: %v", g.App.snap.Status.State)
	if g.App.snap.Hidden != nil {
		g.Log("no log is archived: %v", g.App.snap.Hidden)
		return nil
	}
	return g.App.failed
}

// awaitApp waits until the app is on the cluster. It retries while the cluster is unreachable.
func (g *Agent) awaitApp(ctx context.Context, begun time.Time) (*Snapshot, error) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		snap, err := g.App.read(ctx)
		switch {
		case err == nil:
			return snap, nil
		case errors.Is(err, backend.ErrNotFound) && time.Since(begun) > agent.SubmitTime:
			return nil, err
		case errors.Is(err, backend.ErrNotFound):
			wait = time.Second
		default:
			g.Log("%v", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// statusEvery is the minimum interval between reported statuses.
const statusEvery = time.Second

// report records each new status until the app has ended.
func (g *Agent) report(ctx context.Context) {
	var last *Snapshot
	for {
		g.App.mu.Lock()
		snap, ended := g.App.snap, g.App.ended
		g.App.mu.Unlock()
		if snap != last && snap.Status != nil && snap.Status.State != spec.Unknown {
			if err := g.Status(ctx, snap.Status); err != nil {
				g.Log("record status: %v", err)
			} else {
				last = snap
			}
		}
		if ended && (snap == last || snap.Status.State == spec.Unknown) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(statusEvery):
		}
	}
}
