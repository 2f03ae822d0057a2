package podarchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

var (
	epoch  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	worker = spec.Replica{Role: "worker", ID: 0}
)

// cluster is a Cluster in memory.
type cluster struct {
	mu      sync.Mutex
	changed chan struct{}
	runs    []Run
	logs    map[string][]byte // as the server sends them, by key
	state   spec.State
	gone    bool
	away    error
	hidden  error  // why the runs cannot be read
	lost    string // a node whose logs cannot be read
	asked   int    // requests for such logs
	opened  int
	polled  int // calls of Snapshot and Watch
	clock   time.Time
	cuts    int // how often all streams were ended
}

func newCluster() *cluster {
	return &cluster{changed: make(chan struct{}), logs: map[string][]byte{}, state: spec.Running, clock: epoch}
}

// await waits until ok returns true.
func (c *cluster) await(t *testing.T, ok func() bool) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		done := ok()
		c.mu.Unlock()
		if done {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the cluster did not reach the expected state within a minute")
		}
	}
}

func key(r Run) string { return fmt.Sprint(r.UID, "/", r.Container, "/", r.Restart) }

func (c *cluster) update(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(c.changed)
	c.changed = make(chan struct{})
}

// run returns a run of a pod of the first replica with one container.
func run(uid string, attempt int) Run {
	return Run{Replica: worker, Attempt: attempt, Pod: "pod-" + uid, UID: uid, Created: epoch.Add(time.Duration(attempt) * time.Minute), State: logcopy.Running}
}

func (c *cluster) add(r Run, lines ...string) {
	c.update(func() {
		c.runs = slices.DeleteFunc(c.runs, func(o Run) bool { return o.same(&r) && o.Container == r.Container })
		c.runs = append(c.runs, r)
	})
	c.write(r, lines...)
}

func (c *cluster) write(r Run, lines ...string) {
	c.update(func() {
		for _, line := range lines {
			c.clock = c.clock.Add(10 * time.Millisecond)
			c.logs[key(r)] = fmt.Appendf(c.logs[key(r)], "%s %s", c.clock.Format(time.RFC3339Nano), line)
		}
	})
}

func (c *cluster) end(s spec.State) {
	c.update(func() {
		for i := range c.runs {
			c.runs[i].State = logcopy.Ended
		}
		c.state = s
	})
}

func (c *cluster) snapshot() *Snapshot {
	s := &Snapshot{Runs: slices.Clone(c.runs), Status: &spec.Status{State: c.state}, Hidden: c.hidden}
	begun := epoch
	ids := map[int]bool{worker.ID: true}
	for _, r := range c.runs {
		ids[r.Replica.ID] = true
	}
	s.Status.Roles = []spec.RoleStatus{{Role: worker.Role}}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		s.Status.Roles[0].Replicas = append(s.Status.Roles[0].Replicas, spec.ReplicaStatus{Role: worker.Role, ID: id, StartedAt: &begun})
	}
	return s
}

func (c *cluster) Snapshot(context.Context) (*Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.polled++
	if c.gone {
		return nil, backend.ErrNotFound
	}
	return c.snapshot(), c.away
}

