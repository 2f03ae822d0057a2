//go:build unix

package supervised

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

var worker = spec.Replica{Role: "w", ID: 0}

func newApps(t *testing.T, exe string) *Apps {
	t.Helper()
	a, err := New(Config{Backend: "fake", Home: t.TempDir(), Exe: exe, Layout: func(m *agent.Manifest) (Layout, error) {
		return Layout{Dir: agent.BundleAt(m.Home, m.ID).Dir}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func manifest(a *Apps, backendName, id string) *agent.Manifest {
	return &agent.Manifest{
		Version: 1, ID: id, Backend: backendName, Handle: backendName + "://torchx/" + id, Home: a.Home, SubmittedAt: time.Now(),
		App: &spec.App{Name: "a", Roles: []spec.Role{{Name: "w", Entrypoint: "true", NumReplicas: 1}}},
	}
}

// create creates the bundle of an app. The test holds its lock, as an agent does.
func create(t *testing.T, a *Apps, backendName, id string) (agent.Bundle, io.Closer) {
	t.Helper()
	b, lock, err := agent.Create(manifest(a, backendName, id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	return b, lock
}

func setState(t *testing.T, b agent.Bundle, backendName, id string, s spec.State) {
	t.Helper()
	now := time.Now()
	data, err := json.Marshal(&spec.Status{
		Handle: backendName + "://torchx/" + id, State: s,
		Roles: []spec.RoleStatus{{Role: "w", Replicas: []spec.ReplicaStatus{{Role: "w", State: s, StartedAt: &now}}}},
	})
	if err == nil {
		err = os.WriteFile(b.StatusPath()+".new", data, 0o600)
	}
	if err = errors.Join(err, os.Rename(b.StatusPath()+".new", b.StatusPath())); err != nil {
		t.Fatal(err)
	}
}

// ended creates an app that has succeeded and logged a line.
func ended(t *testing.T, a *Apps, backendName, id string) agent.Bundle {
	t.Helper()
	b, lock := create(t, a, backendName, id)
	dir := Layout{Dir: b.Dir}.ReplicaDir(worker, 0)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := logstore.Create(dir)
	if err == nil {
		err = errors.Join(w.Append(logstore.Stdout, []byte("line\n"), time.Now()), w.Close(false))
	}
	if err != nil {
		t.Fatal(err)
	}
	setState(t, b, backendName, id, spec.Succeeded)
	lock.Close()
	return b
}

func TestLayout(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]Layout{"/d/replicas/w/0/2": {Dir: "/d"}, "/d/w/0/attempt-2": {Dir: "/d", User: true}} {
		if got := l.ReplicaDir(worker, 2); got != want {
			t.Errorf("got folder %s, want %s", got, want)
		}
	}
	if got, want := (Layout{Dir: "/d", User: true}).ReplicaDir(worker, 0), "/d/w/0"; got != want {
		t.Errorf("got folder %s, want %s", got, want)
	}
}

func TestEndedApp(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	b := ended(t, a, "fake", "x")
	if s, err := a.Describe(t.Context(), "x"); err != nil || s.State != spec.Succeeded {
		t.Errorf("Describe: got %+v, %v, want succeeded", s, err)
	}
	if s, err := a.Wait(t.Context(), "x"); err != nil || s.State != spec.Succeeded {
		t.Errorf("Wait: got %+v, %v, want succeeded", s, err)
	}
	if all, err := a.List(t.Context()); err != nil || len(all) != 1 || all[0].ID != "x" || all[0].Name != "a" {
		t.Errorf("List: got %+v, %v, want x", all, err)
	}
	if n, err := a.Size(t.Context(), "x", backend.DeleteOptions{}); err != nil || n == 0 {
		t.Errorf("Size: got %d, %v, want some bytes", n, err)
	}
	r, err := a.Logs(t.Context(), "x", worker, backend.LogOptions{Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if block, err := r.Next(t.Context()); err != nil || string(block.Data) != "line\n" {
		t.Errorf("Logs: got %q, %v, want the line", block.Data, err)
	}
	if _, err := a.Logs(t.Context(), "x", spec.Replica{Role: "w", ID: 1}, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("Logs of a missing replica: got %v, want %v", err, backend.ErrNotFound)
	}
	if err := a.Delete(t.Context(), "x", backend.DeleteOptions{}); err != nil || b.Exists() {
		t.Errorf("Delete: got %v, bundle exists: %v, want neither", err, b.Exists())
	}
}

func TestDeleteKeepsLogs(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	for _, folder := range []string{"x", "x+2"} { // of two apps with the same ID
		ended(t, a, "fake", "x")
		if err := a.Delete(t.Context(), "x", backend.DeleteOptions{KeepLogs: true}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(a.Home, "logs", folder, "w", "0", "0", logstore.StdoutFile)
		if data, err := os.ReadFile(name); err != nil || string(data) != "line\n" {
			t.Errorf("%s: got %q, %v, want the line", name, data, err)
		}
	}
}

// All backends of a home have their bundles in one folder.
func TestAppsOfOtherBackends(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	ended(t, a, "other", "x")
	for _, id := range []string{"x", "none"} {
		if a.Has(id) {
			t.Errorf("Has(%s): got true, want false", id)
		}
		_, describe := a.Describe(t.Context(), id)
		_, wait := a.Wait(t.Context(), id)
		_, logs := a.Logs(t.Context(), id, worker, backend.LogOptions{})
		_, size := a.Size(t.Context(), id, backend.DeleteOptions{})
		for what, err := range map[string]error{"Describe": describe, "Wait": wait, "Logs": logs, "Size": size, "Delete": a.Delete(t.Context(), id, backend.DeleteOptions{})} {
			if !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("%s of %s: got %v, want %v", what, id, err, backend.ErrNotFound)
			}
		}
		if err := a.Cancel(t.Context(), id, backend.CancelOptions{}); err != nil {
			t.Errorf("Cancel of %s: got %v, want nothing", id, err)
		}
	}
	if all, err := a.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("List: got %+v, %v, want nothing", all, err)
	}
}

func TestRunningApp(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	b, lock := create(t, a, "fake", "x")
	setState(t, b, "fake", "x", spec.Running)
	if err := a.Delete(t.Context(), "x", backend.DeleteOptions{}); err == nil || !strings.Contains(err.Error(), "still running") {
		t.Errorf("Delete: got %v, want an error: the app is running", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := a.Wait(ctx, "x"); !errors.Is(err, context.Canceled) || s.State != spec.Running {
		t.Errorf("Wait: got %+v, %v, want running and %v", s, err, context.Canceled)
	}
	waited := make(chan spec.State)
	go func() {
		s, err := a.Wait(t.Context(), "x")
		if err != nil {
			t.Error(err)
		}
		waited <- s.State
	}()
	setState(t, b, "fake", "x", spec.Failed)
	lock.Close()
	if got := <-waited; got != spec.Failed {
		t.Errorf("Wait: got %v, want %v", got, spec.Failed)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	var failed *backend.StartError
	if err := a.Start(manifest(a, "fake", "x"), true); !errors.As(err, &failed) || failed.Code != 125 {
		t.Errorf("without the program: got %v, want a StartError with code 125", err)
	}
	if _, err := os.Stat(a.unrecordedPath("x")); err != nil {
		t.Errorf("the app has no file in unrecorded: %v", err)
	}
	ended(t, a, "fake", "y")
	if err := a.Start(manifest(a, "fake", "y"), false); !errors.Is(err, backend.ErrExists) {
		t.Errorf("second Start: got %v, want %v", err, backend.ErrExists)
	}
}

func TestRetainedLogs(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	ended(t, a, "fake", "x")
	if k, err := a.RetainableLogs(t.Context(), "x", backend.DeleteOptions{}); k != nil || err != nil {
		t.Errorf("without KeepLogs: got %+v, %v, want nothing", k, err)
	}
	k, err := a.RetainableLogs(t.Context(), "x", backend.DeleteOptions{KeepLogs: true})
	if err != nil || k.Dir != filepath.Join(a.Home, "logs", "x") || len(k.Roles) != 1 || k.Roles[0].Attempts[0] != 1 {
		t.Fatalf("got %+v, %v, want one attempt in the folder of logs", k, err)
	}
	if err := a.Delete(t.Context(), "x", backend.DeleteOptions{KeepLogs: true}); err != nil {
		t.Fatal(err)
	}
	r, err := a.OpenRetainedLogs(t.Context(), k, worker, backend.LogOptions{Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if block, err := r.Next(t.Context()); err != nil || string(block.Data) != "line\n" {
		t.Errorf("got %q, %v, want the line", block.Data, err)
	}
	if _, err := a.OpenRetainedLogs(t.Context(), k, spec.Replica{Role: "w", ID: 1}, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("missing replica: got %v, want %v", err, backend.ErrNotFound)
	}
	if k := UserLogs(filepath.Join(a.Home, "none"), nil); k != nil {
		t.Errorf("missing folder: got %+v, want nothing", k)
	}
	if k := UserLogs(a.Home, []spec.RoleStatus{{Role: "w", Replicas: []spec.ReplicaStatus{{}}}}); k == nil || k.Roles[0].Attempts[0] != 0 {
		t.Errorf("folder of the user: got %+v, want no attempt", k)
	}
}

// AppRecords returns apps that the history could not store.
func TestAppRecords(t *testing.T) {
	t.Parallel()
	a := newApps(t, "/no/program")
	for _, id := range []string{"x", "y"} {
		ended(t, a, "fake", id)
	}
	a.noteUnrecorded("x")
	want := func(what string, all bool, n int) {
		t.Helper()
		records, err := a.AppRecords(t.Context(), all)
		if err != nil || len(records) != n {
			t.Errorf("%s: got %d records, %v, want %d", what, len(records), err, n)
		}
		for _, r := range records {
			if r.App == nil || r.Status == nil {
				t.Errorf("%s: got %+v, want app and status", what, r)
			}
		}
	}
	want("unrecorded", false, 1)
	want("all", true, 2)
	for range 2 { // the second time the file no longer exists
		if err := a.MarkRecorded(t.Context(), "x"); err != nil {
			t.Error(err)
		}
	}
	want("recorded", false, 0)
	if err := a.Recover(t.Context()); err != nil {
		t.Errorf("Recover: got %v, want nothing", err)
	}
}
