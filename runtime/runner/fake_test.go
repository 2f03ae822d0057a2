package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
)

// fake is a backend whose apps and errors a test sets.
type fake struct {
	name      string
	mu        sync.Mutex
	apps      map[string]*spec.Status
	order     []string
	submit    func(*backend.Plan) error // nil: the app starts
	describe  func(id string) error     // returns an error for an app; may be nil
	list      error                     // error of List
	foreign   []history.View            // further apps of List
	cancelled []string
	deleted   []string
}

// request is the request that fake plans.
type request struct {
	AppID string             `json:"app_id"`
	Env   []spec.Map[string] `json:"env"`
}

var _ backend.Backend = (*fake)(nil)

func newFake(name string) *fake { return &fake{name: name, apps: map[string]*spec.Status{}} }

func (f *fake) Name() string { return f.name }
func (f *fake) Close() error { return nil }

func (f *fake) Capabilities() backend.Capabilities { return backend.Capabilities{} }

func (f *fake) Options() []backend.Option {
	return []backend.Option{
		{Key: "log_dir", Risk: backend.Harmless, Type: backend.TypeStr},
		{Key: "image_type", Risk: backend.Harmless, Type: backend.TypeStr, Default: "cwd", Choices: []string{"cwd", "dir"}},
	}
}

func (f *fake) Plan(_ context.Context, in backend.PlanInput) (*backend.Plan, error) {
	q := &request{AppID: in.ID}
	for _, r := range in.App.Roles {
		q.Env = append(q.Env, spec.Macros{AppID: in.ID}.Apply(r).Env)
	}
	return &backend.Plan{ID: in.ID, App: in.App, Cfg: in.Cfg, Request: q, Warnings: []string{"planned"}}, nil
}

func (f *fake) Load(_ context.Context, in backend.PlanInput, raw json.RawMessage) (*backend.Plan, error) {
	q := &request{}
	if err := json.Unmarshal(raw, q); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	return &backend.Plan{ID: q.AppID, App: in.App, Cfg: in.Cfg, Request: q, Warnings: []string{"planned", "loaded"}}, nil
}

func (f *fake) Submit(_ context.Context, p *backend.Plan) error {
	if f.submit != nil {
		return f.submit(p)
	}
	s := &spec.Status{State: spec.Running}
	for _, r := range p.App.Roles {
		rs := spec.RoleStatus{Role: r.Name}
		for id := range r.NumReplicas {
			rs.Replicas = append(rs.Replicas, spec.ReplicaStatus{ID: id, Role: r.Name, State: spec.Running})
		}
		s.Roles = append(s.Roles, rs)
	}
	f.set(p.ID, s)
	return nil
}

func (f *fake) set(id string, s *spec.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.apps[id]; !ok {
		f.order = append(f.order, id)
	}
	f.apps[id] = s
}

func (f *fake) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.apps, id)
}

func (f *fake) finish(id string, st spec.State, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := *f.apps[id]
	s.State, s.ExitCode = st, &code
	f.apps[id] = &s
}

