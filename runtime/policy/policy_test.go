package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// script drives a policy as the agent would, with starts carried out immediately.
type script struct {
	t    *testing.T
	g    *Policy
	did  []string
	time time.Time
}

func newScript(t *testing.T, failFast bool, roles ...spec.Role) *script {
	s := &script{t: t, g: New(&spec.App{Name: "app", Roles: roles}, failFast), time: time.Unix(1000, 0)}
	s.act(s.g.StartAll())
	return s
}

func (s *script) member(name string) *Replica {
	var k spec.Replica
	role, id, _ := strings.Cut(name, "/")
	k.Role = role
	if _, err := fmt.Sscan(id, &k.ID); err != nil {
		s.t.Fatal(err)
	}
	return s.g.ByKey[k]
}

func (s *script) act(acts []Action) {
	for _, a := range acts {
		s.time = s.time.Add(time.Second)
		if a.Stop != nil {
			s.did = append(s.did, fmt.Sprintf("stop %s/%d", a.Stop.Key.Role, a.Stop.Key.ID))
			continue
		}
		if s.g.CanStart(a.Start, a.Start.NextAttempt) && s.g.DependenciesMet(a.Start, s.time) {
			s.did = append(s.did, fmt.Sprintf("start %s/%d#%d", a.Start.Key.Role, a.Start.Key.ID, a.Start.NextAttempt))
			s.g.NoteStarted(a.Start, Process{PID: 1}, s.time)
			s.act(s.g.StartUnblocked(s.time))
		}
	}
}

// exit ends a replica and returns the policy's actions.
func (s *script) exit(name string, code int) string {
	s.did = nil
	s.time = s.time.Add(time.Second)
	s.act(s.g.NoteExited(s.member(name), Exit{Code: code, Time: s.time}))
	return strings.Join(s.did, ", ")
}

func (s *script) expect(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("got actions %q, want %q", got, want)
	}
}

func (s *script) expectEnd(state spec.State, code int, states ...spec.State) {
	s.t.Helper()
	if !s.g.IsDone() {
		s.t.Fatal("isDone: got false, want true")
	}
	if gotState, gotCode := s.g.conclusion(); gotState != state || gotCode != code {
		s.t.Errorf("got result %v %d, want %v %d", gotState, gotCode, state, code)
	}
	var got []spec.State
	for _, r := range s.g.Replicas {
		got = append(got, r.State)
	}
	if !slices.Equal(got, states) {
		s.t.Errorf("got replica states %v, want %v", got, states)
	}
}

func TestGangSucceeds(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, nil), role("b", 1, nil))
	s.expect(strings.Join(s.did, ", "), "start a/0#0, start a/1#0, start b/0#0")
	s.exit("a/0", 0)
	s.exit("b/0", 0)
	if s.g.IsDone() {
		t.Error("isDone: got true while a replica runs, want false")
	}
	s.expect(s.exit("a/1", 0), "")
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded)
}

func TestGangFailFast(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 3, nil))
	s.exit("a/2", 0)
	s.expect(s.exit("a/1", 7), "stop a/0")
	s.exit("a/0", 143)
	s.expectEnd(spec.Failed, 7, spec.Cancelled, spec.Failed, spec.Succeeded)
	if f := s.g.firstFailure; f.ID != 1 || *f.ExitCode != 7 {
		t.Errorf("got first failure %+v, want replica 1 with exit code 7", f)
	}
}

func TestGangWithoutFailFast(t *testing.T) {
	t.Parallel()
	s := newScript(t, false, role("a", 3, nil))
	s.expect(s.exit("a/1", 7), "")
	s.exit("a/0", 9)
	s.exit("a/2", 0)
	s.expectEnd(spec.Failed, 7, spec.Failed, spec.Failed, spec.Succeeded)
}

func TestGangRetriesReplica(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, retries(spec.RetryReplica, 2)))
	s.expect(s.exit("a/0", 1), "start a/0#1")
	s.expect(s.exit("a/0", 2), "start a/0#2")
	s.expect(s.exit("a/0", 3), "stop a/1")
	s.exit("a/1", 143)
	s.expectEnd(spec.Failed, 3, spec.Failed, spec.Cancelled)
	if s.g.restarts != 2 {
		t.Errorf("got %d restarts, want 2", s.g.restarts)
	}
}

func TestGangRetriesRole(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, retries(spec.RetryRole, 1)), role("b", 1, nil))
	s.exit("a/1", 0)
	s.expect(s.exit("a/0", 1), "start a/0#1, start a/1#1")
	s.exit("a/0", 0)
	s.exit("a/1", 0)
	s.exit("b/0", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded)
}

func TestGangRetriesApplication(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, retries(spec.RetryApplication, 1)), role("b", 1, nil))
	s.expect(s.exit("a/0", 1), "stop a/1, stop b/0")
	s.expect(s.exit("b/0", 143), "")
	s.expect(s.exit("a/1", 0), "start a/0#1, start a/1#1, start b/0#1")
	s.expect(s.exit("b/0", 5), "stop a/0, stop a/1") // b has no retries
	s.exit("a/0", 143)
	s.exit("a/1", 143)
	s.expectEnd(spec.Failed, 5, spec.Cancelled, spec.Cancelled, spec.Failed)
	if s.g.restarts != 1 {
		t.Errorf("got %d restarts, want 1", s.g.restarts)
	}
}

