package archive

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

var kind = Kind{
	Backend: "test", Folder: "archive", Manifest: "app.json", Pace: Pace{First: time.Millisecond, Last: time.Millisecond, Away: time.Millisecond},
	Changed: func(recorded, s *spec.Status) bool { return s.State != recorded.State },
}

// begun returns the archive of an app that is being submitted.
func begun(t *testing.T, home, id string) string {
	t.Helper()
	if _, _, err := kind.Begin(home, "", &backend.Plan{ID: id, Cfg: backend.Config{"archive": true}}, Info{}); err != nil {
		t.Fatal(err)
	}
	return kind.Dir(home, id)
}

// TestRecover: Recover starts missing agents and removes the entries of deleted archives.
func TestRecover(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir, gone := begun(t, home, "app"), begun(t, home, "gone")
	if err := kind.Remove(gone); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\necho started \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := kind.supervisor(dir).Acquire(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := kind.Recover(home, exe); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "agent.log")); err == nil {
		t.Error("got a second agent, want none")
	}
	lock.Close()
	if err := kind.Recover(home, exe); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("started agent %s\n", dir)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "agent.log"))
		if strings.HasSuffix(string(text), "\n") || time.Since(began) > 10*time.Second {
			if string(text) != want {
				t.Errorf("got %q, want %q", text, want)
			}
			break
		}
	}
	if _, err := os.Stat(kind.supervisor(gone).Entry()); err == nil {
		t.Error("got a live entry of a deleted archive, want none")
	}
}

// app is a Source that replays statuses; an error takes the place of one. The last one repeats.
type app struct {
	seen []any // *spec.Status or error
	rest int   // calls of Copy after the end until the logs are complete
	err  error // of the complete copy
}

func (a *app) Describe(context.Context) (*spec.Status, error) {
	next := a.seen[0]
	if len(a.seen) > 1 {
		a.seen = a.seen[1:]
	}
	if err, ok := next.(error); ok {
		return nil, err
	}
	return next.(*spec.Status), nil
}

func (a *app) Copy(_ context.Context, ended bool) (complete bool, err error) {
	if !ended {
		return false, errors.New("a node does not answer")
	}
	a.rest--
	return a.rest <= 0, a.err
}

func (*app) Close() error { return nil }

// past is a history that has the states which were recorded.
type past struct {
	agent.Store
	states []spec.State
	fails  int // so many times
}

func (p *past) SetStatus(_ context.Context, _, _ string, s *spec.Status) error {
	if p.fails > 0 {
		p.fails--
		return errors.New("the history is locked")
	}
	p.states = append(p.states, s.State)
	return nil
}

// TestRun: an agent asks until the logs of an app that has ended are complete and the history has its
// end, and leaves the archive to another one if an error ends the copy.
func TestRun(t *testing.T) {
	t.Parallel()
	running, succeeded := &spec.Status{State: spec.Running}, &spec.Status{State: spec.Succeeded}
	bounded := kind
	bounded.Pace.Rest = 50 * time.Millisecond
	const never = 1 << 30
	tests := map[string]struct {
		kind   Kind
		app    app
		fails  int
		states []spec.State
		undone bool
	}{
		"success":          {kind, app{seen: []any{backend.ErrNotFound, errors.New("away"), running, running, errors.New("away"), succeeded}, rest: 3}, 0, []spec.State{spec.Running, spec.Succeeded}, false},
		"locked history":   {kind, app{seen: []any{running, succeeded}}, 3, []spec.State{spec.Succeeded}, false},
		"gone":             {kind, app{seen: []any{running, backend.ErrNotFound}}, 0, []spec.State{spec.Running}, false},
		"endless log":      {bounded, app{seen: []any{succeeded}, rest: never}, 0, []spec.State{spec.Succeeded}, false},
		"no history":       {bounded, app{seen: []any{succeeded}}, never, nil, false},
		"refused":          {kind, app{seen: []any{running, succeeded}, err: errors.New("you may not get pods/log")}, 0, []spec.State{spec.Running, spec.Succeeded}, true},
		"refused, no rest": {bounded, app{seen: []any{succeeded}, err: errors.New("you may not get pods/log")}, 0, []spec.State{spec.Succeeded}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, history := begun(t, t.TempDir(), "app"), &past{fails: test.fails}
			g, err := test.kind.NewAgent(dir, func(context.Context, string) (agent.Store, error) { return history, nil }, log.New(t.Output(), "", 0))
			if err != nil {
				t.Fatal(err)
			}
			err = g.Run(t.Context(), func(*Agent) (Source, error) { return &test.app, nil })
			if (err != nil) != test.undone || !slices.Equal(history.states, test.states) {
				t.Errorf("got %v, states %v, want %v, an error: %v", err, history.states, test.states, test.undone)
			}
			if test.kind.HasAgent(dir) != test.undone {
				t.Errorf("got %v, want the archive done: %v", !test.undone, !test.undone)
			}
		})
	}
}

// TestOldManifests: manifests of earlier versions are read, whether agents are done or not.
func TestOldManifests(t *testing.T) {
	t.Parallel()
	dir := begun(t, t.TempDir(), "app")
	for text, isFollowed := range map[string]bool{
		`{"id":"app","cfg":{"archive":true},"agent":true,"begun":"2026-03-01T12:00:00Z","app":{"name":"x","roles":[{"name":"r"}],"metadata":{}}}`:   true,
		`{"agent":true,"begun":"2026-03-01T12:00:00Z","cfg":{},"done":true,"id":"app","logs":true,"on_end":{},"roles":[{"name":"r","replicas":2}]}`: false,
		`{"id":"app","cfg":{"job_dir":"/shared"},"roles":[{"name":"r","replicas":2}]}`:                                                              false,
	} {
		if err := os.WriteFile(filepath.Join(dir, kind.Manifest), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i, err := kind.Read(dir); err != nil || i.ID != "app" || kind.HasAgent(dir) != isFollowed {
			t.Errorf("got %+v, %v of %s, want an agent: %v", i, err, text, isFollowed)
		}
	}
}
