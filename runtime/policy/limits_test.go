package policy

import (
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
	s.act(s.g.ExceedTimeout(r, r.Attempt))
	return strings.Join(s.did, ", ")
}

// exitOverran is the exit of a replica that was stopped because of its timeout.
func (s *script) exitOverran(name string) string {
	s.did = nil
	r := s.member(name)
	s.act(s.g.NoteExited(r, Exit{Replica: r.Key, Attempt: r.Attempt, Time: s.time, Code: spec.ExitDeadline, Overran: true}))
	return strings.Join(s.did, ", ")
}

// The time limit of the app stops everything, even replicas that would be retried.
func TestDeadlineOfTheApp(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, retries(spec.RetryReplica, 3)), role("b", 1, needs("a succeeded")))
	s.did = nil
	s.act(s.g.ExceedDeadline(spec.DeadlineText(2*time.Hour), s.time))
	s.expect(strings.Join(s.did, ", "), "stop a/0, stop a/1")
	if s.g.CanExceed() {
		t.Error("the app can exceed its limit twice")
	}
	s.act(s.g.Cancel(s.time)) // too late to change the result
	s.expect(s.exit("a/0", 0), "")
	s.expect(s.exit("a/1", 143), "")
	s.expectEnd(spec.Failed, spec.ExitDeadline, spec.Cancelled, spec.Cancelled, spec.Cancelled)
	if st := s.g.FinalStatus(s.time); st.Msg != "deadline of 2h exceeded" || st.FirstFailure != nil {
		t.Errorf("got %q, first failure %v", st.Msg, st.FirstFailure)
	}
}

// A cancellation or a failure that ends the app already is not changed by its time limit.
func TestDeadlineTooLate(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("a", 2, nil))
	s.expect(s.exit("a/0", 3), "stop a/1")
	if s.g.CanExceed() {
		t.Error("a failing app can exceed its limit")
	}
	s = newScript(t, true, role("a", 1, nil))
	s.g.Cancel(s.time)
	if s.g.CanExceed() {
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
