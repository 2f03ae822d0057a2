//go:build unix

package agent

import (
	"errors"
	"fmt"

	"torchx/runtime/spec"
)

// Tend is Inspect for a backend whose replicas may be containers: when the agent
// of such an app died, another one is started first, by the program exe.
func (b Bundle) Tend(exe string) (*spec.Status, error) {
	s, err := b.Inspect()
	if err != nil || s.State.Terminal() || b.Held() || !b.adoptable() {
		return s, err
	}
	if err := b.revive(exe); err != nil {
		return nil, fmt.Errorf("app folder %s: %w", b.Dir, err)
	}
	return b.Status()
}

// revive starts the agent of an app of containers again after it died.
func (b Bundle) revive(exe string) error {
	lock, err := b.reacquire()
	if errors.Is(err, errHeld) {
		return nil // somebody else does
	}
	if err != nil {
		return err
	}
	defer lock.Close() // from here on only the agent holds it
	if s, err := b.Status(); err == nil && s.State.Terminal() {
		return nil
	}
	return Spawn(exe, b, lock)
}
