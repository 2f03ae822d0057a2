//go:build unix

package policy

import (
	"slices"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

func sidecar(more func(*spec.Role)) func(*spec.Role) { return orderKey("sidecar", true, more) }

// both applies two changes to a role.
func both(a, b func(*spec.Role)) func(*spec.Role) {
	return func(r *spec.Role) { a(r); b(r) }
}

func TestSidecarEndsWithTheOthers(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 2, sidecar(probed(nil))), role("train", 1, needs("store ready")), role("report", 1, needs("train succeeded")))
	s.pass("store/0")
	s.expect(s.pass("store/1"), "start train/0#0")
	s.expect(s.exit("train/0", 0), "start report/0#0")
	s.expect(s.exit("report/0", 0), "stop store/0, stop store/1")
	s.expect(s.exit("store/0", 143), "")
	s.expect(s.exit("store/1", 0), "")
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded, spec.Succeeded)
	s.expectMsg("store/0", "stopped when all other roles had succeeded (exit code 143)")
	s.expectMsg("store/1", "stopped when all other roles had succeeded")
	if st := s.g.FinalStatus(s.time); st.FirstFailure != nil || *st.Roles[0].Replicas[0].ExitCode != 0 {
		t.Errorf("first failure %+v, exit code of the sidecar %d", st.FirstFailure, *st.Roles[0].Replicas[0].ExitCode)
	}
}

func TestSidecarOfAFailedApp(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 1, sidecar(nil)), role("train", 1, nil))
	s.expect(s.exit("train/0", 7), "stop store/0")
	s.exit("store/0", 143)
	s.expectEnd(spec.Failed, 7, spec.Cancelled, spec.Failed)

	// Without fail-fast the sidecar runs until all others have ended.
	s = newScript(t, false, role("store", 1, sidecar(nil)), role("a", 1, nil), role("b", 1, nil))
	s.expect(s.exit("a/0", 7), "")
	s.expect(s.exit("b/0", 0), "stop store/0")
	s.exit("store/0", 143)
	s.expectEnd(spec.Failed, 7, spec.Cancelled, spec.Failed, spec.Succeeded)
}

func TestSidecarFails(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 1, sidecar(retries(spec.RetryReplica, 1))), role("train", 1, nil))
	s.expect(s.exit("store/0", 3), "start store/0#1")
	s.expect(s.exit("store/0", 4), "stop train/0")
	s.exit("train/0", 143)
	s.expectEnd(spec.Failed, 4, spec.Failed, spec.Cancelled)

	s = newScript(t, false, role("store", 1, sidecar(nil)), role("train", 1, nil))
	s.exit("store/0", 4)
	s.exit("train/0", 0)
	s.expectEnd(spec.Failed, 4, spec.Failed, spec.Succeeded)
}

// The other roles end while a sidecar waits for its restart, or for its first start.
func TestSidecarThatWaits(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 2, sidecar(retries(spec.RetryRole, 1))), role("train", 1, nil), role("after", 1, sidecar(needs("train succeeded"))))
	s.g.NoteExited(s.member("store/0"), Exit{Code: 3, Time: s.time}) // stops store/1
	s.expect(s.exit("train/0", 0), "")
	s.exit("store/1", 143)
	s.expectEnd(spec.Succeeded, 0, spec.Failed, spec.Succeeded, spec.Succeeded, spec.Cancelled)
	s.expectMsg("after/0", "not started: all other roles have ended")
}

func TestSidecarStaysForARestart(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 1, sidecar(nil)), role("a", 1, retries(spec.RetryReplica, 1)), role("b", 2, elastic(1, nil)))
	s.exit("b/0", 1)
	s.expect(s.exit("b/1", 0), "")
	s.expect(s.exit("a/0", 1), "start a/0#1")
	s.expect(s.exit("a/0", 0), "stop store/0")
	s.exit("store/0", 137)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Failed, spec.Succeeded)
}

// A cancel while sidecars end changes nothing: the decisive exits are on record.
func TestSidecarsEndIsFinal(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 1, sidecar(nil)), role("train", 1, nil))
	s.exit("train/0", 0)
	s.act(s.g.Cancel(s.time))
	s.exit("store/0", 143)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded)
}

