package agent

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/filelock"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// reconcileWait bounds the wait for processes that only test the lock.
const reconcileWait = 200 * time.Millisecond

// Inspect returns the true status of a bundle: the live agent's, or the result. If the
// agent died, it first ends what the agent left running and derives the result from the
// journal; only a success on record counts as one. Errors wrap fs.ErrNotExist if the
// bundle is gone.
func (b Bundle) Inspect() (*spec.Status, error) {
	s, err := b.Status()
	if err == nil && s.State.Terminal() || err != nil && errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	if runtime.GOOS == "windows" || b.Held() || b.isAdoptable() { // Windows cannot see locks or processes of Linux
		return s, err
	}
	lock, err := b.supervisor().Acquire(reconcileWait)
	if errors.Is(err, filelock.ErrHeld) {
		return b.Status()
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	s, err = b.reconcile()
	if err == nil && s.State.Terminal() {
		failpoint.Hit(failpoint.ReconcileRecorded)
		err = b.noteEnd(s)
		b.supervisor().RemoveEntry()
	}
	return s, err
}

// Recover is Inspect for apps whose replicas may be containers: if the agent of such an
// app died, Recover first starts another agent with the program exe.
func (b Bundle) Recover(exe string) (*spec.Status, error) {
	s, err := b.Inspect()
	if err != nil || s.State.Terminal() || runtime.GOOS == "windows" ||
		b.Held() || !b.isAdoptable() {
		return s, err
	}
	if err := b.revive(exe); err != nil {
		return nil, fmt.Errorf("app folder %s: %w", b.Dir, err)
	}
	return b.Status()
}

// revive starts a new agent for an app of containers.
func (b Bundle) revive(exe string) error {
	lock, err := b.supervisor().Acquire(reconcileWait)
	if errors.Is(err, filelock.ErrHeld) {
		return nil // another process starts one
	}
	if err != nil {
		return err
	}
	defer lock.Close() // from here on only the agent holds it
	if s, err := b.Status(); err == nil && s.State.Terminal() {
		return nil
	}
	return Spawn(exe, b, lock, nil)
}

// reconcile writes the result of an app whose agent died. The caller holds the lock.
func (b Bundle) reconcile() (*spec.Status, error) {
	if s, err := b.Status(); err == nil && s.State.Terminal() {
		return s, nil // ended or reconciled by another process before the lock was taken
	}
	if b.isAdoptable() {
		return b.Status() // its agent started and died before the lock was taken
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
	outcome := killOrphans(b.Dir, m.Handle, starts)
	cancelled, _ := b.cancelRequested()
	s := replayResult(m, starts, exits, cancelled, b.recordedDeadline(m))
	if s.State == spec.Cancelled {
		s.Msg = b.cancelMessage()
	}
	switch {
	case s.Msg == policy.AgentDied:
		s.Msg += "; " + outcome
	case outcome != allEnded:
		s.Msg += "; the agent died, " + outcome
	}
	b.settleAdmission(m, &s)
	if err := b.writeStatus(&s, true); err != nil && !cannotWrite(err) {
		return nil, err
	}
	return &s, nil // if it could not be written, the next Inspect derives it again
}