func (f *fake) Describe(_ context.Context, id string) (*spec.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.describe != nil {
		if err := f.describe(id); err != nil {
			return nil, err
		}
	}
	s, ok := f.apps[id]
	if !ok {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	c := *s
	return &c, nil
}

func (f *fake) List(context.Context) ([]history.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list != nil {
		return nil, f.list
	}
	list := slices.Clone(f.foreign)
	for _, id := range f.order {
		if s, ok := f.apps[id]; ok {
			v := history.View{}
			v.ID, v.State, v.SubmittedAt, v.FinishedAt, v.ExitCode = id, s.State, s.SubmittedAt, s.FinishedAt, s.ExitCode
			list = append(list, v)
		}
	}
	return list, nil
}

func (f *fake) Cancel(_ context.Context, id string, _ backend.CancelOptions) error {
	f.mu.Lock()
	s, ok := f.apps[id]
	f.mu.Unlock()
	if ok && !s.State.Terminal() {
		f.cancelled = append(f.cancelled, id)
		f.finish(id, spec.Cancelled, 130)
	}
	return nil
}

func (f *fake) Delete(_ context.Context, id string, _ backend.DeleteOptions) error {
	if s, err := f.Describe(context.Background(), id); err != nil || !s.State.Terminal() {
		return errors.Join(err, errors.New("cannot delete"))
	}
	f.deleted = append(f.deleted, id)
	f.remove(id)
	return nil
}

func (f *fake) Logs(_ context.Context, id string, r spec.Replica, _ backend.LogOptions) (backend.LogReader, error) {
	s, err := f.Describe(context.Background(), id)
	if err != nil {
		return nil, err
	}
	if s.Replica(r) == nil || r.Role == "purged" {
		return nil, fmt.Errorf("purged since noon: %w", backend.ErrNotFound)
	}
	return noLog{}, nil
}

type noLog struct{}

func (noLog) Next(context.Context) (backend.Block, error) { return backend.Block{}, io.EOF }
func (noLog) Close() error                                { return nil }

func (f *fake) Wait(ctx context.Context, id string) (*spec.Status, error) {
	for p := (&pause{next: time.Millisecond, max: time.Millisecond}); ; {
		s, err := f.Describe(ctx, id)
		if err != nil || s.State.Terminal() {
			return s, err
		}
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// goldenRandom is the random value that the golden files were made with.
const goldenRandom = 0x123456789ABCDEF0

// world is a runner over a fake called local, with a real history.
type world struct {
	*Runner
	local          *fake
	other          *fake
	env            map[string]string
	mu             sync.Mutex
	warnings       []string
	clock          time.Time
	submittersDead bool // whether submitters have died
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		local: newFake("local"), other: newFake("docker"), env: map[string]string{},
		clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	reg := backend.NewRegistry()
	reg.Add("local", func() (backend.Backend, error) { return w.local, nil })
	reg.Add("docker", func() (backend.Backend, error) { return w.other, nil })
	reg.AddAlias("local_cwd", backend.Alias{Backend: "local"})
	reg.AddAlias("local_dir", backend.Alias{Backend: "local", Defaults: map[string]string{"image_type": "dir"}})
	reg.AddAlias("local_docker", backend.Alias{Backend: "docker"})
	db, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	n := uint64(goldenRandom)
	w.Runner = &Runner{
		Backends: reg, History: db,
		Warn: func(line string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.warnings = append(w.warnings, line)
		},
		LookupEnv: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok },
		Rand:      func() uint64 { n++; return n - 1 },
		Now:       func() time.Time { w.clock = w.clock.Add(time.Second); return w.clock },
		Alive:     func(string) bool { return !w.submittersDead },
	}
	return w
}

func (w *world) warned(t *testing.T, want string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !strings.Contains(strings.Join(w.warnings, "\n"), want) {
		t.Errorf("got warnings %q, want %q", w.warnings, want)
	}
}

// echo is an app of the goldens.
func echo(replicas int) *spec.App {
	role := spec.NewRole("echo", "i")
	role.Entrypoint, role.NumReplicas = "echo", replicas
	role.Resource = spec.Resource{CPU: 1, MemMB: 1024}
	return &spec.App{Name: "echo", Roles: []spec.Role{role}}
}

// run plans and submits an app with a name.
func (w *world) run(t *testing.T, backendName, name string) history.AppKey {
	t.Helper()
	app := echo(2)
	app.Name = name
	p, err := w.Plan(t.Context(), PlanRequest{Backend: backendName, App: app, Provenance: Provenance{Source: history.Source{Component: "utils.echo", Args: []string{"--msg", "x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.Ref()
}

// rowOf returns an app's record in the history.
func (w *world) rowOf(t *testing.T, ref history.AppKey) history.App {
	t.Helper()
	a, err := w.History.Get(t.Context(), ref.Backend, ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
