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
	if b.Held() {
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
	if err == nil {
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
	leaders := map[int]uint64{} // session → start time of its leader
	for _, r := range starts {
		if r.BootID != boot {
			continue
		}
		leaders[r.PID] = r.StartTime
		if r.Cgroup != "" {
			_ = cgroup.End(r.Cgroup) // what stays has the app's handle, too
		}
	}
	deadline := time.Now().Add(killWait)
	for {
		alive := 0
		for _, p := range procs.List() {
			if p.Zombie || p.PID == os.Getpid() || !remains(p, leaders, handle) {
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

// remains tells whether a process belongs to the app. A session counts only if
// its number has not been given to a new leader since.
func remains(p procs.Process, leaders map[int]uint64, handle string) bool {
	if procs.HasEnv(p.PID, spec.JobIDVariable+"="+handle) {
		return true
	}
	start, ok := leaders[p.Session]
	if !ok {
		return false
	}
	leader, alive := procs.Get(p.Session)
	return alive && leader.Start == start || !alive && p.Start >= start
}

// replay works out the result of an app from its journal: the gang is told what
// happened in the order in which it did. What it wants done is on record, too, if
// it was done.
func replay(m *Manifest, starts []startRecord, exits []exitRecord, cancelled bool) spec.Status {
	g := newGang(m.App, m.FailFast)
	g.hold(g.begin(), m.SubmittedAt)
	now := clock{last: latest(m, starts, exits)}
	for len(starts)+len(exits) > 0 {
		if len(exits) == 0 || len(starts) > 0 && starts[0].before(exits[0]) {
			replayStart(g, starts[0])
			starts = starts[1:]
			continue
		}
		replayExit(g, exits[0], starts)
		exits = exits[1:]
	}
	return conclude(g, m, cancelled, now.at(failpoint.Now()))
}

// latest is the newest time on record: the clock may have been set back since.
func latest(m *Manifest, starts []startRecord, exits []exitRecord) time.Time {
	t := m.SubmittedAt
	for _, r := range starts {
		t = later(t, r.Time)
	}
	for _, r := range exits {
		t = later(t, r.Time)
	}
	return t
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// before tells which of two records is older; those of an older agent have times only.
func (r startRecord) before(e exitRecord) bool {
	if r.Seq > 0 && e.Seq > 0 {
		return r.Seq < e.Seq
	}
	return !r.Time.After(e.Time)
}

func replayStart(g *gang, r startRecord) {
	m := g.byKey[spec.Replica{Role: r.Role, ID: r.Replica}]
	if m != nil && g.canStart(m, r.Attempt) {
		g.running(m, Process{PID: r.PID, StartTime: r.StartTime}, r.Time)
	}
}

func replayExit(g *gang, e exitRecord, unread []startRecord) {
	m := g.byKey[e.replica()]
	switch {
	case m == nil:
	case e.Refused:
		g.refused(m, e.Code, e.Msg, e.Time)
	default:
		if m.state == spec.Pending { // its start was not recorded, or the clock was set back
			start := startRecord{Role: e.Role, Replica: e.Replica, Attempt: m.next, Time: e.Time}
			for _, r := range unread {
				if r.Role == e.Role && r.Replica == e.Replica && r.Attempt == m.next {
					start = r
				}
			}
			replayStart(g, start)
		}
		m.stopping, m.usage, m.overdue = m.stopping || e.Stopped, e.Usage, e.Msg
		g.hold(g.exited(m, e.Code, e.Signal, e.Time), e.Time)
	}
}

// hold notes who was to start and had to wait for another role.
func (g *gang) hold(acts []action, now time.Time) {
	for _, act := range acts {
		if act.start != nil {
			g.admit(act.start, now)
		}
	}
}

// conclude is the end of a replay: what is not on record ended with the agent.
func conclude(g *gang, m *Manifest, cancelled bool, now time.Time) spec.Status {
	if g.done() {
		g.cancelled = cancelled
		return g.finalStatus(m, now)
	}
	for _, r := range g.replicas {
		if !r.state.Terminal() {
			g.neverStarts(r, now)
			if !cancelled && r.begun {
				r.state, r.msg = spec.Failed, "agent died"
			}
		}
	}
	g.scopes = nil
	s := g.finalStatus(m, now)
	code := 125
	switch {
	case cancelled:
		code = 130
		s.State, s.Msg = spec.Cancelled, "cancelled"
	case g.doomed:
		return s // the failure that decided is on record
	default:
		s.State = spec.Failed
		s.Msg = "agent died: its process was killed or the machine went down; what it ran has been ended"
	}
	if s.StartedAt == nil && !cancelled {
		s.Msg = "torchx or its agent ended while the app was being started"
	}
	s.ExitCode = &code
	return s
}
