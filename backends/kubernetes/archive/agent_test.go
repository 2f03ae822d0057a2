package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// begun is an archive whose app has just been submitted.
func begun(t *testing.T) string {
	t.Helper()
	dir := Dir(t.TempDir(), "default:app")
	if err := Begin(dir, Info{ID: "default:app"}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// seen are the states that an agent tells.
type seen struct {
	mu     sync.Mutex
	states []spec.State
	fail   error // once
}

func (s *seen) status(_ context.Context, status *spec.Status) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail; err != nil {
		s.fail = nil
		return err
	}
	s.states = append(s.states, status.State)
	return nil
}

func runAgent(t *testing.T, c *cluster, dir string, s *seen) error {
	t.Helper()
	g := &Agent{App: newApp(t, c, dir), Status: s.status, Log: t.Logf}
	return g.Run(t.Context())
}

// An agent waits for its app, keeps the logs of all attempts and how the app ended,
// and needs nobody who looks on.
func TestAgent(t *testing.T) {
	t.Parallel()
	c, dir, s := newCluster(), begun(t), &seen{fail: errors.New("the history is locked")}
	c.gone = true // it is just being submitted
	done := make(chan error, 1)
	go func() { done <- runAgent(t, c, dir, s) }()
	c.await(t, func() bool { return c.looked > 0 })
	c.update(func() { c.gone = false })
	first, second := run("a", 0), run("b", 1)
	c.add(first, "first\n")
	c.add(second, "second\n")
	c.await(t, func() bool { return c.opened >= 2 })
	if err := runAgent(t, c, Dir(t.TempDir(), "other"), s); err == nil {
		t.Error("an agent without an archive")
	}
	c.end(spec.Failed)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := len(s.states); n == 0 || s.states[n-1] != spec.Failed {
		t.Errorf("states %v", s.states)
	}
	c.gone = true
	for attempt, want := range []string{"first\n", "second\n"} {
		wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, Attempt: &attempt}, want)
	}
	if i, err := ReadInfo(dir); !i.Done || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := os.Stat(life(dir).Entry()); err == nil {
		t.Error("the archive is still among those that are followed")
	}
	if err := runAgent(t, c, dir, s); err != nil { // there is nothing left to do
		t.Error(err)
	}
}

// A second agent ends at once, and the first when the archive is deleted.
func TestAgentOfDeletedArchive(t *testing.T) {
	t.Parallel()
	c, dir, s := newCluster(), begun(t), &seen{}
	c.add(run("a", 0), "line\n")
	done := make(chan error, 1)
	go func() { done <- runAgent(t, c, dir, s) }()
	for attemptDir := attemptDir(dir, worker, 0); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(attemptDir, logcopy.CursorFile)); err == nil {
			break
		}
	}
	to := filepath.Join(t.TempDir(), "kept")
	if err := Keep(dir, to); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the agent goes on without its archive")
	}
	k := Kept(to)
	if k == nil || len(k.Roles) != 1 || k.Roles[0].Role != worker.Role || len(k.Roles[0].Attempts) != 1 {
		t.Fatalf("%+v", k)
	}
	r, err := OpenKept(k, worker, nil, all)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.Next(t.Context()); string(b.Data) != "line\n" {
		t.Errorf("%q, %v", b.Data, err)
	}
	if size, err := Size(to); size == 0 || err != nil {
		t.Errorf("size %d, %v", size, err)
	}
	if err := Remove(to); err != nil || Exists(to) {
		t.Error(err)
	}
}

// Sweep starts agents for archives that have none, and forgets those that are gone.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := begun(t)
	home := filepath.Dir(filepath.Dir(dir))
	gone := Dir(home, "default:gone")
	if err := Begin(gone, Info{ID: "default:gone"}); err != nil {
		t.Fatal(err)
	}
	if err := Remove(gone); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\necho started \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := tryLock(filepath.Join(dir, "agent.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Sweep(home, exe); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "agent.log")); err == nil {
		t.Error("an agent was started beside another one")
	}
	lock.Close()
	if err := Sweep(home, exe); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("started agent %s\n", dir)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "agent.log"))
		if strings.HasSuffix(string(text), "\n") || time.Since(began) > 10*time.Second {
			if string(text) != want {
				t.Errorf("%q, want %q", text, want)
			}
			break
		}
	}
	if _, err := os.Stat(life(gone).Entry()); err == nil {
		t.Error("an archive that is gone is still among those that are followed")
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "line\n")
	s, err := newApp(t, c, dir).Save(t.Context())
	if err != nil || len(s.Missing) > 0 || !s.Losing {
		t.Errorf("%+v, %v", s, err)
	}
	dir = t.TempDir() // so that the line comes from who follows
	follower := newApp(t, c, dir)
	log, err := follower.Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err = newApp(t, c, dir).Save(t.Context()); err != nil || s.Losing {
		t.Errorf("%+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other := newApp(t, c, t.TempDir())
	if s, err = other.Save(ctx); err != nil || len(s.Missing) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSaveNothingToLose: a replica that has not started, or has ended, writes nothing more.
func TestSaveNothingToLose(t *testing.T) {
	t.Parallel()
	for _, state := range []logcopy.State{logcopy.Waiting, logcopy.NeverStarted, logcopy.Ended} {
		c := newCluster()
		r := run("a", 0)
		r.State = state
		c.add(r)
		if s, err := newApp(t, c, t.TempDir()).Save(t.Context()); err != nil || len(s.Missing) > 0 || s.Losing {
			t.Errorf("state %v: got %+v, %v, want nothing missing or lost", state, s, err)
		}
	}
}
