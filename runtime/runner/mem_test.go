package runner

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
	"torchx/test/membackend"
)

// newMem is a runner over the mem backend.
func newMem(t *testing.T) *Runner {
	t.Helper()
	reg := backend.NewRegistry()
	reg.Add(membackend.Name, func() (backend.Backend, error) { return membackend.New(), nil })
	db, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = reg.Close(), db.Close() })
	return &Runner{Backends: reg, History: db, Warn: func(line string) { t.Log(line) }}
}

func submitMem(t *testing.T, r *Runner, entrypoint string, args ...string) history.AppKey {
	t.Helper()
	app := echo(2)
	app.Roles[0].Entrypoint, app.Roles[0].Args = entrypoint, args
	p, err := r.Plan(t.Context(), PlanRequest{Backend: membackend.Name, App: app})
	if err != nil {
		t.Fatal(err)
	}
	// By way of its JSON form, as `submit` does.
	raw, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if p, err = r.Load(t.Context(), raw, LoadOptions{}); err != nil {
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

func TestMemLifecycle(t *testing.T) {
	t.Parallel()
	r := newMem(t)
	ref := submitMem(t, r, "echo", "replica ${replica_id} of", "${app_id}")
	inputs, err := r.Logs(t.Context(), ref, "", nil, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil || len(inputs) != 2 {
		t.Fatalf("%v, %v", inputs, err)
	}
	defer CloseLogs(inputs)
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
	if err := r.Delete(t.Context(), ref, backend.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if rows, err := r.List(t.Context(), Filter{Backend: membackend.Name}); err != nil || len(rows) != 0 {
		t.Errorf("list: %v, %v", rows, err)
	}
}

func TestMemCancelFailDelete(t *testing.T) {
	t.Parallel()
	r := newMem(t)
	sleeper := submitMem(t, r, "sleep", "600")
	if err := r.Cancel(t.Context(), sleeper, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Wait(t.Context(), sleeper); err != nil || s.State != spec.Cancelled || *s.ExitCode != exitCancelled {
		t.Errorf("%+v, %v", s, err)
	}
	failing := submitMem(t, r, "exit", "3")
	if s, err := r.Wait(t.Context(), failing); err != nil || s.State != spec.Failed || *s.ExitCode != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	live := submitMem(t, r, "sleep", "600")
	if err := r.Delete(t.Context(), live, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Status(t.Context(), live); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
	rows, err := r.List(context.Background(), Filter{States: []spec.State{spec.Failed, spec.Cancelled}})
	if err != nil || len(rows) != 2 || rows[0].AppID != failing.ID || *rows[0].ExitCode != 3 {
		t.Errorf("%+v, %v", rows, err)
	}
}
