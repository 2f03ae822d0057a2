package policy

import (
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// needs makes a role depend on others, given as "role condition".
func needs(all ...string) func(*spec.Role) {
	on := map[string]any{}
	for _, d := range all {
		role, condition, _ := strings.Cut(d, " ")
		on[role] = condition
	}
	return func(r *spec.Role) { r.Metadata = map[string]any{spec.OrderKey: map[string]any{"depends_on": on}} }
}

// probed gives a role a readiness probe with a timeout.
func probed(more func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) {
		r.Metadata = map[string]any{spec.OrderKey: map[string]any{"ready": map[string]any{"port": 80, "timeout": 30}}}
		if more != nil {
			more(r)
		}
	}
}

// pass reports that a replica passed its probe and returns the policy's actions.
func (s *script) pass(name string) string {
	s.did = nil
	r := s.member(name)
	s.act(s.g.ProbePassed(r, r.Attempt, s.time))
	return strings.Join(s.did, ", ")
}

// timeOut reports that a replica's probe timed out and returns the policy's actions.
func (s *script) timeOut(name string) string {
	s.did = nil
	r := s.member(name)
	s.act(s.g.ProbeTimedOut(r, r.Attempt))
	return strings.Join(s.did, ", ")
}

func (s *script) expectMsg(name, want string) {
	s.t.Helper()
	st := s.g.Status()
	r := s.member(name)
	if got := st.Replica(r.Key).Msg; got != want {
		s.t.Errorf("the status of %s says %q, want %q", name, got, want)
	}
}

func TestOrderStarted(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("web", 2, needs("db started")), role("db", 2, nil))
	s.expect(strings.Join(s.did, ", "), "start db/0#0, start db/1#0, start web/0#0, start web/1#0")
}

func TestOrderReady(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("web", 1, needs("db ready")), role("db", 2, probed(nil)))
	s.expect(strings.Join(s.did, ", "), "start db/0#0, start db/1#0")
	s.expectMsg("web/0", "waits for role db to be ready")
	s.expectMsg("db/0", "not ready yet (port 80)")
	s.expect(s.pass("db/0"), "")
	s.expectMsg("db/0", "")
	s.expect(s.pass("db/1"), "start web/0#0")
	s.expectMsg("web/0", "")
	s.expect(s.pass("db/1"), "")
	s.expect(s.timeOut("db/1"), "")
	for _, name := range []string{"db/0", "db/1", "web/0"} {
		s.expect(s.exit(name, 0), "")
	}
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded)
}

// A replica that exits successfully counts as ready.
func TestOrderReadyAfterItsEnd(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(nil)), role("web", 1, needs("db ready")))
	s.expect(s.exit("db/0", 0), "start web/0#0")
}

func TestOrderSucceeded(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("prepare", 2, nil), role("train", 1, needs("prepare succeeded")), role("report", 1, needs("train succeeded")))
	s.expect(strings.Join(s.did, ", "), "start prepare/0#0, start prepare/1#0")
	s.expect(s.exit("prepare/1", 0), "")
	s.expectMsg("train/0", "waits for role prepare to succeed")
	s.expect(s.exit("prepare/0", 0), "start train/0#0")
	s.expect(s.exit("train/0", 0), "start report/0#0")
	s.exit("report/0", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded, spec.Succeeded)
}

func TestOrderElastic(t *testing.T) {
	t.Parallel()
	// The required number of replicas is enough for "succeeded", while others run.
	s := newScript(t, true, role("db", 3, elastic(2, nil)), role("web", 1, needs("db succeeded")))
	s.expect(s.exit("db/0", 1), "")
	s.expect(s.exit("db/1", 0), "")
	s.expect(s.exit("db/2", 0), "start web/0#0")
	// A replica that is lost for good does not delay dependents.
	s = newScript(t, true, role("db", 3, probed(elastic(2, nil))), role("web", 1, needs("db ready")))
	s.pass("db/0")
	s.pass("db/1")
	s.expect(s.exit("db/2", 1), "start web/0#0")
}

func TestOrderFailFast(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(nil)), role("web", 1, needs("db ready")), role("other", 1, nil))
	s.expect(s.exit("db/0", 3), "stop other/0")
	s.exit("other/0", 143)
	s.expectEnd(spec.Failed, 3, spec.Failed, spec.Cancelled, spec.Cancelled)
	s.expectMsg("web/0", "not started: it waited for role db to be ready")
}

// Without fail-fast other roles continue, and those whose dependency failed are canceled.
func TestOrderWithoutFailFast(t *testing.T) {
	t.Parallel()
	s := newScript(t, false, role("db", 1, probed(nil)), role("web", 1, needs("db ready")),
		role("report", 2, needs("web succeeded")), role("other", 1, nil))
	s.expect(s.exit("db/0", 3), "")
	s.expectMsg("web/0", "not started: it waited for role db to be ready")
	s.expectMsg("report/1", "not started: it waited for role web to succeed")
	if s.g.IsDone() {
		t.Error("isDone: got true while a replica runs, want false")
	}
	s.exit("other/0", 0)
	s.expectEnd(spec.Failed, 3, spec.Failed, spec.Cancelled, spec.Cancelled, spec.Cancelled, spec.Succeeded)
}

