package agent

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
	s.act(s.g.probePassed(r, r.attempt, s.time))
	return strings.Join(s.did, ", ")
}

// timeOut reports that a replica's probe timed out and returns the policy's actions.
func (s *script) timeOut(name string) string {
	s.did = nil
	r := s.member(name)
	s.act(s.g.probeTimedOut(r, r.attempt))
	return strings.Join(s.did, ", ")
}

func (s *script) expectMsg(name, want string) {
	s.t.Helper()
	st := s.g.status(&Manifest{App: s.g.app})
	r := s.member(name)
	if got := st.Replica(r.key).Msg; got != want {
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
	if s.g.isDone() {
		t.Error("isDone: got true while a replica runs, want false")
	}
	s.exit("other/0", 0)
	s.expectEnd(spec.Failed, 3, spec.Failed, spec.Cancelled, spec.Cancelled, spec.Cancelled, spec.Succeeded)
}

func TestOrderCancel(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("db", 1, probed(nil)), role("web", 1, needs("db ready")))
	s.did = nil
	s.act(s.g.cancel(s.time))
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

// TestReplayOrder: the replay of a journal has the same result as the agent's run. The
// start of web is between two exits.
func TestReplayOrder(t *testing.T) {
	t.Parallel()
	m := &Manifest{Lifecycle: Lifecycle{FailFast: true}, App: &spec.App{Name: "app", Roles: []spec.Role{
		role("db", 1, probed(retries(spec.RetryApplication, 1))), role("web", 1, needs("db ready")),
	}}}
	start := func(seq int, role string, attempt int) startRecord {
		return startRecord{Seq: seq, Time: at(int64(-seq)), Role: role, Attempt: attempt, Process: Process{PID: seq}} // the clock runs backwards
	}
	exit := func(seq int, role string, attempt, code int) exitRecord {
		return exitRecord{Seq: seq, Time: at(int64(-seq)), Role: role, Attempt: attempt, Code: code}
	}
	starts := []startRecord{start(1, "db", 0), start(3, "db", 1), start(4, "web", 0)}
	exits := []exitRecord{exit(2, "db", 0, 1), exit(5, "db", 1, 0), exit(6, "web", 0, 0)}
	s := replayResult(m, starts, exits, false, "")
	if s.State != spec.Succeeded || s.Roles[0].Replicas[0].Attempt != 1 || s.Roles[1].Replicas[0].Attempt != 0 {
		t.Errorf("replay: got %v %+v", s.State, s.Roles)
	}
	// The agent died after the final failure of db was recorded.
	m.FailFast = false
	s = replayResult(m, starts[:2], []exitRecord{exits[0], exit(5, "db", 1, 7)}, false, "")
	if web := s.Roles[1].Replicas[0]; s.State != spec.Failed || *s.ExitCode != 7 || web.State != spec.Cancelled || web.Msg == "" {
		t.Errorf("replay: got %v %v %+v", s.State, *s.ExitCode, web)
	}
	// db was ended because it was not ready in time.
	late := exit(5, "db", 1, spec.ExitDeadline)
	late.Msg = "not ready within 30 s (port 80)"
	s = replayResult(m, starts[:2], []exitRecord{exits[0], late}, false, "")
	if db := s.Roles[0].Replicas[0]; *s.ExitCode != spec.ExitDeadline || db.Msg != late.Msg {
		t.Errorf("replay: got %v %+v", *s.ExitCode, db)
	}
}

// Thousands of replicas that wait for thousands all start.
func TestOrderOfMany(t *testing.T) {
	t.Parallel()
	const n = 2000
	s := newScript(t, true, role("web", n, needs("db ready")), role("db", n, probed(nil)))
	for _, r := range s.g.replicas[n:] {
		s.act(s.g.probePassed(r, 0, s.time))
	}
	for _, r := range s.g.replicas {
		if r.state != spec.Running {
			t.Fatalf("%v: got %v, want RUNNING", r.key, r.state)
		}
	}
}

// A role gets the ports of its dependencies; they stay the same when those restart by
// themselves.
func TestPortsOfDependencies(t *testing.T) {
	t.Parallel()
	s := newScript(t, true,
		role("db", 1, func(r *spec.Role) {
			probed(retries(spec.RetryRole, 1))(r)
			r.PortMap = spec.Map[int]{{Key: "http", Value: 80}}
		}),
		role("web", 1, func(r *spec.Role) {
			needs("db ready")(r)
			r.PortMap = spec.Map[int]{{Key: "http", Value: 80}}
		}))
	p := newPorts()
	db, web := p.env(s.g, s.member("db/0")), p.env(s.g, s.member("web/0"))
	port, ok := strings.CutPrefix(db[0], "TORCHX_PORT_HTTP=")
	if len(db) != 1 || !ok || len(web) != 2 || web[0] != "TORCHX_PORT_DB_HTTP="+port || web[1] == db[0] {
		t.Errorf("got env of db %q, of web %q", db, web)
	}
	s.exit("db/0", 1)
	if restarted := p.env(s.g, s.member("db/0")); restarted[0] != db[0] {
		t.Errorf("db after a restart: got %q, want %q", restarted, db)
	}
}

// atMost limits how many replicas of a role run at the same time.
func atMost(n int, more func(*spec.Role)) func(*spec.Role) { return orderKey("max_parallel", n, more) }

// TestMaxParallel: the next replica starts when one has ended, also after restarts.
func TestMaxParallel(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 4, atMost(2, nil)), role("b", 1, needs("a succeeded")))
	s.expect(strings.Join(s.did, ", "), "start a/0#0, start a/1#0")
	if got := s.g.waitReason(s.g.app.Role("a"))(s.member("a/3")); got != "waits: max_parallel is 2" {
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
