package agent

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"torchx/runtime/filelock"
)

// Cancel makes the request durable and tells the agent. An app that has ended,
// or whose agent is gone, needs neither.
func Cancel(b Bundle, force bool) error {
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
		if err := writeJSON(b.path(name), cancelRequest{time.Now()}, true); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return signalHolder(b.path(lockFile), syscall.SIGTERM)
}

// signalHolder signals the agent, or no process: a pid alone may be another process's by
// now, one whose lock is still held after it was pinned is the agent's. An agent that
// has not written its pid yet reads cancel.json before it starts anything.
func signalHolder(path string, sig syscall.Signal) error {
	h, err := readHolder(path)
	if err != nil {
		return err
	}
	if h.PID <= 0 {
		return nil
	}
	send, release, err := pinProcess(h.PID)
	if err != nil {
		return nil // it has just ended
	}
	defer release()
	if !filelock.Held(path) {
		return nil
	}
	if err := send(sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal agent %d: %w", h.PID, err)
	}
	return nil
}
