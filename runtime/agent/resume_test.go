//go:build unix

package agent

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/spec"
)

// containers is a Launcher whose replicas outlive the agent. It records its calls.
type containers struct {
	exits chan Exit
	ends  map[string]Exit // "role/id#attempt" → its exit, delivered once the attempt is watched

	mu  sync.Mutex
	did []string
}

var _ Adopter = (*containers)(nil)

func (c *containers) note(what string, r spec.Replica, attempt int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fmt.Sprintf("%s/%d#%d", r.Role, r.ID, attempt)
	c.did = append(c.did, what+" "+name)
	return name
}

func (c *containers) watch(name string, r spec.Replica, attempt int) {
	if e, ok := c.ends[name]; ok {
		e.Replica, e.Attempt, e.Time = r, attempt, time.Now()
		c.exits <- e
	}
}

func (c *containers) Check() error { return nil }

func (c *containers) Start(_ context.Context, batch []Start) []Started {
	var all []Started
	for _, s := range batch {
		c.watch(c.note("start", s.Replica, s.Attempt), s.Replica, s.Attempt)
		all = append(all, Started{Process: Process{ID: "new"}, Time: time.Now()})
	}
	return all
}

func (c *containers) Adopt(running []Adoption) {
	for _, a := range running {
		c.watch(c.note("adopt "+a.Process.ID, a.Replica, a.Attempt), a.Replica, a.Attempt)
	}
}

func (c *containers) Terminate(r spec.Replica) {
	c.note("stop", r, 0)
	c.exits <- Exit{Replica: r, Code: 143, Signal: "SIGTERM", Time: time.Now()}
}

func (c *containers) Kill(spec.Replica)                     {}
func (c *containers) Exits() <-chan Exit                    { return c.exits }
func (c *containers) ErrorFile(spec.Replica, int) []byte    { return nil }
func (c *containers) Checkpoints() []Checkpoint             { return nil }
func (c *containers) Ended(*spec.Status) error              { return nil }
func (c *containers) Finish(time.Duration, <-chan struct{}) {}