func TestOrderCancel(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(nil)), role("web", 1, needs("db ready")))
	s.did = nil
	s.act(s.g.Cancel(s.time))
	s.expect(strings.Join(s.did, ", "), "stop db/0")
	s.expect(s.pass("db/0"), "")
	s.expect(s.exit("db/0", 143), "")
	s.expectEnd(spec.Cancelled, 130, spec.Cancelled, spec.Cancelled)
}

// A role that restarts by itself does not affect its dependents that run.
func TestOrderRoleRetry(t *testing.T) {
	t.Parallel()
	for _, policy := range []spec.RetryPolicy{spec.RetryRole, spec.RetryReplica} {
		s := newScript(t, true, role("db", 1, probed(retries(policy, 2))), role("web", 1, needs("db ready")))
		s.expect(s.exit("db/0", 1), "start db/0#1")
		s.expectMsg("web/0", "waits for role db to be ready")
		s.expect(s.pass("db/0"), "start web/0#0")
		s.expect(s.exit("db/0", 1), "start db/0#2")
		s.exit("web/0", 0)
		s.exit("db/0", 0)
		s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded)
	}
}

// An app that restarts starts its roles in order restarted.
func TestOrderApplicationRetry(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(nil)), role("web", 1, func(r *spec.Role) {
		needs("db ready")(r)
		retries(spec.RetryApplication, 1)(r)
	}))
	s.expect(s.pass("db/0"), "start web/0#0")
	s.expect(s.exit("web/0", 1), "stop db/0")
	s.expect(s.exit("db/0", 143), "start db/0#1")
	s.expectMsg("web/0", "waits for role db to be ready")
	s.expect(s.pass("db/0"), "start web/0#1")
}

// An app that restarts while a role still waits for another.
func TestOrderApplicationRetryWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(retries(spec.RetryApplication, 1))), role("web", 1, needs("db ready")), role("other", 1, nil))
	s.expect(s.exit("db/0", 1), "stop other/0")
	s.expect(s.exit("other/0", 143), "start db/0#1, start other/0#1")
	s.expect(s.pass("db/0"), "start web/0#0")
}

func TestOrderTimeout(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(retries(spec.RetryReplica, 1))), role("web", 1, needs("db ready")))
	s.expect(s.timeOut("db/0"), "stop db/0")
	s.expect(s.pass("db/0"), "") // too late
	s.expect(s.exit("db/0", spec.ExitDeadline), "start db/0#1")
	s.expect(s.timeOut("db/0"), "stop db/0")
	s.expect(s.exit("db/0", spec.ExitDeadline), "")
	s.expectEnd(spec.Failed, spec.ExitDeadline, spec.Failed, spec.Cancelled)
	s.expectMsg("db/0", "not ready within 30 s (port 80)")
	if want := "replica db/0 failed first: not ready within 30 s (port 80)"; s.g.describe() != want {
		t.Errorf("describe: got %q, want %q", s.g.describe(), want)
	}
}

// Thousands of replicas that wait for thousands all start.
func TestOrderOfMany(t *testing.T) {
	t.Parallel()
	const n = 2000
	s := newScript(t, true, role("web", n, needs("db ready")), role("db", n, probed(nil)))
	for _, r := range s.g.Replicas[n:] {
		s.act(s.g.ProbePassed(r, 0, s.time))
	}
	for _, r := range s.g.Replicas {
		if r.State != spec.Running {
			t.Fatalf("%v: got %v, want RUNNING", r.Key, r.State)
		}
	}
}

// atMost limits how many replicas of a role run at the same time.
func atMost(n int, more func(*spec.Role)) func(*spec.Role) { return orderKey("max_parallel", n, more) }

// TestMaxParallel: the next replica starts when one has ended, also after restarts.
func TestMaxParallel(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 4, atMost(2, nil)), role("b", 1, needs("a succeeded")))
	s.expect(strings.Join(s.did, ", "), "start a/0#0, start a/1#0")
	if got := s.g.waitReason(s.g.App.Role("a"))(s.member("a/3")); got != "waits: max_parallel is 2" {
		t.Errorf("got reason %q, want the limit", got)
	}
	s.expect(s.exit("a/1", 0), "start a/2#0")
	s.expect(s.exit("a/0", 0), "start a/3#0")
	s.expect(s.exit("a/3", 0), "")
	s.expect(s.exit("a/2", 0), "start b/0#0")
	s.exit("b/0", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded, spec.Succeeded, spec.Succeeded)

	s = newScript(t, true, role("a", 3, atMost(1, retries(spec.RetryRole, 1))))
	s.expect(strings.Join(s.did, ", "), "start a/0#0")
	s.expect(s.exit("a/0", 0), "start a/1#0")
	s.expect(s.exit("a/1", 3), "start a/0#1")
	s.expect(s.exit("a/0", 0), "start a/1#1")
	s.expect(s.exit("a/1", 0), "start a/2#0")
	s.exit("a/2", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded)

	s = newScript(t, true, role("a", 3, atMost(1, retries(spec.RetryReplica, 1))))
	s.expect(s.exit("a/0", 3), "start a/1#0") // while a/0 waits for its restart
	s.expect(s.exit("a/1", 0), "start a/0#1")
	s.expect(s.exit("a/0", 4), "")
	s.expectEnd(spec.Failed, 4, spec.Failed, spec.Succeeded, spec.Cancelled)
}