func (c *cluster) Watch(ctx context.Context, see func(*Snapshot)) error {
	c.mu.Lock()
	c.polled++
	c.mu.Unlock()
	for {
		c.mu.Lock()
		s, changed, gone := c.snapshot(), c.changed, c.gone
		c.mu.Unlock()
		if gone {
			return backend.ErrNotFound
		}
		see(s)
		if s.Status.State.Terminal() {
			return c.hidden
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (c *cluster) Open(ctx context.Context, r Run, o logcopy.Options) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != "" && r.Node == c.lost {
		c.asked++
		return nil, ErrNodeAway
	}
	c.opened++
	if r.State == logcopy.Waiting {
		return nil, logcopy.ErrNotStarted
	}
	return &body{c: c, ctx: ctx, run: r, o: o, cuts: c.cuts}, nil
}

type body struct {
	c   *cluster
	ctx context.Context
	run Run
	o   logcopy.Options
	at  int

	cuts int // of the cluster when it was opened
}

func (b *body) Read(p []byte) (int, error) {
	for {
		b.c.mu.Lock()
		data, changed := b.c.logs[key(b.run)], b.c.changed
		running := !b.c.gone && slices.ContainsFunc(b.c.runs, func(r Run) bool { return r.same(&b.run) && r.State == logcopy.Running })
		isCut := b.cuts != b.c.cuts
		b.c.mu.Unlock()
		if isCut {
			return 0, io.EOF
		}
		if b.o.Tail > 0 && b.at == 0 {
			b.at = bytes.LastIndexByte(bytes.TrimSuffix(data, newline), '\n') + 1
		}
		if b.at < len(data) {
			n := copy(p, data[b.at:])
			b.at += n
			return n, nil
		}
		if !b.o.Follow || !running {
			return 0, io.EOF
		}
		select {
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		case <-changed:
		}
	}
}

func (b *body) Close() error { return nil }

func newApp(t *testing.T, c *cluster, dir string) *App {
	t.Helper()
	a := New(Config{Backend: "kubernetes", ID: "default:app", Dir: dir, Cluster: c, Warn: func(line string) { t.Log(line) }})
	a.outages.server, a.outages.node, a.logPatience = 100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
	return a
}

func read(t *testing.T, a *App, o backend.LogOptions) (text string, notices []string, err error) {
	t.Helper()
	r, err := a.Open(t.Context(), worker, o)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	var b strings.Builder
	for {
		block, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return b.String(), notices, nil
		}
		if err != nil {
			return b.String(), notices, err
		}
		if block.Notice != "" {
			notices = append(notices, block.Notice)
		} else if block.Stream != backend.Combined {
			t.Errorf("got stream %q, want %q", block.Stream, backend.Combined)
		}
		b.Write(block.Data)
	}
}

func wantLog(t *testing.T, a *App, o backend.LogOptions, want string) {
	t.Helper()
	got, notices, err := read(t, a, o)
	if got != want || err != nil {
		t.Errorf("got %q, notices %q, %v, want %q", got, notices, err, want)
	}
}

var all = backend.LogOptions{Tail: -1}

// TestReadTwice: a second read continues where the first one ended, and lines that were read
// are kept.
func TestReadTwice(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	r := run("a", 0)
	c.add(r, "one\n", "two\n")
	wantLog(t, newApp(t, c, dir), all, "one\ntwo\n")
	c.write(r, "three\n")
	wantLog(t, newApp(t, c, dir), all, "one\ntwo\nthree\n")
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: 1}, "three\n")
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, FromLine: 2, ToLine: 2}, "two\n")
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, Since: epoch.Add(20 * time.Millisecond), Until: epoch.Add(25 * time.Millisecond)}, "two\n")

	c.update(func() { c.runs, c.state = nil, spec.Succeeded }) // the pod is deleted
	got, notices, err := read(t, newApp(t, c, dir), all)
	if got != "one\ntwo\nthree\n" || err != nil || !slices.Equal(notices, []string{GapDeleted}) {
		t.Errorf("got %q, notices %q, %v", got, notices, err)
	}
	c.gone = true // and the app
	wantLog(t, newApp(t, c, dir), all, "one\ntwo\nthree\n")
}

