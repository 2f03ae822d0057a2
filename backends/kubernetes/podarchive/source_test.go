package podarchive

import (
	"context"
	"errors"
	stdlog "log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torchx/backends/archive"
	"torchx/backends/logcopy"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

var archives = archive.Kind{
	Backend: "kubernetes", Folder: "archive", Manifest: "archive.json", Changed: Changed,
	Pace: archive.Pace{First: 10 * time.Millisecond, Last: 10 * time.Millisecond},
}

// begun returns the archive of an app that is being submitted.
func begun(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	p := &backend.Plan{ID: "default:app", Cfg: backend.Config{"archive": true}}
	if _, _, err := archives.Begin(home, "", p, archive.Info{}); err != nil {
		t.Fatal(err)
	}
	return archives.Dir(home, p.ID)
}

// recorder is a history that has the states which an agent recorded.
type recorder struct {
	agent.Store
	states []spec.State
	fail   error // once
}

func (s *recorder) SetStatus(_ context.Context, _, _ string, status *spec.Status) error {
	if err := s.fail; err != nil {
		s.fail = nil
		return err
	}
	s.states = append(s.states, status.State)
	return nil
}

func runAgent(t *testing.T, c *cluster, dir string, s *recorder) error {
	t.Helper()
	g, err := archives.NewAgent(dir, func(context.Context, string) (agent.Store, error) { return s, nil }, stdlog.New(t.Output(), "", 0))
	if err != nil {
		return err
	}
	return g.Run(t.Context(), func(*archive.Agent) (archive.Source, error) {
		return &Source{App: newApp(t, c, dir), Log: t.Logf}, nil
	})
}

// TestAgent: an agent waits for its app and keeps the logs of all attempts and the result,
// without another process.
func TestAgent(t *testing.T) {
	t.Parallel()
	c, dir, s := newCluster(), begun(t), &recorder{fail: errors.New("the history is locked")}
	c.gone = true // it is just being submitted
	done := make(chan error, 1)
	go func() { done <- runAgent(t, c, dir, s) }()
	c.await(t, func() bool { return c.polled > 0 })
	c.update(func() { c.gone = false })
	first, second := run("a", 0), run("b", 1)
	c.add(first, "first\n")
	c.add(second, "second\n")
	c.await(t, func() bool { return c.opened >= 2 })
	if err := runAgent(t, c, t.TempDir(), s); err == nil {
		t.Error("got an agent without an archive, want an error")
	}
	c.end(spec.Failed)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := len(s.states); n == 0 || s.states[n-1] != spec.Failed {
		t.Errorf("got states %v, want FAILED last", s.states)
	}
	c.gone = true
	for attempt, want := range []string{"first\n", "second\n"} {
		wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, Attempt: &attempt}, want)
	}
	if i, err := archives.Read(dir); !i.Done || err != nil {
		t.Errorf("got %+v, %v, want it done", i, err)
	}
	if entries, err := os.ReadDir(filepath.Join(filepath.Dir(dir), "live")); err != nil || len(entries) > 0 {
		t.Errorf("got live entries %v, %v of an ended app, want none", entries, err)
	}
	if err := runAgent(t, c, dir, s); err != nil { // the app has ended
		t.Error(err)
	}
}

// TestAgentWithoutPods: an agent that may not see pods records the result all the same; a reader gets
// the reason.
func TestAgentWithoutPods(t *testing.T) {
	t.Parallel()
	c, dir, s := newCluster(), begun(t), &recorder{}
	c.hidden = errors.New("you may not list pods")
	done := make(chan error, 1)
	go func() { done <- runAgent(t, c, dir, s) }()
	c.await(t, func() bool { return c.polled > 1 })
	if _, err := newApp(t, c, dir).Open(t.Context(), worker, backend.LogOptions{Tail: -1}); !errors.Is(err, c.hidden) {
		t.Errorf("got %v, want %v", err, c.hidden)
	}
	c.end(spec.Succeeded)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := len(s.states); n == 0 || s.states[n-1] != spec.Succeeded {
		t.Errorf("got states %v, want SUCCEEDED last", s.states)
	}
}

// TestAgentOfDeletedArchive: an agent exits when its archive is moved away.
func TestAgentOfDeletedArchive(t *testing.T) {
	t.Parallel()
	c, dir, s := newCluster(), begun(t), &recorder{}
	c.add(run("a", 0), "line\n")
	done := make(chan error, 1)
	go func() { done <- runAgent(t, c, dir, s) }()
	for attemptDir := logstore.AttemptDir(dir, worker, 0); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(attemptDir, logcopy.CursorFile)); err == nil {
			break
		}
	}
	home := filepath.Dir(filepath.Dir(dir))
	to := backend.RetainedDir(home, filepath.Base(dir))
	if err := archives.Retain(home, dir); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the agent did not exit within 20 s")
	}
	k := Retained(to)
	if k == nil || len(k.Roles) != 1 || k.Roles[0].Role != worker.Role || len(k.Roles[0].Attempts) != 1 {
		t.Fatalf("got %+v, want one attempt of the worker", k)
	}
	r, err := OpenRetained(k, worker, nil, all)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.Next(t.Context()); string(b.Data) != "line\n" {
		t.Errorf("got %q, %v, want the line", b.Data, err)
	}
	if size, err := archive.Size(to, false); size == 0 || err != nil {
		t.Errorf("got size %d, %v, want more than 0", size, err)
	}
	if err := archives.Remove(to); err != nil || Exists(to) {
		t.Error(err)
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "line\n")
	s, err := newApp(t, c, dir).Save(t.Context())
	if err != nil || len(s.Missing) > 0 || s.Losing != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	dir = t.TempDir() // an empty archive: the follower copies the line
	follower := newApp(t, c, dir)
	log, err := follower.Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err = newApp(t, c, dir).Save(t.Context()); err != nil || s.Losing > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other := newApp(t, c, t.TempDir())
	if s, err = other.Save(ctx); err != nil || len(s.Missing) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSaveAfterOther: lines that another process was copying are copied if it ends before.
func TestSaveAfterOther(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "line\n")
	a := newApp(t, c, dir)
	other, err := logcopy.TryLock(logstore.ReplicaDir(dir, worker))
	if err != nil {
		t.Fatal(err)
	}
	var s Saved
	done := make(chan struct{})
	go func() {
		defer close(done)
		s, err = a.Save(t.Context())
	}()
	c.await(t, func() bool { return c.opened > 0 }) // Save looks for the last line
	other.Close()
	<-done
	if err != nil || len(s.Missing) > 0 || s.Losing != 1 {
		t.Errorf("got %+v, %v, want no missing logs, and one replica that is not followed", s, err)
	}
	if got, err := os.ReadFile(filepath.Join(logName{0, ""}.dir(dir, worker), "stdout.log")); string(got) != "line\n" {
		t.Errorf("got %q, %v of the log after Save, want its line", got, err)
	}
}

// TestSaveNothingToLose: a replica that has not started or has ended writes no more lines.
func TestSaveNothingToLose(t *testing.T) {
	t.Parallel()
	for _, state := range []logcopy.State{logcopy.Waiting, logcopy.NeverStarted, logcopy.Ended} {
		c := newCluster()
		r := run("a", 0)
		r.State = state
		c.add(r)
		if s, err := newApp(t, c, t.TempDir()).Save(t.Context()); err != nil || len(s.Missing) > 0 || s.Losing > 0 {
			t.Errorf("state %v: got %+v, %v, want nothing missing or lost", state, s, err)
		}
	}
}