// A failure while the app is being stopped for a restart belongs to that restart.
func TestGangSecondFailureDuringRestart(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, retries(spec.RetryApplication, 1)))
	s.exit("a/0", 1)
	s.expect(s.exit("a/1", 2), "start a/0#1, start a/1#1")
}

func TestGangElastic(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 3, elastic(2, nil)))
	s.expect(s.exit("a/0", 1), "")
	s.exit("a/1", 0)
	s.exit("a/2", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Failed, spec.Succeeded, spec.Succeeded)

	s = newScript(t, true, role("a", 3, elastic(2, nil)))
	s.exit("a/0", 4)
	s.expect(s.exit("a/1", 5), "stop a/2")
	s.exit("a/2", 143)
	s.expectEnd(spec.Failed, 4, spec.Failed, spec.Failed, spec.Cancelled)
}

// An elastic role is not torn down for a restart while it has enough replicas.
func TestGangElasticRetries(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, elastic(1, retries(spec.RetryApplication, 1))))
	s.expect(s.exit("a/0", 1), "")
	s.expect(s.exit("a/1", 1), "start a/0#1, start a/1#1")
	s.exit("a/0", 0)
	s.exit("a/1", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded)
}

func TestGangCancel(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 3, retries(spec.RetryReplica, 5)))
	s.exit("a/0", 0)
	s.did = nil
	s.act(s.g.Cancel(s.time))
	s.expect(strings.Join(s.did, ", "), "stop a/1, stop a/2")
	s.expect(s.exit("a/1", 143), "")
	s.expect(s.exit("a/2", 0), "")
	s.expectEnd(spec.Cancelled, 130, spec.Succeeded, spec.Cancelled, spec.Cancelled)
}

// A cancel between the exit of an attempt and the start of the next one.
func TestGangCancelDuringBackoff(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 1, retries(spec.RetryReplica, 1)))
	acts := s.g.NoteExited(s.member("a/0"), Exit{Code: 1, Time: s.time})
	if len(acts) != 1 || acts[0].Delay != backoffFirst {
		t.Fatalf("got actions %+v, want one start after %v", acts, backoffFirst)
	}
	s.act(s.g.Cancel(s.time))
	s.did = nil
	s.act(acts)
	s.expect(strings.Join(s.did, ", "), "")
	s.expectEnd(spec.Cancelled, 130, spec.Cancelled)
}

func TestGangRefused(t *testing.T) {
	t.Parallel()
	s := newScript(t, false, role("a", 3, retries(spec.RetryApplication, 3)))
	s.did = nil
	r := s.member("a/2")
	r.State = spec.Pending
	s.act(s.g.NoteRefused(r, 127, "not found", s.time))
	s.expect(strings.Join(s.did, ", "), "stop a/0, stop a/1")
	s.exit("a/0", 143)
	s.exit("a/1", 143)
	s.expectEnd(spec.Failed, 127, spec.Cancelled, spec.Cancelled, spec.Failed)
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond, 11: time.Minute, 99: time.Minute,
	} {
		for random, factor := range map[float64]float64{0: 0.75, 0.25: 0.875, 0.5: 1, 0.75: 1.125} {
			p := &Policy{Random: func() float64 { return random }}
			if got, want := p.backoff(n), time.Duration(factor*float64(want)); got != want {
				t.Errorf("backoff(%d) with %v: got %v, want %v", n, random, got, want)
			}
		}
		if got := new(Policy).backoff(n); got != want {
			t.Errorf("backoff(%d) without jitter: got %v, want %v", n, got, want)
		}
		p := &Policy{Random: rand.Float64}
		for range 100 {
			if got, low, high := p.backoff(n), want*3/4, want*5/4; got < low || got >= high {
				t.Fatalf("backoff(%d): got %v, want at least %v and less than %v", n, got, low, high)
			}
		}
	}
}

// A restart counts when it happens, and once for all replicas that restart together.
func TestCountRestart(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := New(&spec.App{Roles: []spec.Role{role("a", 2, retries(spec.RetryApplication, 3))}}, true)
	starts := p.StartAll()
	start := func() {
		for _, s := range starts {
			p.NoteStarted(s.Start, Process{PID: 1}, now)
		}
		starts = nil
	}
	for want := range 3 {
		start()
		if p.restarts != want {
			t.Errorf("got %d restarts in attempt %d, want %[2]d", p.restarts, want)
		}
		p.NoteExited(p.Replicas[0], Exit{Replica: p.Replicas[0].Key, Code: 1, Time: now})
		starts = p.NoteExited(p.Replicas[1], Exit{Replica: p.Replicas[1].Key, Code: 1, Time: now})
		if len(starts) != 2 || p.restarts != want {
			t.Errorf("got %d starts, %d restarts before they happen, want 2, %d", len(starts), p.restarts, want)
		}
	}
	p.Cancel(now)
	if p.restarts != 2 || !p.IsDone() {
		t.Errorf("got %d restarts of an app canceled before its third, want 2", p.restarts)
	}
}