// orphan creates the bundle of an app of containers whose agent died, with a journal.
func orphan(t *testing.T, starts []startRecord, exits []exitRecord, roles ...spec.Role) (Bundle, *filelock.Lock, *Manifest) {
	t.Helper()
	m := &Manifest{
		Version: 1, ID: "x", Backend: "docker", Handle: "docker://torchx/x", Home: t.TempDir(),
		App: &spec.App{Name: "x", Roles: roles}, SubmittedAt: time.Now(),
		Lifecycle: Lifecycle{FailFast: true, Containers: true},
	}
	b, lock, err := Create(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	if err := writeHolder(lock.File, holder{Handle: m.Handle, PID: 4194304 + 1}); err != nil {
		t.Fatal(err)
	}
	a, err := newAgent(b, m, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range starts {
		err = a.record.starts.append(start)
	}
	for _, exit := range exits {
		err = a.record.exits.append(exit)
	}
	if err != nil || a.record.starts.Close() != nil || a.record.exits.Close() != nil {
		t.Fatal(err)
	}
	return b, lock, m
}

// runAgent runs an agent on an orphan to the app's end.
func runAgent(t *testing.T, b Bundle, m *Manifest, c *containers) *spec.Status {
	t.Helper()
	l := log.New(io.Discard, "", 0)
	c.exits = make(chan Exit, 16)
	a, err := newAgent(b, m, c, nil, l)
	if err != nil {
		t.Fatal(err)
	}
	a.reports.recorder = newRecorder(NewHistory(m.Home, func(context.Context, string) (Store, error) { return nil, os.ErrNotExist }), m.Backend, m.ID, l)
	a.ending.isResuming, a.events.signals = true, make(chan os.Signal)
	if err := a.run(); err != nil {
		t.Fatal(err)
	}
	s, err := b.Status()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func id(start startRecord, id string) startRecord { start.ID = id; return start }

func TestAdopt(t *testing.T) {
	t.Parallel()
	failed := ended(0, 0, 1)
	tests := []struct {
		name   string
		starts []startRecord
		exits  []exitRecord
		cancel bool
		change func(*spec.Role)
		ends   map[string]Exit
		did    []string
		state  spec.State
		count  int // restarts
	}{
		{
			"running replicas are adopted, ended ones not counted twice",
			[]startRecord{id(started(0, 0), "c0"), id(started(1, 0), "c1")},
			[]exitRecord{ended(0, 0, 0)},
			false, nil,
			map[string]Exit{"a/1#0": {}},
			[]string{"adopt c1 a/1#0"},
			spec.Succeeded, 0,
		},
		{
			"an interrupted start is completed",
			[]startRecord{id(started(1, 0), "c1")},
			nil,
			false, nil,
			map[string]Exit{"a/0#0": {}, "a/1#0": {}},
			[]string{"adopt c1 a/1#0", "start a/0#0"},
			spec.Succeeded, 0,
		},
		{
			"a delayed restart happens",
			[]startRecord{started(0, 0), id(started(1, 0), "c1")},
			[]exitRecord{failed},
			false, retries(spec.RetryReplica, 1),
			map[string]Exit{"a/0#1": {}, "a/1#0": {}},
			[]string{"adopt c1 a/1#0", "start a/0#1"},
			spec.Succeeded, 1,
		},
		{
			"a pending stop happens",
			[]startRecord{started(0, 0), id(started(1, 0), "c1")},
			[]exitRecord{failed},
			false, nil, nil,
			[]string{"adopt c1 a/1#0", "stop a/1#0"},
			spec.Failed, 0,
		},
		{
			"a cancel requested meanwhile takes effect",
			[]startRecord{id(started(0, 0), "c0")},
			nil,
			true, nil, nil,
			[]string{"adopt c0 a/0#0", "stop a/0#0"},
			spec.Cancelled, 0,
		},
		{
			"a lost replica did not succeed and costs no retry",
			[]startRecord{id(started(0, 0), "c0"), id(started(1, 0), "c1")},
			nil,
			false, retries(spec.RetryReplica, 1),
			map[string]Exit{"a/0#0": {Lost: true}, "a/0#1": {Code: 1}, "a/0#2": {}, "a/1#0": {}},
			[]string{"adopt c0 a/0#0", "adopt c1 a/1#0", "start a/0#1", "start a/0#2"},
			spec.Succeeded, 2,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, _, m := orphan(t, test.starts, test.exits, role("a", 2, test.change))
			if test.cancel {
				if err := WriteJSON(b.path(cancelFile), cancelRequest{}, false); err != nil {
					t.Fatal(err)
				}
			}
			c := &containers{ends: test.ends}
			s := runAgent(t, b, m, c)
			if !slices.Equal(c.did, test.did) {
				t.Errorf("got launcher calls %q, want %q", c.did, test.did)
			}
			if s.State != test.state || s.NumRestarts != test.count {
				t.Errorf("got %v after %d restarts, want %v after %d", s.State, s.NumRestarts, test.state, test.count)
			}
		})
	}
}

// A replica that was lost, without a retry, fails the app whatever its exit code, and the
// message says why.
func TestLostReplicaFails(t *testing.T) {
	t.Parallel()
	b, _, m := orphan(t, []startRecord{started(0, 0)}, nil, role("a", 1, nil))
	s := runAgent(t, b, m, &containers{ends: map[string]Exit{"a/0#0": {Lost: true, Msg: "stopped by engine restart"}}})
	if s.State != spec.Failed || *s.ExitCode != 125 || !strings.Contains(s.Msg, "stopped by engine restart") {
		t.Errorf("got %v, exit code %d, %q, want FAILED, 125 and the engine's message", s.State, *s.ExitCode, s.Msg)
	}
}

// Only an agent may decide on the result of an app of containers.
func TestInspectSparesOrphans(t *testing.T) {
	t.Parallel()
	b, lock, _ := orphan(t, []startRecord{started(0, 0)}, nil, role("a", 1, nil))
	releaseLock(t, b, lock)
	s, err := b.Inspect()
	if err != nil || s.State.Terminal() {
		t.Errorf("got status %+v, %v, want one that is not terminal", s, err)
	}
	if _, err := os.Lstat(b.supervisor().Entry()); err != nil {
		t.Errorf("live entry: got %v, want it kept", err)
	}
}

// A holder that replaces a longer one is readable.
func TestWriteHolderReplacesAll(t *testing.T) {
	t.Parallel()
	b, lock, m := orphan(t, nil, nil, role("a", 1, nil))
	for _, pid := range []int{4194304, 7, 123} {
		if err := writeHolder(lock.File, holder{Handle: m.Handle, PID: pid}); err != nil {
			t.Fatal(err)
		}
		if h, err := readHolder(b.path(lockFile)); err != nil || h.PID != pid || h.Handle != m.Handle {
			t.Errorf("got holder %+v, %v, want pid %d", h, err, pid)
		}
	}
}

// releaseLock closes a lock and waits until no process holds it: a process that another
// test starts at this moment inherits it until it executes its program.
func releaseLock(t *testing.T, b Bundle, lock *filelock.Lock) {
	t.Helper()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	for b.Held() {
		time.Sleep(time.Millisecond)
	}
}

// An agent that replaces a dead one stops sidecars that are not needed any more.
func TestResumeEndsSidecars(t *testing.T) {
	t.Parallel()
	start := func(seq int, role string) startRecord {
		return startRecord{Seq: seq, Time: at(1), Role: role, Process: Process{ID: role}}
	}
	b, _, m := orphan(t, []startRecord{start(1, "store"), start(2, "train")}, []exitRecord{{Seq: 3, Time: at(2), Role: "train"}},
		role("store", 1, ordered("sidecar", true, nil)), role("train", 1, nil))
	c := &containers{}
	s := runAgent(t, b, m, c)
	if want := []string{"adopt store store/0#0", "stop store/0#0"}; !slices.Equal(c.did, want) {
		t.Errorf("got launcher calls %q, want %q", c.did, want)
	}
	if store := s.Roles[0].Replicas[0]; s.State != spec.Succeeded || store.State != spec.Succeeded {
		t.Errorf("got app %v, sidecar %v, want both SUCCEEDED", s.State, store.State)
	}
}
