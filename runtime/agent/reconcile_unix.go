//go:build unix

package agent

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"torchx/runtime/cgroup"
	"torchx/runtime/failpoint"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

const (
	// lockTries and lockPause bound the wait for another process that only looks
	// at the lock at this moment.
	lockTries = 100
	lockPause = 2 * time.Millisecond
	// killWait bounds the wait for killed processes to be gone.
	killWait = 5 * time.Second
)

// Inspect returns the true status of a bundle: that of its live agent, or the
// result. If the agent died, whatever it left running is ended and the result is
// worked out from the journal first; it is never taken for a success that is not
// on record. Errors wrap fs.ErrNotExist if the bundle is gone.
func (b Bundle) Inspect() (*spec.Status, error) {
	s, err := b.Status()
	if err == nil && s.State.Terminal() || err != nil && errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	if b.Held() || b.adoptable() {
		return s, err
	}
	lock, err := b.reacquire()
	if errors.Is(err, errHeld) {
		return b.Status()
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	s, err = b.reconcile()
	if err == nil && s.State.Terminal() {
		failpoint.Hit(failpoint.ReconcileRecorded)
		b.unmark()
	}
	return s, err
}

func (b Bundle) reacquire() (lock *Lock, err error) {
	for range lockTries {
		if lock, err = acquire(b.path(lockFile)); !errors.Is(err, errHeld) {
			return lock, err
		}
		time.Sleep(lockPause)
	}
	return nil, err
}

// reconcile needs the lock.
func (b Bundle) reconcile() (*spec.Status, error) {
	if s, err := b.Status(); err == nil && s.State.Terminal() {
		return s, nil // it ended, or somebody else reconciled, before we had the lock
	}
	if b.adoptable() {
		return b.Status() // its agent began and died before we had the lock
	}
	m, err := b.Manifest()
	if err != nil {
		return nil, fmt.Errorf("reconcile: %w", err)
	}
	starts, err := readLines[startRecord](b.path(startsFile))
	if err != nil {
		return nil, fmt.Errorf("reconcile: %w", err)
	}
	exits, err := readLines[exitRecord](b.path(exitsFile))
	if err != nil {
		return nil, fmt.Errorf("reconcile: %w", err)
	}
	endRemains(m.Handle, starts)
	cancelled, _ := b.cancelRequested()
	s := replay(m, starts, exits, cancelled)
	b.settleAdmission(m, &s)
	if err := b.writeStatus(&s, true); err != nil && !cannotWrite(err) {
		return nil, err
	}
	return &s, nil // what cannot be written now is worked out again by the next look
}

// cannotWrite tells a folder that is read-only or full from other failures.
func cannotWrite(err error) bool {
	for _, cause := range []error{unix.EROFS, unix.EACCES, unix.EPERM, unix.ENOSPC, unix.EDQUOT} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// endRemains kills what a dead agent's replicas left: the members of the recorded
// sessions, and whatever carries the app's handle in its environment.
func endRemains(handle string, starts []startRecord) {
	boot := BootID()
	app := remainder{handle, map[int]uint64{}, map[string]uint64{}}
	for _, r := range starts {
		if r.BootID != boot {
			continue
		}
		app.leaders[r.PID] = r.StartTime
		for _, pipe := range r.Output {
			app.output[pipe] = r.StartTime
		}
		if r.Cgroup != "" {
			_ = cgroup.End(r.Cgroup) // what stays has the app's handle, too
		}
	}
	deadline := time.Now().Add(killWait)
	for {
		alive := 0
		for _, p := range procs.List() {
			if p.Zombie || p.PID == os.Getpid() || !app.has(p) {
				continue
			}
			alive++
			_ = unix.Kill(p.PID, unix.SIGKILL) // gone already is as good
		}
		if alive == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(lockPause)
	}
}

// remainder says what a dead agent's processes can be told by.
type remainder struct {
	handle  string
	leaders map[int]uint64    // session → start time of its leader
	output  map[string]uint64 // pipe that a replica writes to → its start time
}

// has tells whether a process belongs to the app. A session counts only if its number
// has not been given to a new leader since.
func (a remainder) has(p procs.Process) bool {
	if procs.HasEnv(p.PID, spec.JobIDVariable+"="+a.handle) {
		return true
	}
	if start, ok := a.leaders[p.Session]; ok {
		leader, alive := procs.Get(p.Session)
		if alive && leader.Start == start || !alive && p.Start >= start {
			return true
		}
	}
	return len(a.output) > 0 && procs.HasOpen(p.PID, func(file string) bool {
		start, ok := a.output[file]
		return ok && p.Start >= start
	})
}
