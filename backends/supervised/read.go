package supervised

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// Describe returns the status of an app. If its agent died, Describe first repairs the
// status.
func (a *Apps) Describe(_ context.Context, id string) (*spec.Status, error) {
	s, err := a.Bundle(id).Recover(a.Exe)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !a.owns(s) {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	return s, err
}

// List returns the apps of this backend in the home.
func (a *Apps) List(context.Context) ([]backend.View, error) {
	agent.CleanUp(a.Home) // cheap, because List reads all folders anyway
	bundles, err := agent.List(a.Home)
	if err != nil {
		return nil, err
	}
	var all []backend.View
	for _, bundle := range bundles {
		m, err := bundle.Manifest()
		if err != nil || m.Backend != a.Backend {
			continue // being deleted, or of another backend
		}
		s, err := bundle.Recover(a.Exe)
		if err != nil {
			continue
		}
		var v backend.View
		v.ID, v.Name, v.State = m.ID, m.App.Name, s.State
		all = append(all, v)
	}
	return all, nil
}

// Delete removes the bundle of an ended app; logs below log_dir and outputs below output_dir
// stay.
func (a *Apps) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	s, err := a.Describe(ctx, id)
	if err != nil {
		return err
	}
	if !s.State.Terminal() {
		return fmt.Errorf("app %s is still running: cancel it first", id)
	}
	bundle := a.Bundle(id)
	AwaitAgent(bundle)
	keep := a.logsToKeep(bundle, o)
	removeEmptyOutput(bundle)
	a.unwatch(bundle)
	if err := bundle.Remove(keep); errors.Is(err, fs.ErrNotExist) && !bundle.Exists() {
		return fmt.Errorf("app %s: %w", id, backend.ErrNotFound) // another process deleted it
	} else if err != nil {
		return err
	}
	return nil
}

// agentTimeout bounds the wait for an agent that has published its result and is syncing
// it to disk.
const agentTimeout = 10 * time.Second

// AwaitAgent waits until the agent of an ended app has ended.
func AwaitAgent(bundle agent.Bundle) {
	bundle.Resume()
	for deadline := time.Now().Add(agentTimeout); bundle.Held() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// describeAndNotify is Describe, and notifies observers of the app.
func (a *Apps) describeAndNotify(ctx context.Context, id string) (*spec.Status, error) {
	s, err := a.Describe(ctx, id)
	if err == nil {
		a.Notify(id, s)
	}
	return s, err
}

// Wait returns the terminal status of an app.
func (a *Apps) Wait(ctx context.Context, id string) (*spec.Status, error) {
	if s, err := a.describeAndNotify(ctx, id); err != nil || s.State.Terminal() {
		return s, err
	}
	w := a.watch(id)
	for {
		changed := w.changed()
		w.bundle.Resume()
		s, err := a.describeAndNotify(ctx, id)
		if err != nil || s.State.Terminal() {
			a.unwatch(w.bundle) // a sweep waits for thousands of apps
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-changed:
		}
	}
}

// Logs opens the log of one replica.
func (a *Apps) Logs(
	_ context.Context, id string, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	bundle := a.Bundle(id)
	if !bundle.Exists() {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	w := a.watch(id)
	s, err := w.current()
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	if !a.owns(s) {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	if s.Replica(r) == nil {
		return nil, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id, backend.ErrNotFound)
	}
	l, err := w.layout()
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	return logstore.Open(a.source(w, l, r), o)
}

// Source returns the source of a replica's log.
func (a *Apps) Source(id string, r spec.Replica) (logstore.Source, error) {
	w := a.watch(id)
	l, err := w.layout()
	if err != nil {
		return logstore.Source{}, fmt.Errorf("read app %s: %w", id, err)
	}
	return a.source(w, l, r), nil
}

func (a *Apps) source(w *watch, l Layout, r spec.Replica) logstore.Source {
	return logstore.Source{
		Dir:   func(attempt int) string { return l.ReplicaDir(r, attempt) },
		State: func() (int, bool, error) { return w.attempts(r) },
		Watch: []string{w.bundle.Dir},
		Hub:   a.hub,
	}
}

// UsageDir returns the bundle: agents append samples to it.
func (a *Apps) UsageDir(_ context.Context, id string) (dir, missing string) {
	return a.Bundle(id).Dir, ""
}