// TestLockIsLeft: a reader of a deleted pod's log takes the lock that another process leaves.
func TestLockIsLeft(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	c.add(run("a", 0), "one\n")
	wantLog(t, newApp(t, c, dir), all, "one\n")
	c.update(func() { c.runs, c.state = nil, spec.Succeeded })
	a := newApp(t, c, dir)
	other, err := logcopy.TryLock(logstore.ReplicaDir(dir, worker))
	if err != nil || other == nil {
		t.Fatal(other, err)
	}
	r, err := a.Open(t.Context(), worker, all)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.await(t, r.(*reader).first.waits.Load)
	other.Close()
	for _, want := range []backend.Block{{Data: []byte("one\n")}, {Notice: GapDeleted}} {
		if got, err := r.Next(t.Context()); string(got.Data) != string(want.Data) || got.Notice != want.Notice || err != nil {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestNoLog(t *testing.T) {
	t.Parallel()
	c := newCluster()
	a := newApp(t, c, t.TempDir())
	wantLog(t, a, all, "") // no pod yet
	c.state = spec.Succeeded
	a = newApp(t, c, t.TempDir())
	if _, _, err := read(t, a, all); !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), "archive=true") {
		t.Error(err)
	}
	c.add(run("a", 1), "x\n")
	for _, attempt := range []int{-1, 0, 2} { // the pod of the first attempt is gone
		if _, _, err := read(t, newApp(t, c, t.TempDir()), backend.LogOptions{Tail: -1, Attempt: &attempt}); !errors.Is(err, backend.ErrNotFound) {
			t.Error(attempt, err)
		}
	}
	if _, err := newApp(t, c, t.TempDir()).Open(t.Context(), spec.Replica{Role: "worker", ID: 7}, all); !errors.Is(err, backend.ErrNotFound) {
		t.Error(err)
	}
}

// TestFollowers: several followers read all attempts to the end of the app, regardless of
// which of them copies.
func TestFollowers(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	const followers = 3
	got := make([]string, followers)
	var wg sync.WaitGroup
	for i := range followers {
		a := newApp(t, c, dir) // as in a separate process
		wg.Go(func() { got[i], _, _ = read(t, a, backend.LogOptions{Follow: true, Tail: -1}) })
	}
	first, second := run("a", 0), run("b", 1)
	c.await(t, func() bool { return c.polled >= followers })
	waiting := first
	waiting.State = logcopy.Waiting
	c.add(waiting)
	c.add(first)
	for i := range 20 {
		c.write(first, fmt.Sprintf("first %d\n", i))
		time.Sleep(time.Millisecond)
	}
	c.update(func() { c.runs[0].State = logcopy.Ended })
	c.add(second)
	for i := range 20 {
		c.write(second, fmt.Sprintf("second %d\n", i))
		time.Sleep(time.Millisecond)
	}
	c.end(spec.Succeeded)
	wg.Wait()
	var want strings.Builder
	for _, run := range []string{"first", "second"} {
		for i := range 20 {
			fmt.Fprintf(&want, "%s %d\n", run, i)
		}
	}
	for i := range followers {
		if got[i] != want.String() {
			t.Errorf("follower %d:\n%s", i, got[i])
		}
	}
	zero := 0
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: 1, Attempt: &zero}, "first 19\n")
}

// TestReadDuringFollow: a read while another process follows gets all lines.
func TestReadDuringFollow(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	r := run("a", 0)
	c.add(r, "0\n")
	follower := newApp(t, c, dir)
	log, err := follower.Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "0\n"
	for i := range 20 {
		line := fmt.Sprintf("%d\n", i)
		c.write(r, line)
		want += line
		wantLog(t, newApp(t, c, dir), all, want)
	}
}

