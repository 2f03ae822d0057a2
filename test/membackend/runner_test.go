package membackend

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/state"
)

// newRunner returns a runner with the mem backend.
func newRunner(t *testing.T) *runner.Runner {
	t.Helper()
	reg := backend.NewRegistry()
	reg.Add(Name, func() (backend.Backend, error) { return New(), nil })
	db, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = reg.Close(), db.Close() })
	return &runner.Runner{Backends: reg, History: db, Warn: func(line string) { t.Log(line) }}
}

func echoApp(replicas int) *spec.App {
	role := spec.NewRole("echo", "i")
	role.Entrypoint, role.NumReplicas = "echo", replicas
	return &spec.App{Name: "echo", Roles: []spec.Role{role}}
}

func submit(t *testing.T, r *runner.Runner, entrypoint string, args ...string) history.AppKey {
	t.Helper()
	app := echoApp(2)
	app.Roles[0].Entrypoint, app.Roles[0].Args = entrypoint, args
	p, err := r.Plan(t.Context(), runner.PlanRequest{Backend: Name, App: app})
	if err != nil {
		t.Fatal(err)
	}
	// Through its JSON form, as in `submit`.
	raw, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = r.Load(t.Context(), raw, runner.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.Ref()
}

func readAll(t *testing.T, reader backend.LogReader) string {
	t.Helper()
	var b strings.Builder
	for {
		block, err := reader.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Write(block.Data)
	}
}

func TestRunnerLifecycle(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	ref := submit(t, r, "echo", "replica ${replica_id} of", "${app_id}")
	inputs, err := r.Logs(t.Context(), ref, "", nil, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil || len(inputs) != 2 {
		t.Fatalf("%v, %v", inputs, err)
	}
	defer runner.CloseLogs(inputs)
	if got, want := readAll(t, inputs[1].Reader), "replica 1 of "+ref.ID+"\n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	s, err := r.Wait(t.Context(), ref)
	if err != nil || s.State != spec.Succeeded || s.ExitCode == nil || *s.ExitCode != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	a, err := r.History.Get(t.Context(), ref.Backend, ref.ID)
	if err != nil || a.State != spec.Succeeded || a.FinishedAt == nil {
		t.Errorf("history: %+v, %v", a, err)
	}
	if got, err := r.Resolve(t.Context(), "-"); err != nil || got != ref {
		t.Errorf("-: %v, %v", got, err)
	}
	if err := r.Delete(t.Context(), ref, runner.DeleteOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if rows, err := r.List(t.Context(), runner.Filter{Backend: Name}); err != nil || len(rows) != 0 {
		t.Errorf("list: %v, %v", rows, err)
	}
}

func TestRunnerCancelFailDelete(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	sleeper := submit(t, r, "sleep", "600")
	if err := r.Cancel(t.Context(), sleeper, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Wait(t.Context(), sleeper); err != nil || s.State != spec.Cancelled || *s.ExitCode != exitCancelled {
		t.Errorf("%+v, %v", s, err)
	}
	failing := submit(t, r, "exit", "3")
	if s, err := r.Wait(t.Context(), failing); err != nil || s.State != spec.Failed || *s.ExitCode != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	live := submit(t, r, "sleep", "600")
	if err := r.Delete(t.Context(), live, runner.DeleteOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Status(t.Context(), live); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	rows, err := r.List(context.Background(), runner.Filter{States: []spec.State{spec.Failed, spec.Cancelled}})
	if err != nil || len(rows) != 2 || rows[0].ID != failing.ID || *rows[0].ExitCode != 3 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestCheckTerminal(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	for replicas, want := range map[int]error{1: runner.ErrNoTerminal, 2: runner.ErrManyReplicas} {
		p, err := r.Plan(t.Context(), runner.PlanRequest{Backend: Name, App: echoApp(replicas)})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.CheckTerminal(p); !errors.Is(err, want) {
			t.Errorf("%d replicas: %v", replicas, err)
		}
	}
	_, err := r.OpenTerminal(t.Context(), history.AppKey{Backend: Name, ID: "any"}, backend.TerminalOptions{})
	if !errors.Is(err, runner.ErrNoTerminal) || !strings.HasSuffix(err.Error(), "not supported by backend mem") {
		t.Errorf("%v", err)
	}
}
