//go:build unix

package agent

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
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
	if !b.has(name) {
		if err := writeJSON(b.path(name), cancelRequest{time.Now()}, true); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return b.signal(unix.SIGTERM)
}

// signal reaches the agent, or nobody: a pid alone could be somebody else's by
// now, a pid whose lock is still held after it was pinned is not. An agent that
// has not written its pid yet will look at cancel.json before it starts anything.
func (b Bundle) signal(sig unix.Signal) error { return signalHolder(b.path(lockFile), sig) }

func signalHolder(path string, sig unix.Signal) error {
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
	if !held(path) {
		return nil
	}
	if err := send(sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal agent %d: %w", h.PID, err)
	}
	return nil
}

// tellDeleted makes an agent look at its bundle, which is not there any more.
func (b Bundle) tellDeleted() { _ = signalHolder(b.marker(), unix.SIGTERM) } // it looks by itself later
