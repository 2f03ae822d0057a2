package archive

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// shown is a Replay of what a cluster shows now.
func shown(c *cluster) (*Replay, *Snapshot) {
	s, _ := c.Snapshot(context.Background())
	return NewReplay(c, s), s
}

// TestFollow: what is put into a watch that somebody else has is all archived, also of
// attempts that begin and of pods that go meanwhile.
func TestFollow(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	first, second := run("a", 0), run("b", 1)
	c.add(first, "one\n")
	watch, snap := shown(c)
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

// refusing is a cluster that shows no logs.
type refusing struct{ *cluster }

func (refusing) Open(context.Context, Run, logcopy.Options) (io.ReadCloser, error) {
	return nil, errors.Join(logcopy.ErrRefused, errors.New("you may not get pods/log"))
}

// TestFollowEnd: what is missing is told, after the time that there is; what another
// process copies is not.
func TestFollowEnd(t *testing.T) {
	t.Parallel()
	ended := newCluster()
	ended.add(run("a", 0), "one\n")
	ended.end(spec.Succeeded)
	_, snap := shown(ended)
	f := newAppOn(t, NewReplay(refusing{ended}, snap), t.TempDir()).Follow(snap.Status)
	if missing, err := f.End(t.Context()); len(missing) != 1 || !errors.Is(err, logcopy.ErrRefused) {
		t.Errorf("got %v, %v, want one replica and %v", missing, err, logcopy.ErrRefused)
	}

	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "one\n")
	watch, snap := shown(c)
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
		t.Errorf("another one copies: %v, %v", missing, err)
	}

	f = newAppOn(t, watch, t.TempDir()).Follow(snap.Status)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if missing, _ := f.End(ctx); len(missing) != 1 { // the container goes on
		t.Errorf("got %v, want one replica", missing)
	}
}
