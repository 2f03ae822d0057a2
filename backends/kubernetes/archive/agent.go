package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

const (
	agentLock = "agent.lock"
	agentLog  = "agent.log"
	// liveFolder has an empty file for each archive whose agent has work to do, so that
	// every command can see which died, however many archives there are.
	liveFolder = "live"
	// beginTime is how long an app may take to appear on the cluster: the archive is
	// there before it is submitted, so that a crash between loses nothing.
	beginTime = 10 * time.Minute
	// lockWait outlasts those who only look whether the lock is held.
	lockWait = 5 * time.Second
	// dyingWait bounds the wait for an agent that is about to end.
	dyingWait = 2 * time.Second
)

func marker(dir string) string {
	return filepath.Join(filepath.Dir(dir), liveFolder, filepath.Base(dir))
}

// Begin notes, before an app is submitted, that an agent is to follow it.
func Begin(dir string, i Info) error {
	i.Agent, i.Begun = true, time.Now().UTC()
	if err := i.Write(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(marker(dir)), 0o700); err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	if err := os.WriteFile(marker(dir), nil, 0o600); err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	return nil
}

// Forget takes back Begin for an app that did not come to be.
func Forget(dir string) error {
	_ = os.Remove(marker(dir)) // without an archive it is taken away by the next Sweep
	return Remove(dir)
}

// Is reports whether a folder is an archive.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, infoFile))
	return err == nil
}

// Sweep starts the agents of a home that died, by the program exe. Its cost depends on
// the number of apps that are followed only.
func Sweep(home, exe string) error {
	entries, err := os.ReadDir(filepath.Join(home, archiveFolder, liveFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for archives whose agent died: %w", err)
	}
	var errs []error
	for _, e := range entries {
		dir := filepath.Join(home, archiveFolder, e.Name())
		i, err := ReadInfo(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && i.Done:
			_ = os.Remove(marker(dir)) // the next one does
		case err != nil:
			errs = append(errs, err)
		default:
			errs = append(errs, Spawn(exe, dir))
		}
	}
	return errors.Join(errs...)
}

// Spawn starts the agent of an archive, detached, unless it has one.
func Spawn(exe, dir string) error {
	lock, err := freeLock(filepath.Join(dir, agentLock))
	if lock == nil {
		return err
	}
	lock.Close() // the agent takes it; of two the second ends
	out, err := os.OpenFile(filepath.Join(dir, agentLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start archive agent: %w", err)
	}
	defer out.Close()
	cmd := exec.CommandContext(context.Background(), exe, "agent", dir) // it outlives every caller
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = filepath.VolumeName(dir) + string(filepath.Separator) // it must not keep a mount busy
	cmd.Env = agentEnv(os.Environ())
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start archive agent: %w", err)
	}
	return cmd.Process.Release()
}

// freeLock is tryLock that waits for an agent that was killed just now.
func freeLock(path string) (*os.File, error) {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		f, err := tryLock(path)
		if f != nil || err != nil || time.Since(began) > dyingWait {
			return f, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil //nolint:nilerr,nilnil // somebody has it, that is all that counts
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return nil, nil //nolint:nilerr,nilnil // as above
		}
		_, there := procs.Get(pid)
		if runtime.GOOS != "linux" || there && !procs.Dying(pid) { // elsewhere nobody can tell
			return nil, nil //nolint:nilnil // as above
		}
	}
}

// agentEnv leaves out what marks a process as a part of an app: an agent that a
// replica starts must outlive it.
func agentEnv(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, spec.JobIDVariable+"=") {
			kept = append(kept, e)
		}
	}
	return kept
}

// Agent is the process that follows an app to its end.
type Agent struct {
	App *App
	// Status is told what is seen of the app, newest last; it may be slow.
	Status func(ctx context.Context, s *spec.Status) error
	// Log gets a line about what happens.
	Log func(format string, args ...any)
}

// Run follows an app until it has ended and its logs are complete. It returns at once
// if the archive has an agent, and soon if somebody deletes the archive.
func (g *Agent) Run(ctx context.Context) error {
	lock, err := g.lock(ctx)
	if lock == nil {
		return err
	}
	defer lock.Close()
	_, err = fmt.Fprintf(lock, "%-10d\n", os.Getpid()) // for people, one write over the last one
	if err != nil {
		return fmt.Errorf("write %s: %w", agentLock, err)
	}
	i, err := ReadInfo(g.App.Dir)
	if err != nil || i.Done {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go g.endWithout(ctx, cancel)
	err = g.follow(ctx, i)
	if ctx.Err() != nil {
		return nil // the archive was deleted
	}
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return err // the next command starts another agent
	}
	i.Done = true
	if err := i.Write(g.App.Dir); err != nil {
		return err
	}
	return os.Remove(marker(g.App.Dir))
}

func (g *Agent) lock(ctx context.Context) (*os.File, error) {
	for began := time.Now(); ; {
		f, err := tryLock(filepath.Join(g.App.Dir, agentLock))
		if f != nil || err != nil || time.Since(began) > lockWait {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockEvery / 4):
		}
	}
}

// endWithout ends the work when the archive is gone.
func (g *Agent) endWithout(ctx context.Context, cancel context.CancelFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for Is(g.App.Dir) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	cancel()
}

func (g *Agent) follow(ctx context.Context, i Info) error {
	snap, err := g.begin(ctx, i)
	if err != nil {
		return err
	}
	g.Log("following %s", g.App.ID)
	f := g.App.Follow(snap.Status)
	told := make(chan struct{})
	go func() {
		defer close(told)
		g.tell(ctx)
	}()
	f.await(ctx, g.Log)
	<-told
	g.App.mu.Lock()
	defer g.App.mu.Unlock()
	g.Log("ended: %v", g.App.snap.Status.State)
	return g.App.failed
}

// begin waits until the app is there. A cluster that is away is asked again.
func (g *Agent) begin(ctx context.Context, i Info) (*Snapshot, error) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		snap, err := g.App.look(ctx)
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

// statusEvery is how often a status is told at most.
const statusEvery = time.Second

// tell passes on what is seen of the app until it has ended.
func (g *Agent) tell(ctx context.Context) {
	var last *Snapshot
	for {
		g.App.mu.Lock()
		snap, over := g.App.snap, g.App.over
		g.App.mu.Unlock()
		if snap != last && snap.Status != nil && snap.Status.State != spec.Unknown {
			if err := g.Status(ctx, snap.Status); err != nil {
				g.Log("record status: %v", err)
			} else {
				last = snap
			}
		}
		if over && (snap == last || snap.Status.State == spec.Unknown) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(statusEvery):
		}
	}
}
