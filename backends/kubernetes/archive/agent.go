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
	// beginTime is how long an app may take to appear on the cluster: the archive is created
	// before the submission, so that a crash in between loses nothing.
	beginTime = 10 * time.Minute
	// lockWait outlasts processes that only check whether the lock is held.
	lockWait = 5 * time.Second
)

// life returns the lock and live entry of the agent of an archive.
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

// IsArchive reports whether a folder is an archive.
func IsArchive(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, infoFile))
	return err == nil
}

// Sweep restarts the agents of a home that died, with the program exe. Its cost depends only
// on the number of followed apps.
func Sweep(home, exe string) error {
	return agent.SweepFollowers(filepath.Join(home, archiveFolder), infoFile, exe, func(dir string) (bool, error) {
		i, err := ReadInfo(dir)
		return i.Done, err
	})
}

// Spawn starts the agent of an archive, detached, unless it has one.
func Spawn(exe, dir string) error { return life(dir).Ensure(exe) }

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
	lock, err := life(g.App.Dir).Acquire(lockWait)
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = fmt.Fprintf(lock.File, "%-10d\n", os.Getpid()) // one write replaces the old pid
	if err != nil {
		return fmt.Errorf("write %s: %w", lock.File.Name(), err)
	}
	i, err := ReadInfo(g.App.Dir)
	if err != nil || i.Done {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go g.cancelWhenDeleted(ctx, cancel)
	err = g.follow(ctx, i)
	if ctx.Err() != nil {
		return nil // the archive was deleted
	}
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return err // the next command starts another agent
	}
	if err := g.Ended(i.OnEnd, g.lastStatus()); err != nil {
		g.Log("%v", err)
	}
	i.Done = true
	if err := i.Write(g.App.Dir); err != nil {
		return err
	}
	life(g.App.Dir).RemoveEntry()
	return nil
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

// cancelWhenDeleted calls cancel after the archive was deleted.
func (g *Agent) cancelWhenDeleted(ctx context.Context, cancel context.CancelFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for IsArchive(g.App.Dir) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	cancel()
}

func (g *Agent) follow(ctx context.Context, i Info) error {
	snap, err := g.awaitApp(ctx, i)
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
	return g.App.failed
}

// awaitApp waits until the app is on the cluster. It retries while the cluster is unreachable.
func (g *Agent) awaitApp(ctx context.Context, i Info) (*Snapshot, error) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		snap, err := g.App.snapshot(ctx)
		switch {
		case err == nil:
			return snap, nil
		case errors.Is(err, backend.ErrNotFound) && time.Since(i.Begun) > beginTime:
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
