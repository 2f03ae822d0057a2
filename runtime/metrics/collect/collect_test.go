package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/logstore"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
	"torchx/test/long"
)

var (
	trainer = spec.Replica{Role: "trainer", ID: 0}
	begun   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// fake is an app whose attempts have folders "0", "1" and so on.
type fake struct {
	dir      string
	attempts int
}

func newFake(t *testing.T) *fake {
	f := &fake{dir: t.TempDir(), attempts: 1}
	for _, name := range []string{"0", "1", "output"} {
		if err := os.Mkdir(f.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *fake) path(parts ...string) string {
	return filepath.Join(append([]string{f.dir}, parts...)...)
}

func (f *fake) collector(t *testing.T) *Collector {
	t.Helper()
	app := &spec.App{Name: "a", Roles: []spec.Role{{Name: "trainer", Metadata: map[string]any{"torchx": map[string]any{"metrics": map[string]any{
		"lr": `lr=(\S+)`, "step": `step (\d+)`,
	}}}}}}
	c, err := New(Config{
		Dir: f.dir, App: app, Output: f.path("output"), LogDir: func(_ spec.Replica, n int) string { return f.path(fmt.Sprint(n)) },
		Attempts: func() (all []Attempt, err error) {
			for n := range f.attempts {
				all = append(all, Attempt{trainer, n, begun.Add(time.Duration(n) * time.Hour)})
			}
			return all, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// append appends to the metrics of an attempt.
func (f *fake) append(t *testing.T, attempt int, text string) {
	t.Helper()
	out, err := os.OpenFile(f.path(fmt.Sprint(attempt), spec.MetricsFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = out.WriteString(text)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// steps returns the steps of a series.
func (f *fake) steps(t *testing.T, name string) (all []int64) {
	t.Helper()
	points, err := metrics.Points(f.dir, metrics.Key{Role: "trainer", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range points {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p.Step)
	}
	return all
}

func wantSteps(t *testing.T, got []int64, n int) {
	t.Helper()
	if len(got) != n {
		t.Fatalf("got %d points, want %d", len(got), n)
	}
	for i, step := range got {
		if step != int64(i) {
			t.Fatalf("point %d: got step %d", i, step)
		}
	}
}

// A collector may be killed at any point: the next one continues without losing or repeating a
// point, however the lines arrive.
func TestContinues(t *testing.T) {
	t.Parallel()
	f, r := newFake(t), rand.New(rand.NewPCG(1, 1))
	w, err := logstore.Create(f.path("0"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	text, lines := "", ""
	for i := range n {
		text += fmt.Sprintf("{\"step\": %d, \"loss\": 0.5}\n", i)
		lines += fmt.Sprintf("step %d lr=0.1%s", i, []string{"\n", "\r"}[r.IntN(2)])
	}
	c := f.collector(t)
	for len(text)+len(lines) > 0 {
		k, l := r.IntN(min(3000, len(text)+1)), r.IntN(min(3000, len(lines)+1))
		if len(text) < 100 {
			k = len(text)
		}
		if len(lines) < 100 {
			l = len(lines)
		}
		f.append(t, 0, text[:k])
		if err := w.Append(logstore.Stream(0), []byte(lines[:l]), time.Now()); err != nil {
			t.Fatal(err)
		}
		text, lines = text[k:], lines[l:]
		if err := c.pass(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 { // killed: the lock ends, and so does what was not flushed
			_ = c.store.Close()
			c = f.collector(t)
		}
	}
	if err := errors.Join(w.Close(false), c.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	wantSteps(t, f.steps(t, "loss"), n)
	wantSteps(t, f.steps(t, "lr"), n)
	if done, err := metrics.Complete(f.dir); !done || err != nil {
		t.Errorf("complete: got %v, %v, want true", done, err)
	}
}

// A file that cannot be read is counted, and nothing waits for it or follows it.
func TestStrangeFiles(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"x": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, create := range map[string]func(path string) error{
		"named pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"symbolic link": func(path string) error { return os.Symlink(secret, path) },
	} {
		f := newFake(t)
		if err := create(f.path("0", spec.MetricsFile)); err != nil {
			t.Fatal(err)
		}
		c := f.collector(t)
		for range 3 {
			if err := c.pass(t.Context(), false); err != nil {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if err := c.finish(t.Context()); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		issues, err := metrics.Issues(f.dir)
		if err != nil || len(issues) != 1 || issues[0].Broken != 1 || !strings.Contains(issues[0].Reason, "is a "+name) {
			t.Errorf("%s: got issues %+v, %v, want one", name, issues, err)
		}
	}
}

// A file that is written anew is read from its start, as a new segment.
func TestFileIsReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 0) },
		"removed":   os.Remove,
		"renamed over": func(path string) error {
			err := os.WriteFile(path+".new", nil, 0o600)
			return errors.Join(err, os.Rename(path+".new", path))
		},
	} {
		f := newFake(t)
		c := f.collector(t)
		for i := range 2 {
			f.append(t, 0, fmt.Sprintf("{\"step\": 1, \"x\": 1}\n{\"step\": 2, \"x\": %d}\n", i))
			if err := c.pass(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if err := replace(f.path("0", spec.MetricsFile)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := metrics.Summaries(f.dir)
		if err != nil || len(all) != 1 || all[0].Count != 4 || all[0].Segments != 2 {
			t.Errorf("%s: got %+v, %v, want 4 points in 2 segments", name, all, err)
		}
	}
}

func TestBrokenLines(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.append(t, 0, "{\"x\": 1}\n\x00\x00\nnot json\n{\"x\": "+strings.Repeat(" ", 3<<20)+"2}\n{\"x\": 3}\n\n{\"x\": 4")
	c := f.collector(t)
	if err := errors.Join(c.pass(t.Context(), false), c.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	all, err := metrics.Summaries(f.dir)
	if err != nil || len(all) != 1 || all[0].Count != 2 || all[0].Broken != 4 {
		t.Errorf("got %+v, %v, want 2 points and 4 broken lines", all, err)
	}
}

// A last line without a newline counts if it is whole.
func TestLastLine(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.append(t, 0, `{"x": 1}`)
	c := f.collector(t)
	if err := c.pass(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := f.steps(t, "x"); len(got) != 0 {
		t.Errorf("got %d points of an unfinished line, want 0", len(got))
	}
	if err := c.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.steps(t, "x"); len(got) != 1 {
		t.Errorf("got %d points, want 1", len(got))
	}
}

// A retry is a new segment, and the rest of the attempt before it is read.
func TestRetry(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.collector(t)
	f.append(t, 0, "{\"step\": 1, \"x\": 1}\n")
	if err := c.pass(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	f.append(t, 0, "{\"step\": 2, \"x\": 1}")
	f.append(t, 1, "{\"step\": 3, \"x\": 1}\n")
	f.attempts = 2
	if err := errors.Join(c.pass(t.Context(), false), c.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	all, err := metrics.Summaries(f.dir)
	if err != nil || len(all) != 1 || all[0].Count != 3 || all[0].Segments != 2 {
		t.Errorf("got %+v, %v, want 3 points in 2 segments", all, err)
	}
}

// An app that reports nothing has no store.
func TestNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	if err := f.collector(t).Complete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(f.path(metrics.Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no folder", err)
	}
}

// Complete waits for another process, and does nothing once all was collected.
func TestComplete(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.append(t, 0, "{\"x\": 1}\n")
	other, err := metrics.Open(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	c := f.collector(t)
	if err := c.Once(t.Context()); err != nil {
		t.Errorf("Once beside another process: got %v, want nothing", err)
	}
	done := make(chan error)
	go func() { done <- c.Complete(t.Context()) }()
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f.append(t, 0, "{\"x\": 2}\n")
	if err := f.collector(t).Complete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.steps(t, "x"); len(got) != 1 {
		t.Errorf("got %d points, want 1", len(got))
	}
	if errors.Is(err, filelock.ErrHeld) {
		t.Error(err)
	}
}

// The agent's collector reads what is left when it is stopped, and updates the history.
func TestStartStop(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.collector(t)
	var recorded []metrics.Summary
	c.Record = func(all []metrics.Summary) { recorded = all }
	c.Log = t.Logf
	c.Start()
	f.append(t, 0, `{"x": 1}`)
	<-c.Stop()
	if len(recorded) != 1 || recorded[0].Last != 1 {
		t.Errorf("got %+v, want the last value", recorded)
	}
}

func TestPositionsAreJSON(t *testing.T) {
	t.Parallel()
	for _, p := range []any{filePosition{Offset: 1, Sum: 2}, logPosition{Lines: 1, Part: parts{"stdout": 3}}, boardPosition{Offset: 4}} {
		if data := encode(p); !json.Valid(data) {
			t.Errorf("%+v: got %s", p, data)
		}
	}
}

// A hole of 1 TiB takes no longer than a line, in a round and at the end.
func TestSparse(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.append(t, 0, "{\"x\": 1}\n{\"x\": 2}")
	path := f.path("0", spec.MetricsFile)
	if err := os.Truncate(path, 1<<40); err != nil {
		if strings.Contains(os.Getenv("TORCHX_REQUIRE"), "fallocate") {
			t.Fatal(err)
		}
		t.Skipf("%v; TORCHX_REQUIRE=fallocate makes this a failure", err)
	}
	f.append(t, 0, "\n{\"x\": 3}\n")
	c := f.collector(t)
	if err := errors.Join(c.pass(t.Context(), false), c.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	all, err := metrics.Summaries(f.dir)
	if err != nil || len(all) != 1 || all[0].Count != 2 || all[0].Last != 3 || all[0].Broken != 1 {
		t.Errorf("got %+v, %v, want the points around the hole and 1 broken line", all, err)
	}
}

// A round reads a limited part of a file; the next one continues, also if nothing was appended.
func TestRoundIsLimited(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.append(t, 0, strings.Repeat("\n", roundBytes)+"{\"step\": 0, \"x\": 1}\n")
	c := f.collector(t)
	for want := range 2 {
		if err := c.pass(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		wantSteps(t, f.steps(t, "x"), want)
	}
}

// What follows 1 GiB is left out, counted once, also by the next collector.
func TestFileIsLimited(t *testing.T) {
	t.Parallel()
	long.Test(t)
	f := newFake(t)
	f.append(t, 0, "{\"step\": 0, \"x\": 1}\n")
	line := strings.Repeat(strings.Repeat(" ", 1<<20-1)+"\n", 64)
	for range maxFile / len(line) {
		f.append(t, 0, line)
	}
	f.append(t, 0, "{\"step\": 1, \"x\": 1}\n")
	for range 2 {
		if err := f.collector(t).finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantSteps(t, f.steps(t, "x"), 1)
	all, err := metrics.Summaries(f.dir)
	if err != nil || len(all) != 1 || all[0].Broken != 1 {
		t.Errorf("got %+v, %v, want 1 broken line", all, err)
	}
}