func TestLeftRunning(t *testing.T) {
	t.Parallel()
	s := newScript(t, true, role("store", 1, probed(nil)), role("train", 1, needs("store ready")), role("report", 1, needs("train succeeded")))
	expect := func(want ...string) {
		t.Helper()
		if got := s.g.Status().LeftRunning; !slices.Equal(got, want) {
			t.Errorf("got %q left running, want %q", got, want)
		}
	}
	s.pass("store/0")
	expect()
	s.exit("train/0", 0)
	expect()
	s.exit("report/0", 0)
	expect("store")
	s.exit("store/0", 0)
	expect()

	s = newScript(t, true, role("a", 1, nil), role("b", 1, needs("a succeeded")), role("long", 1, needs("a succeeded")))
	s.exit("a/0", 0)
	s.exit("b/0", 0)
	expect() // no role waited for long
}

// A role that has succeeded, and whose success others waited for, does not run again.
func TestRestartKeepsFinishedRoles(t *testing.T) {
	t.Parallel()
	again := retries(spec.RetryApplication, 2)
	s := newScript(t, true, role("prep", 2, nil), role("train", 1, both(needs("prep succeeded"), again)), role("evaluate", 1, both(needs("train succeeded"), again)))
	s.exit("prep/0", 0)
	s.expect(s.exit("prep/1", 0), "start train/0#0")
	s.expect(s.exit("train/0", 7), "start train/0#1")
	s.expect(s.exit("train/0", 0), "start evaluate/0#0")
	s.expect(s.exit("evaluate/0", 7), "start evaluate/0#1")
	s.exit("evaluate/0", 0)
	s.expectEnd(spec.Succeeded, 0, spec.Succeeded, spec.Succeeded, spec.Succeeded, spec.Succeeded)
	if got := s.member("prep/0").Attempt; got != 0 {
		t.Errorf("prep/0: got attempt %d, want 0", got)
	}

	// Only the successful side of a diamond is kept; a role that others waited for to
	// start restarts as well.
	s = newScript(t, true, role("prep", 1, nil), role("a", 1, both(needs("prep succeeded"), again)), role("b", 1, needs("prep succeeded")),
		role("c", 1, needs("prep started")), role("join", 1, needs("a succeeded", "b succeeded")))
	s.exit("prep/0", 0)
	s.exit("b/0", 0)
	s.exit("c/0", 0)
	s.expect(s.exit("a/0", 7), "start a/0#1, start c/0#1")
	s.expect(s.exit("a/0", 0), "start join/0#0")

	// One of two replicas is not enough, but the minimum of an elastic role is.
	s = newScript(t, true, role("prep", 2, again), role("train", 1, needs("prep succeeded")))
	s.exit("prep/0", 0)
	s.expect(s.exit("prep/1", 1), "start prep/0#1, start prep/1#1")
	s = newScript(t, true, role("prep", 2, elastic(1, nil)), role("train", 1, both(needs("prep succeeded"), again)))
	s.expect(s.exit("prep/0", 0), "start train/0#0")
	s.expect(s.exit("train/0", 1), "start train/0#1")
}

func TestRestartsOnRecord(t *testing.T) {
	t.Parallel()
	lines := func(s *script) string {
		var all []string
		for _, r := range s.g.Status().Restarts {
			all = append(all, r.String())
		}
		return strings.Join(all, "\n")
	}
	s := newScript(t, true, role("train", 2, retries(spec.RetryApplication, 1)))
	s.exit("train/0", 7)
	s.exit("train/1", 8) // belongs to the same restart
	s.expect(lines(s), "train/0 failed (exit code 7): attempt 2 of 2, restarting the app")
	s.exit("train/1", 9) // for good
	s.expect(lines(s), "train/0 failed (exit code 7): attempt 2 of 2, restarting the app")

	s = newScript(t, true, role("a", 2, retries(spec.RetryRole, 2)), role("b", 1, retries(spec.RetryReplica, 1)))
	s.act(s.g.NoteExited(s.member("b/0"), Exit{Code: 137, Signal: "SIGKILL", Msg: "out of memory", Time: s.time}))
	s.act(s.g.NoteExited(s.member("b/0"), Exit{Code: 137, Msg: "stopped by engine restart", Lost: true, Time: s.time}))
	s.exit("a/1", 1)
	s.exit("a/0", 143)
	s.expect(lines(s), "b/0 failed (exit code 137, SIGKILL, out of memory): attempt 2 of 2, restarting b/0\n"+
		"b/0 failed (exit code 137, stopped by engine restart): attempt 2 of 2 again, restarting b/0\n"+
		"a/1 failed (exit code 1): attempt 2 of 3, restarting role a")
	for want, one := range map[bool]spec.Replica{true: {Role: "a", ID: 0}, false: {Role: "b", ID: 0}} {
		if got := s.g.announced[2].Restarts(one); got != want {
			t.Errorf("the restart of role a restarts %v: got %v, want %v", one, got, want)
		}
	}
}
