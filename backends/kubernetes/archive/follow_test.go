package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// replayOf returns a Replay of the cluster's current state.
func replayOf(c *cluster) (*Replay, *Snapshot) {
	s, _ := c.Snapshot(context.Background())
	return NewReplay(c, s), s
}

// TestFollow: logs are archived completely, including those of attempts that begin and of
// pods that are deleted meanwhile.
func TestFollow(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	first, second := run("a", 0), run("b", 1)
	c.add(first, "one\n")
	watch, snap := replayOf(c)
	f := newAppOn(t, watch, dir).Follow(snap.Status)
	c.add(second, "two\n")
	c.write(first, "and\n")
	first.State = logcopy.Ended
	c.add(first)
	s, _ := c.Snapshot(t.Context())
	watch.Put(s)
	c.end(spec.Succeeded)
	s, _ = c.Snapshot(t.Context())
	watch.Put(s)
	if missing, err := f.End(t.Context()); err != nil || len(missing) > 0 {
		t.Errorf("got %v, %v, want nothing missing", missing, err)
	}
	c.gone = true
	zero := 0
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, Attempt: &zero}, "one\nand\n")
	wantLog(t, newApp(t, c, dir), all, "two\n")
}

func newAppOn(t *testing.T, c Cluster, dir string) *App {
	t.Helper()
	return New(Config{Backend: "kubernetes", ID: "default:app", Dir: dir, Cluster: c, Warn: func(line string) { t.Log(line) }})
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
	_, snap := replayOf(ended)
	f := newAppOn(t, NewReplay(refusing{ended}, snap), t.TempDir()).Follow(snap.Status)
	if missing, err := f.End(t.Context()); len(missing) != 1 || !errors.Is(err, logcopy.ErrRefused) {
		t.Errorf("got %v, %v, want one replica and %v", missing, err, logcopy.ErrRefused)
	}

	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "one\n")
	watch, snap := replayOf(c)
	log, err := newApp(t, c, dir).Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	f = newAppOn(t, watch, dir).Follow(snap.Status)
	if missing, err := f.End(t.Context()); len(missing) != 0 || err != nil {
		t.Errorf("another process copies: got %v, %v, want nothing missing", missing, err)
	}

	f = newAppOn(t, watch, t.TempDir()).Follow(snap.Status)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if missing, _ := f.End(ctx); len(missing) != 1 { // the container still runs
		t.Errorf("got %v, want one replica", missing)
	}
}

// TestFollowLimit: with few open files, all logs are copied, some after others have ended.
func TestFollowLimit(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	const replicas = 3
	status := &spec.Status{Roles: []spec.RoleStatus{{Role: worker.Role}}}
	for i := range replicas {
		r := run(fmt.Sprint("u", i), 0)
		r.Replica.ID = i
		c.add(r, "line\n")
		status.Roles[0].Replicas = append(status.Roles[0].Replicas, spec.ReplicaStatus{Role: worker.Role, ID: i})
	}
	a := newApp(t, c, dir)
	a.following = slots{free: 1}
	f := a.Follow(status)
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
