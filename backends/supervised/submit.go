package supervised

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// Start writes the bundle of an app, starts its agent and returns when all replicas have
// started. unrecorded means that the history could not store the app; more is as in
// agent.Create. Errors: ErrExists, *backend.StartError.
func (a *Apps) Start(m *agent.Manifest, unrecorded bool, more ...func(dir string) error) error {
	if runtime.GOOS == "windows" {
		return backend.Errorf(backend.ErrUnsupported,
			"the %s backend needs Linux or macOS", a.Backend)
	}
	if unrecorded {
		a.noteUnrecorded(m.ID)
	}
	bundle, lock, err := agent.Create(m, more...)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("app %s: %w", m.ID, backend.ErrExists)
	}
	if err != nil {
		return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
	}
	defer lock.Close() // then only the agent holds it
	failpoint.Hit(failpoint.Bundled)
	err = agent.Spawn(a.Exe, bundle, lock, a.takeEarly(m.ID))
	failpoint.Hit(failpoint.Spawned)
	return err
}

// Begin starts the agent of an app in advance, and returns what ends it if Start did not take it.
// Without it, as on a system that cannot, Start starts the agent.
func (a *Apps) Begin(id string) (end func()) {
	started := make(chan *agent.Early, 1)
	go func() {
		early, _ := agent.StartEarly(a.Exe, a.Bundle(id)) // nil if it fails
		started <- early
	}()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.early[id] = started
	return func() {
		if e := a.takeEarly(id); e != nil {
			e.End()
		}
	}
}

// takeEarly returns the agent that was started in advance, nil if none was.
func (a *Apps) takeEarly(id string) *agent.Early {
	a.mu.Lock()
	started := a.early[id]
	delete(a.early, id)
	a.mu.Unlock()
	if started == nil {
		return nil
	}
	return <-started
}

// KeepsAfter implements backend.AfterKeeper: agents wait for other apps.
func (a *Apps) KeepsAfter(context.Context, backend.After) bool { return true }

// Cancel writes the cancel request and signals the app's agent.
func (a *Apps) Cancel(_ context.Context, id string, o backend.CancelOptions) error {
	if runtime.GOOS == "windows" || !a.Has(id) {
		return nil
	}
	err := agent.Cancel(a.Bundle(id), o.Force, o.Reason)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
