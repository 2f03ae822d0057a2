package agent

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// limited gives a role a time limit for its attempts.
func limited(retry bool, more func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) {
		r.Metadata = map[string]any{spec.OrderKey: map[string]any{"timeout": "2h", "retry_on_timeout": retry}}
		if more != nil {
			more(r)
		}
	}
}

// exceed reports that a replica exceeded the timeout of its role.
func (s *script) exceed(name string) string {
	s.did = nil
	r := s.member(name)
	s.act(s.g.exceedTimeout(r, r.attempt))
	return strings.Join(s.did, ", ")
}

// exitOverran is the exit of a replica that was stopped because of its timeout.
func (s *script) exitOverran(name string) string {
	s.did = nil
	r := s.member(name)
	s.act(s.g.noteExited(r, Exit{Replica: r.key, Attempt: r.attempt, Time: s.time, Code: spec.ExitDeadline, Overran: true}))
	return strings.Join(s.did, ", ")
}

// The time limit of the app stops everything, even replicas that would be retried.
func TestDeadlineOfTheApp(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, retries(spec.RetryReplica, 3)), role("b", 1, needs("a succeeded")))
	s.did = nil
	s.act(s.g.exceedDeadline(spec.DeadlineText(2*time.Hour), s.time))
	s.expect(strings.Join(s.did, ", "), "stop a/0, stop a/1")
	if s.g.canExceed() {
		t.Error("the app can exceed its limit twice")
	}
	s.act(s.g.cancel(s.time)) // too late to change the result
	s.expect(s.exit("a/0", 0), "")
	s.expect(s.exit("a/1", 143), "")
	s.expectEnd(spec.Failed, spec.ExitDeadline, spec.Cancelled, spec.Cancelled, spec.Cancelled)
	if st := s.g.finalStatus(&Manifest{App: s.g.app}, s.time); st.Msg != "deadline of 2h exceeded" || st.FirstFailure != nil {
		t.Errorf("got %q, first failure %v", st.Msg, st.FirstFailure)
	}
}

// A cancellation or a failure that ends the app already is not changed by its time limit.
func TestDeadlineTooLate(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, nil))
	s.expect(s.exit("a/0", 3), "stop a/1")
	if s.g.canExceed() {
		t.Error("a failing app can exceed its limit")
	}
	s = newScript(t, true, role("a", 1, nil))
	s.g.cancel(s.time)
	if s.g.canExceed() {
		t.Error("a cancelled app can exceed its limit")
	}
}

// The timeout of a role is a failure that is retried only on request.
func TestTimeoutOfARole(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, limited(false, retries(spec.RetryReplica, 3))))
	s.expect(s.exceed("a/0"), "stop a/0")
	s.expect(s.exceed("a/0"), "")
	s.expect(s.exitOverran("a/0"), "stop a/1")
	s.expect(s.exit("a/1", 0), "")
	s.expectEnd(spec.Failed, spec.ExitDeadline, spec.Failed, spec.Cancelled)
	s.expectMsg("a/0", "deadline of 2h exceeded")

	s = newScript(t, true, role("a", 1, limited(true, retries(spec.RetryReplica, 1))))
	s.expect(s.exceed("a/0"), "stop a/0")
	s.expect(s.exitOverran("a/0"), "start a/0#1")
}

// An agent that dies between the record of the deadline and the end does not change the
// result, whatever was recorded in between.
func TestReplayDeadline(t *testing.T) {
	t.Parallel()
	m := &Manifest{ID: "x", App: &spec.App{Name: "x", Roles: []spec.Role{role("a", 2, nil)}}, Lifecycle: Lifecycle{FailFast: true}}
	stoppedExit := exitRecord{Time: time.Unix(2, 0), Role: "a", Replica: 1, Code: 0, Stopped: true}
	starts := []startRecord{{Time: time.Unix(1, 0), Role: "a"}, {Time: time.Unix(1, 0), Role: "a", Replica: 1}}
	other := stoppedExit
	other.Replica = 0
	for _, exits := range [][]exitRecord{nil, {stoppedExit}, {stoppedExit, other}} {
		for _, cancelled := range []bool{false, true} {
			s := replayResult(m, starts, exits, cancelled, "deadline of 1s exceeded")
			if s.State != spec.Failed || *s.ExitCode != spec.ExitDeadline || s.Msg != "deadline of 1s exceeded" {
				t.Errorf("%d exits: got %v, exit code %d, %q", len(exits), s.State, *s.ExitCode, s.Msg)
			}
		}
	}
	overran := exitRecord{Time: time.Unix(2, 0), Role: "a", Code: spec.ExitDeadline, Msg: "deadline of 2h exceeded", Overran: true}
	m.App.Roles[0] = role("a", 1, limited(false, retries(spec.RetryApplication, 3)))
	s := replayResult(m, starts[:1], []exitRecord{overran}, false, "")
	if s.State != spec.Failed || *s.ExitCode != spec.ExitDeadline || s.Msg != "replica a/0 failed first: deadline of 2h exceeded" {
		t.Errorf("a role's timeout: got %v, exit code %d, %q", s.State, *s.ExitCode, s.Msg)
	}
}

// A former agent's time counts, without the changes of the clock within one boot.
func TestElapsed(t *testing.T) {
	t.Parallel()
	a := &agent{record: record{bootID: "this"}}
	now := uptime()
	if now == 0 {
		if runtime.GOOS == "linux" {
			t.Fatal("uptime: got 0, want that of this machine")
		}
		t.Skip("this system has no uptime")
	}
	// The machine may have started a moment ago: half of its uptime is in the past at all times.
	half := time.Duration(now / 2)
	start := startRecord{BootID: "this", Uptime: now - int64(half), Time: time.Now().Add(24 * time.Hour)}
	if d := a.elapsed(start); d < half || d > half+time.Hour {
		t.Errorf("after the clock was set back: got %v, want %v", d, half)
	}
	start.BootID = "other"
	if d := a.elapsed(start); d != 0 {
		t.Errorf("in the future: got %v, want 0", d)
	}
	start.Time = time.Now().Add(-3 * time.Hour)
	if d := a.elapsed(start); d < 3*time.Hour {
		t.Errorf("after a reboot: got %v, want 3h", d)
	}
}