// TestNextAttemptWaitsForCopy: a follower of a log that another process copies reads the next attempt
// only when the one before is copied to its end.
func TestNextAttemptWaitsForCopy(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	first, second := run("a", 0), run("b", 1)
	c.add(first, "one\n")
	wantLog(t, newApp(t, c, dir), all, "one\n")
	other, err := logcopy.TryLock(logstore.ReplicaDir(dir, worker))
	if err != nil || other == nil {
		t.Fatal(other, err)
	}
	a := newApp(t, c, dir)
	a.logPatience = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log, err := a.Open(ctx, worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	next := func(want string) {
		if b, err := log.Next(ctx); string(b.Data) != want || err != nil {
			t.Errorf("got %q, %v, want %q", b.Data, err, want)
		}
	}
	next("one\n")
	c.write(first, "two\n")
	c.update(func() { c.runs[0].State = logcopy.Ended })
	c.add(second, "three\n")
	c.await(t, func() bool { runs, _, _ := a.replica(worker); return len(runs) > 1 })
	if attempts, _, _ := log.(*reader).state(); attempts != 1 {
		t.Errorf("got %d attempts before the first one is copied, want 1", attempts)
	}
	other.Close()
	next("two\n")
	next("three\n")
}

func TestTailFollowed(t *testing.T) {
	t.Parallel()
	c := newCluster()
	r := run("a", 0)
	c.add(r, "1\n", "2\n", "3\n")
	a := newApp(t, c, t.TempDir())
	log, err := a.Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if b, err := log.Next(t.Context()); string(b.Data) != "3\n" {
		t.Errorf("got %q, %v, want the last line", b.Data, err)
	}
	c.write(r, "4\n")
	if b, err := log.Next(t.Context()); string(b.Data) != "4\n" {
		t.Errorf("got %q, %v, want the new line", b.Data, err)
	}
}

// TestRestartInPlace: the runs of a container in one pod share a log.
func TestRestartInPlace(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	r := run("a", 0)
	c.add(r, "one\n", "cut")
	wantLog(t, newApp(t, c, dir), all, "one\n")
	before := r
	before.Previous, before.State = true, logcopy.Ended
	c.add(before)
	again := r
	again.Restart = 1
	c.add(again, "two\n")
	wantLog(t, newApp(t, c, dir), all, "one\ncut\ntwo\n")
	c.update(func() { c.runs = nil })
	third := r
	third.Restart = 3
	c.add(third, "four\n")
	got, notices, _ := read(t, newApp(t, c, dir), all)
	if got != "one\ncut\ntwo\nfour\n" || len(notices) != 2 {
		t.Errorf("got %q, notices %q", got, notices)
	}
}

// TestRestartReportedLate: a kubelet reports a restart after it has begun to send the log of
// the new run, so lines copied as those of the run before belong to the new run.
func TestRestartReportedLate(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	before := run("a", 0)
	late := before
	c.add(before)
	c.clock = c.clock.Add(time.Minute)
	c.write(before, "three\n", "four\n")
	wantLog(t, newApp(t, c, dir), all, "three\nfour\n")
	again := late
	again.Restart = 1
	c.update(func() {
		c.runs, c.logs[key(again)] = nil, c.logs[key(before)]
		delete(c.logs, key(before))
	})
	before.Previous, before.State, before.NextStarted = true, logcopy.Ended, epoch.Add(30*time.Second)
	now := c.clock
	c.clock = epoch
	c.add(before, "one\n", "two")
	c.clock = now
	c.add(again, "five\n")
	for range 2 {
		wantLog(t, newApp(t, c, dir), all, "three\nfour\none\ntwo\nfive\n")
	}
	c.end(spec.Succeeded)
	wantLog(t, newApp(t, c, dir), all, "three\nfour\none\ntwo\nfive\n")
}

// TestRestartReportedLateToFollower: so also if the log is followed, when the copy of the
// first run already has lines of that run.
func TestRestartReportedLateToFollower(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	first, started := run("a", 0), epoch.Add(30*time.Second)
	c.add(first, "one\n")
	log, err := newApp(t, c, dir).Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	wantLine := func(want string) {
		t.Helper()
		for {
			b, err := log.Next(t.Context())
			if err != nil || len(b.Data) > 0 && string(b.Data) != want {
				t.Fatalf("got %q, %v, want %q", b.Data, err, want)
			}
			if len(b.Data) > 0 {
				return
			}
		}
	}
	wantLine("one\n")
	ofFirst := c.logs[key(first)]
	c.update(func() { // the stream ends, and the next one has the log of the second run
		c.cuts, c.clock = c.cuts+1, started
		c.logs[key(first)] = nil
	})
	c.write(first, "two\n")
	wantLine("two\n")
	again := first
	again.Restart = 1
	c.update(func() {
		c.cuts++
		c.logs[key(again)], c.logs[key(first)] = c.logs[key(first)], ofFirst
		first.Previous, first.State, first.NextStarted = true, logcopy.Ended, started
		c.runs = []Run{first, again}
	})
	c.write(again, "three\n")
	wantLine("three\n")
}

// TestReplacedPod: if a pod is replaced within its attempt, the lines of the first one are
// kept, and a notice marks where the second one begins.
func TestReplacedPod(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	first, second := run("a", 0), run("b", 0)
	first.State = logcopy.Ended
	c.add(first, "one\n")
	wantLog(t, newApp(t, c, dir), all, "one\n")
	c.update(func() { c.runs = nil })
	second.Created = first.Created.Add(time.Second)
	c.add(second, "two\n")
	for range 2 {
		got, notices, err := read(t, newApp(t, c, dir), all)
		if got != "one\ntwo\n" || err != nil || !slices.Equal(notices, []string{GapReplaced}) {
			t.Errorf("got %q, notices %q, %v", got, notices, err)
		}
	}
}

func TestSeveralContainers(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	main, side := run("a", 0), run("a", 0)
	side.Container = "proxy"
	c.add(main)
	c.add(side)
	c.write(main, "1\n")
	c.write(side, "listening\n", "\n")
	c.write(main, "2\n")
	c.end(spec.Succeeded)
	want := "1\nproxy listening\nproxy \n2\n"
	wantLog(t, newApp(t, c, dir), all, want)
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: 2}, "proxy \n2\n")
	wantLog(t, newApp(t, c, dir), backend.LogOptions{Tail: -1, FromLine: 2, ToLine: 3}, "proxy listening\nproxy \n")
	c.gone = true
	wantLog(t, newApp(t, c, dir), all, want)

	got, _, err := read(t, newApp(t, newClusterOf(c), t.TempDir()), backend.LogOptions{Follow: true, Tail: -1})
	if err != nil || len(got) != len(want) {
		t.Errorf("got %q, %v, want %d bytes", got, err, len(want))
	}
}

