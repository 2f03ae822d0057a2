package agent

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/procs"
)

// Cancel stores the request durably and signals the agent. The reason may be "". Cancel does
// nothing if the app has ended or its agent is gone.
func Cancel(b Bundle, force bool, reason string) error {
	s, err := b.Status()
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	if s.State.Terminal() || !b.Held() {
		return nil
	}
	name := cancelFile
	if force {
		name = killFile
	}
	if !b.hasFile(name) {
		if err := WriteJSON(b.path(name), cancelRequest{time.Now(), reason}, true); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	err = signalHolder(b.path(lockFile), syscall.SIGTERM)
	b.Resume()
	return err
}

// Resume continues a supervisor that was stopped (SIGSTOP), so that a waiting command
// gets an answer.
func (s Supervisor) Resume() {
	if h := s.holder(); h.PID > 1 && procs.Stopped(h.PID) {
		_ = signalHolder(s.lock(), continueSignal) // on failure the command keeps waiting
	}
}

// Resume is Supervisor.Resume for the bundle's agent.
func (b Bundle) Resume() { b.supervisor().Resume() }

// signalHolder signals the agent and never another process with its pid: it pins the
// process, then checks that it has the lock open and that the lock is held. An agent that
// has not written its pid yet reads cancel.json before it starts anything.
func signalHolder(path string, sig syscall.Signal) error {
	h, err := readHolder(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || h.PID <= 1 {
		return err
	}
	send, release, err := pinProcess(h.PID)
	if err != nil {
		return nil // the process has just ended
	}
	defer release()
	if !procs.HasFile(h.PID, info) || !filelock.Held(path) {
		return nil
	}
	if err := send(sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal agent %d: %w", h.PID, err)
	}
	return nil
}
