//go:build unix

package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torchx/backends/archive"
	"torchx/backends/logcopy"
	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
	"torchx/test/slurmtest"
)

var replica = spec.Replica{Role: "a/b", ID: 1}

// app has a folder in which one replica has begun an attempt.
func app(t *testing.T) (folder.Folder, *spec.App) {
	t.Helper()
	f := folder.Folder(t.TempDir())
	role := spec.NewRole(replica.Role, "")
	role.NumReplicas = 2
	begin(t, f, 0, "")
	if err := os.WriteFile(f.Path(folder.EventsFile), []byte("begin 1 7 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f, &spec.App{Roles: []spec.Role{role}}
}

// begin records the start of an attempt after the text that the records have.
func begin(t *testing.T, f folder.Folder, attempt int, text string) {
	t.Helper()
	text += fmt.Sprintf("start %d 1 n1 7\n", attempt)
	if err := os.MkdirAll(f.Attempt(replica, attempt), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Replica(replica), folder.EventsFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read returns the blocks of a log with the times of its lines.
func read(t *testing.T, dir string, s backend.Stream) (text string, times []time.Time) {
	t.Helper()
	r, err := logstore.Open(logstore.Source{
		Dir: func(int) string { return dir }, State: func() (int, bool, error) { return 1, true, nil },
	}, backend.LogOptions{Tail: -1, Stream: s})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return text, times
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Notice != "" {
			t.Errorf("got notice %q, want none", b.Notice)
		}
		text += string(b.Data)
		for range bytes.Count(b.Data, []byte("\n")) {
			times = append(times, b.Time)
		}
	}
}

// finish passes until all copies are complete. A process that another test has just forked may still hold
// the lock of an earlier pass.
func finish(t *testing.T, c *copier) {
	t.Helper()
	slurmtest.Eventually(t, "all copies are complete", func() bool {
		complete, err := c.pass(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		return complete
	})
}

// TestPasses: copies that are interrupted and resumed have every line once, with its time.
func TestPasses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			f, a := app(t)
			dir := t.TempDir()
			w, err := logstore.Create(f.Attempt(replica, 0))
			if err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-time.Hour)
			for i := range 3000 {
				at = at.Add(time.Duration(random.IntN(20)) * time.Millisecond)
				text := fmt.Sprintf("%d\n", i)
				if random.IntN(4) == 0 {
					text = "part "
				}
				if err := w.Append(logstore.Stream(random.IntN(2)), []byte(text), at); err != nil {
					t.Fatal(err)
				}
				if random.IntN(150) == 0 { // each pass is one of another process
					ctx, cancel := context.WithCancel(t.Context())
					if random.IntN(3) == 0 {
						cancel()
					}
					complete, err := (&copier{dir: dir, from: f, app: a}).pass(ctx, false)
					if complete || err != nil && ctx.Err() == nil {
						t.Fatalf("got complete %v, %v, want more to come", complete, err)
					}
					cancel()
				}
			}
			if err := w.Close(false); err != nil {
				t.Fatal(err)
			}
			c := &copier{dir: dir, from: f, app: a}
			for range 2 {
				finish(t, c)
			}
			for _, s := range backend.Streams[1:] {
				got, gotTimes := read(t, filepath.Join(logstore.ReplicaDir(dir, replica), "0"), s)
				want, wantTimes := read(t, f.Attempt(replica, 0), s)
				if got != want || len(gotTimes) != len(wantTimes) {
					t.Fatalf("%s: got %d bytes in %d lines, want %d in %d", s, len(got), len(gotTimes), len(want), len(wantTimes))
				}
				for i := range gotTimes {
					if d := gotTimes[i].Sub(wantTimes[i]).Abs(); d > 10*time.Millisecond { // copies merge what is close
						t.Fatalf("%s: line %d is off by %v", s, i, d)
					}
				}
			}
		})
	}
}

// TestAttempts: an attempt that was stopped is complete before the app has ended, and the copies
// can be read when the folder of the app has gone.
func TestAttempts(t *testing.T) {
	t.Parallel()
	f, a := app(t)
	dir := t.TempDir()
	write := func(attempt int, text string) {
		w, err := logstore.Create(f.Attempt(replica, attempt))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Append(logstore.Stderr, []byte(text), time.Now()), w.Close(false)); err != nil {
			t.Fatal(err)
		}
	}
	write(0, "first")
	begin(t, f, 1, "start 0 1 n1 7\nexit 0 2 1 exited\n")
	c := &copier{dir: dir, from: f, app: a, only: &replica}
	if complete, err := c.pass(t.Context(), false); complete || err != nil {
		t.Errorf("got complete %v, %v, want more to come", complete, err)
	}
	write(1, "second\n")
	finish(t, c)
	k := retainedLogs(dir, archive.RolesOf(a))
	if k == nil || k.Roles[0].Attempts[1] != 2 {
		t.Fatalf("got %+v, want two attempts", k)
	}
	to := backend.RetainedDir(t.TempDir(), "x")
	if err := moveLogs(dir, to); err != nil {
		t.Fatal(err)
	}
	k.Dir = to
	b := newBackend(t, t.TempDir())
	r, err := b.OpenRetainedLogs(t.Context(), k, replica, backend.LogOptions{Tail: -1, AllAttempts: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got string
	for b, err := r.Next(t.Context()); err == nil; b, err = r.Next(t.Context()) {
		got += string(b.Data)
	}
	if got != "firstsecond\n" {
		t.Errorf("got %q, want both attempts", got)
	}
	if _, err := b.OpenRetainedLogs(t.Context(), k, spec.Replica{Role: replica.Role}, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("a replica without a log: got %v, want ErrNotFound", err)
	}
}

// TestHeld: logs that another process copies are left to it.
func TestHeld(t *testing.T) {
	t.Parallel()
	f, a := app(t)
	c := &copier{dir: t.TempDir(), from: f, app: a}
	lock, err := logcopy.TryLock(logstore.ReplicaDir(c.dir, replica))
	if err != nil {
		t.Fatal(err)
	}
	if complete, err := c.pass(t.Context(), true); complete || err != nil {
		t.Errorf("got complete %v, %v, want it left to the other process", complete, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := logstore.Create(f.Attempt(replica, 0))
	if err == nil {
		err = w.Close(false)
	}
	if err != nil {
		t.Fatal(err)
	}
	finish(t, c)
}
