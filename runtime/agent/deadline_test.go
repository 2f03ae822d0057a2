package agent

import (
	"runtime"
	"testing"
	"time"

	"torchx/runtime/spec"
)

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
	m.App.Roles[0] = role("a", 1, ordered("timeout", "2h", retries(spec.RetryApplication, 3)))
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
