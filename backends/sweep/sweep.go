// Package sweep runs sweeps: apps that run other apps, their trials, on the backend that their
// definition names. A sweep is a bundle (runtime/agent) whose supervisor is a controller.
//
//	Backend     Plan and Submit: the definition and the trials ──► bundle, controller; reads
//	            bundles: status, trials, logs of trials, more trials
//	controller  in the supervisor: events ──► journal ──► policy.Machine ──► submits and cancels
//	files       trials.jsonl (what to run) and journal.jsonl (what happened) of a bundle
package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"torchx/backends/driver"
	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// Name is the backend's canonical name.
const Name = "sweep"

// Backend has the sweeps of a home.
type Backend struct {
	*supervised.Apps
	open func(name string) (backend.Backend, error) // the backends of trials

	mu    sync.Mutex
	known map[string]knownTrials // by folder of the sweep
}

// Driver registers the backend.
func Driver() driver.Driver {
	return driver.Driver{
		Name: Name,
		Open: func(e driver.Env) (backend.Backend, error) {
			apps, err := supervised.New(supervised.Config{Backend: Name, Home: e.Home, Exe: e.Exe, Layout: layout})
			if err != nil {
				return nil, err
			}
			return &Backend{Apps: apps, open: e.Backend, known: map[string]knownTrials{}}, nil
		},
		Pending: supervised.Pending(), RunAgent: runAgent, OwnsDir: driver.OwnsBundle(Name),
	}
}

// layout is that of a bundle: a sweep has no logs of its own.
func layout(m *agent.Manifest) (supervised.Layout, error) {
	return supervised.Layout{Dir: agent.BundleAt(m.Home, m.ID).Dir}, nil
}

// Name is "sweep".
func (b *Backend) Name() string { return Name }

// Options returns none: those of trials are part of the definition.
func (b *Backend) Options() []backend.Option { return nil }

// Plan plans the sweep in.Sweep.
func (b *Backend) Plan(_ context.Context, in backend.PlanInput) (*backend.Plan, error) {
	if in.Sweep == nil {
		return nil, backend.Errorf(backend.ErrUnsupported, "backend %s runs the trials of sweeps only: use `torchx sweep`, or another backend", Name)
	}
	if len(in.Sweep.Trials) == 0 {
		return nil, errors.New("the sweep has no trials")
	}
	for i := range in.Sweep.Trials {
		if err := check(&in.Sweep.Trials[i], i); err != nil {
			return nil, err
		}
	}
	return &backend.Plan{ID: in.ID, App: in.App, Cfg: in.Cfg, Request: in.Sweep}, nil
}

// check returns an error for a trial that cannot be stored.
func check(t *sweep.Trial, number int) error {
	if t.Number != number || t.App == nil {
		return fmt.Errorf("trial %d is at place %d, or has no app", t.Number, number)
	}
	for i := range t.App.Roles {
		if t.App.Roles[i].PreProc != nil {
			return fmt.Errorf("role %s has pre_proc, which a sweep cannot call for its trials: remove it", t.App.Roles[i].Name)
		}
	}
	return nil
}

// Load fails: a plan in a file has no trials.
func (b *Backend) Load(context.Context, backend.PlanInput, json.RawMessage) (*backend.Plan, error) {
	return nil, backend.Errorf(backend.ErrInvalidPlan,
		"a sweep cannot be submitted from a file: use `torchx sweep`")
}

// Submit writes the bundle of a sweep and starts its controller.
func (b *Backend) Submit(_ context.Context, p *backend.Plan) error {
	in, ok := p.Request.(*sweep.Plan)
	if !ok {
		return backend.Errorf(backend.ErrInvalidPlan, "the plan has no trials")
	}
	raw, err := json.Marshal(in.Definition)
	if err != nil {
		return fmt.Errorf("encode sweep: %w", err)
	}
	m := &agent.Manifest{
		Version: 1, ID: p.ID, Backend: Name, Handle: handleOf(p.ID), Home: b.Home,
		App: p.App, Cfg: p.Cfg, Request: raw, Environ: p.Environ, Record: p.Record, SubmittedAt: failpoint.Now(),
		Lifecycle: agent.Lifecycle{Containers: true, Controls: true, OnEnd: p.OnEnd},
	}
	return b.Start(m, p.Unrecorded, func(dir string) error { return writeTrials(dir, in.Trials) })
}

// handleOf returns the handle of a sweep.
func handleOf(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}
