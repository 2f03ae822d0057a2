package podarchive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// pushed returns an App that gets its snapshots by See, and follows it.
func pushed(t *testing.T, c Cluster, dir string) (*App, *LogCopier) {
	t.Helper()
	a := New(Config{Backend: "kubernetes", ID: "default:app", Dir: dir, Cluster: c, Pushed: true, Warn: func(line string) { t.Log(line) }})
	s, _ := c.Snapshot(t.Context())
	a.See(s)
	return a, a.Follow(s.Status)
}

// TestFollow: logs are archived completely, including those of attempts that begin and of
// pods that are deleted meanwhile.
func TestFollow(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	first, second := run("a", 0), run("b", 1)
	c.add(first, "one\n")
	a, f := pushed(t, c, dir)
	c.add(second, "two\n")
	c.write(first, "and\n")
	first.State = logcopy.Ended
	c.add(first)
	s, _ := c.Snapshot(t.Context())
	a.See(s)
	c.end(spec.Succeeded)
	s, _ = c.Snapshot(t.Context())
	a.See(s)
	if missing, err := f.End(t.Context()); err != nil || len(missing) > 0 {
		t.Errorf("got %v, %v, want nothing missing", missing, err)
	}
	c.gone = true
	zero := 0
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, Attempt: &zero}, "one\nand\n")
	wantLog(t, newApp(t, c, dir), all, "two\n")
}

// refusing is a cluster whose user may not read logs.
type refusing struct{ *cluster }

func (refusing) Open(context.Context, Run, logcopy.Options) (io.ReadCloser, error) {
	return nil, errors.Join(logcopy.ErrRefused, errors.New("you may not get pods/log"))
}

// TestFollowEnd: End reports incomplete logs when its time is up, but not logs that another
// process copies.
func TestFollowEnd(t *testing.T) {
	t.Parallel()
	ended := newCluster()
	ended.add(run("a", 0), "one\n")
	ended.end(spec.Succeeded)
	_, f := pushed(t, refusing{ended}, t.TempDir())
	if missing, err := f.End(t.Context()); len(missing) != 1 || !errors.Is(err, logcopy.ErrRefused) {
		t.Errorf("got %v, %v, want one replica and %v", missing, err, logcopy.ErrRefused)
	}

	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "one\n")
	log, err := newApp(t, c, dir).Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, f = pushed(t, c, dir)
	if missing, err := f.End(t.Context()); len(missing) != 0 || err != nil {
		t.Errorf("another process copies: got %v, %v, want nothing missing", missing, err)
	}

	_, f = pushed(t, c, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if missing, _ := f.End(ctx); len(missing) != 1 { // the container still runs
		t.Errorf("got %v, want one replica", missing)
	}
}

// TestRefusedLog: the gap in place of a deleted pod's log says which right was missing.
func TestRefusedLog(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "line\n")
	a := New(Config{Backend: "kubernetes", ID: "default:app", Dir: dir, Cluster: refusing{c}})
	if _, _, err := read(t, a, all); !errors.Is(err, logcopy.ErrRefused) {
		t.Fatalf("got %v, want %v", err, logcopy.ErrRefused)
	}
	c.update(func() { c.runs = nil })
	_, notices, err := read(t, newApp(t, c, dir), all)
	if len(notices) != 1 || !strings.HasPrefix(notices[0], gapRefused) || !strings.Contains(notices[0], "you may not get pods/log") || err != nil {
		t.Errorf("got %q, %v, want the missing right", notices, err)
	}
}

// addReplicas adds running replicas with one line each, and returns their runs.
func (c *cluster) addReplicas(n int) (runs []Run) {
	for i := range n {
		r := run(fmt.Sprint("u", i), 0)
		r.Replica.ID = i
		c.add(r, "line\n")
		runs = append(runs, r)
	}
	return runs
}

// TestFollowLimit: with few open files, all logs are copied, some after others have ended.
func TestFollowLimit(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	const replicas = 3
	c.addReplicas(replicas)
	a := newApp(t, c, dir)
	a.following = slots{free: 1}
	f := a.Follow(c.snapshot().Status)
	c.end(spec.Succeeded)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if missing, err := f.End(ctx); len(missing) > 0 || err != nil {
		t.Errorf("got missing logs %v, %v, want none", missing, err)
	}
	if names, _ := archived(dir, spec.Replica{Role: worker.Role, ID: replicas - 1}); len(names) != 1 {
		t.Errorf("got logs %v of the last replica, want one", names)
	}
}

// TestWaitingIsCopied: the logs of replicas that cannot be followed for lack of files are copied up
// to now before FollowNow returns, and now and then afterwards. Pods that are deleted take only
// the lines since then with them.
func TestWaitingIsCopied(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	const replicas = 3
	runs := c.addReplicas(replicas)
	a := newApp(t, c, dir)
	a.following, a.roundPause = slots{free: 1}, time.Millisecond
	f, saved, err := a.FollowNow(t.Context())
	if err != nil || len(saved.Missing) > 0 || saved.Losing != replicas-1 {
		t.Fatalf("got %+v, %v, want no missing logs, and %d replicas that are not followed", saved, err, replicas-1)
	}
	archived := func() string {
		data, err := os.ReadFile(filepath.Join(logName{0, ""}.dir(dir, runs[replicas-1].Replica), "stdout.log"))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	if got := archived(); got != "line\n" {
		t.Errorf("got %q of the last replica after FollowNow, want its line", got)
	}
	c.write(runs[replicas-1], "another\n")
	c.await(t, func() bool { return archived() == "line\nanother\n" })
	c.update(func() { c.gone = true })
	if missing, err := f.End(t.Context()); len(missing) > 0 || err != nil {
		t.Errorf("got missing logs %v, %v, want none", missing, err)
	}
}