// TestTailOfSeveralFollowed: the last lines of a followed log are those of all containers
// together.
func TestTailOfSeveralFollowed(t *testing.T) {
	t.Parallel()
	c := newCluster()
	main, side := run("a", 0), run("a", 0)
	side.Container = "proxy"
	c.add(main)
	c.add(side)
	c.write(side, "a\n", "b\n")
	c.write(main, "1\n", "2\n")
	c.write(side, "c\n")
	c.write(main, "3\n")
	r, err := newApp(t, c, t.TempDir()).Open(t.Context(), worker, backend.LogOptions{Follow: true, Tail: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines := map[string]int{}
	for ended := false; ; {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b.Data)) {
			lines[line]++
		}
		if !ended && len(lines) >= 3 {
			ended = true
			c.write(main, "4\n")
			c.end(spec.Succeeded)
		}
	}
	if want := map[string]int{"2\n": 1, "proxy c\n": 1, "3\n": 1, "4\n": 1}; !maps.Equal(lines, want) {
		t.Errorf("got %v, want %v", lines, want)
	}
}

func newClusterOf(c *cluster) *cluster {
	n := newCluster()
	n.runs, n.logs, n.state = c.runs, c.logs, c.state
	return n
}

// positions is a history in memory.
type positions struct {
	mu  sync.Mutex
	all map[string]string
}

func (p *positions) GetPosition(_ context.Context, _, _, reader string) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.all[reader]
	return text, ok, nil
}

func (p *positions) SetPositions(_ context.Context, _, _ string, more map[string]string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.all, more)
	return nil
}

// TestCursorInHistory: the history has the cursor, too, so a lost cursor file loses nothing.
func TestCursorInHistory(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	db := &positions{all: map[string]string{}}
	open := func() *App {
		a := newApp(t, c, dir)
		a.Positions = func(context.Context) Positions { return db }
		return a
	}
	r := run("a", 0)
	c.add(r, "one\n", "two\n")
	wantLog(t, open(), all, "one\ntwo\n")
	if len(db.all) != 1 || db.all["archive/worker/0/0/"] == "" {
		t.Errorf("got positions %q, want one of the replica", db.all)
	}
	if err := os.Remove(filepath.Join(logstore.AttemptDir(dir, worker, 0), logcopy.CursorFile)); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.logs[key(r)] = nil // rotated away
	c.mu.Unlock()
	c.write(r, "three\n")
	got, notices, err := read(t, open(), all)
	if got != "one\ntwo\nthree\n" || len(notices) != 1 || err != nil {
		t.Errorf("got %q, notices %q, %v", got, notices, err)
	}
}

func TestClusterIsAway(t *testing.T) {
	t.Parallel()
	c := newCluster()
	c.away = backend.Errorf(backend.ErrUnavailable, "away")
	if _, err := newApp(t, c, t.TempDir()).Open(t.Context(), worker, all); !errors.Is(err, backend.ErrUnavailable) {
		t.Error(err)
	}
}

// TestNeverStarted: a replica that waits for its image when the app ends does not block
// readers.
func TestNeverStarted(t *testing.T) {
	t.Parallel()
	c := newCluster()
	r := run("a", 0)
	r.State = logcopy.Waiting
	c.add(r)
	done := make(chan string, 1)
	a := newApp(t, c, t.TempDir())
	go func() {
		text, notices, err := read(t, a, backend.LogOptions{Follow: true, Tail: -1})
		done <- fmt.Sprint(text, notices, err)
	}()
	c.await(t, func() bool { return c.polled > 0 })
	c.update(func() { c.state = spec.Failed })
	select {
	case got := <-done:
		if got != "[] <nil>" {
			t.Error(got)
		}
	case <-time.After(time.Minute):
		t.Fatal("the reader did not return within a minute")
	}
}
