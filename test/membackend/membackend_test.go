// Package membackend tests the conformance suite and the runner with a backend that runs
// apps inside the test. Its replicas are goroutines that interpret a few programs (see
// Programs). Logs and results are in memory.
package membackend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Name is the backend's canonical name.
const Name = "mem"

// Backend is one client of a cluster.
type Backend struct {
	extra   []backend.Option
	cluster *cluster
}

// cluster has the apps. It outlives its clients.
type cluster struct {
	mu    sync.Mutex
	apps  map[string]*app
	order []string // IDs in the order of submits
}

// New returns a client of a new, empty cluster. It also accepts the extra options, which
// have no effect.
func New(extra ...backend.Option) *Backend {
	return &Backend{extra: extra, cluster: &cluster{apps: map[string]*app{}}}
}

// Reopen returns another client of the same cluster.
func (b *Backend) Reopen() *Backend { return &Backend{extra: b.extra, cluster: b.cluster} }

// Name is "mem".
func (b *Backend) Name() string { return Name }

// Capabilities returns none.
func (b *Backend) Capabilities() backend.Capabilities { return backend.Capabilities{} }

// Close does nothing: apps belong to the cluster, not to its clients.
func (b *Backend) Close() error { return nil }

// Submit starts all replicas. If a program does not exist, it returns a *StartError with
// code 127, and the app is FAILED without starting any.
func (b *Backend) Submit(_ context.Context, p *backend.Plan) error {
	req, ok := p.Request.(*Request)
	if !ok {
		return backend.Errorf(backend.ErrInvalidPlan, "request is a %T, not one of backend %s", p.Request, Name)
	}
	a := newApp(p, req)
	if err := b.cluster.add(a); err != nil {
		return err
	}
	return a.start()
}

func (c *cluster) add(a *app) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.apps[a.id]; ok {
		return fmt.Errorf("app %s: %w", a.id, backend.ErrExists)
	}
	c.apps[a.id] = a
	c.order = append(c.order, a.id)
	return nil
}

func (c *cluster) get(id string) (*app, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.apps[id]; ok {
		return a, nil
	}
	return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
}

// Describe returns a copy of the app's status.
func (b *Backend) Describe(_ context.Context, id string) (*spec.Status, error) {
	a, err := b.cluster.get(id)
	if err != nil {
		return nil, err
	}
	s, _ := a.snapshot()
	return s, nil
}

// List returns all apps in the order of submits.
func (b *Backend) List(context.Context) ([]history.View, error) {
	b.cluster.mu.Lock()
	defer b.cluster.mu.Unlock()
	all := make([]history.View, len(b.cluster.order))
	for i, id := range b.cluster.order {
		a := b.cluster.apps[id]
		s, _ := a.snapshot()
		all[i].ID, all[i].Name, all[i].State = id, a.name, s.State
	}
	return all, nil
}

// Wait returns the terminal status of an app.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	a, err := b.cluster.get(id)
	if err != nil {
		return nil, err
	}
	for {
		s, changed := a.snapshot()
		if s.State.Terminal() {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-changed:
		}
	}
}

// Cancel asks all replicas to stop, and kills them after the grace_period.
func (b *Backend) Cancel(_ context.Context, id string, o backend.CancelOptions) error {
	a, err := b.cluster.get(id)
	if err != nil {
		return nil //nolint:nilerr // canceling an unknown app does nothing
	}
	a.cancel(o.Force)
	return nil
}

// Delete removes a finished app and its logs.
func (b *Backend) Delete(_ context.Context, id string, _ backend.DeleteOptions) error {
	a, err := b.cluster.get(id)
	if err != nil {
		return err
	}
	if s, _ := a.snapshot(); !s.State.Terminal() {
		return fmt.Errorf("app %s is still running: cancel it first", id)
	}
	b.cluster.mu.Lock()
	defer b.cluster.mu.Unlock()
	delete(b.cluster.apps, id)
	b.cluster.order = slices.DeleteFunc(b.cluster.order, func(other string) bool { return other == id })
	return nil
}

// Logs opens the log of one replica.
func (b *Backend) Logs(_ context.Context, id string, r spec.Replica, o backend.LogOptions) (backend.LogReader, error) {
	a, err := b.cluster.get(id)
	if err != nil {
		return nil, err
	}
	rep := a.replica(r)
	if rep == nil {
		return nil, fmt.Errorf("replica %s/%d of app %s (roles: %s): %w", r.Role, r.ID, id, strings.Join(a.roleNames(), ", "), backend.ErrNotFound)
	}
	return newReader(a, rep, o)
}

// seconds converts an option to a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
