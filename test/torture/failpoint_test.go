//go:build unix

package torture

import (
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// A kill at every failpoint, with the expected result. A success is only reported if the
// exits for it are recorded.
func TestKillAtEveryFailpoint(t *testing.T) {
	t.Parallel()
	const ends, fails, runs = "exit 0", "exit 7", "setsid sleep 600 & sleep 600"
	tests := []struct {
		point, script string
		state         spec.State
		code          int    // of the app
		msg           string // in its status
	}{
		{failpoint.Recorded, ends, spec.Failed, 125, "torchx ended before the app was started"},
		{failpoint.Bundled, ends, spec.Failed, 125, "while the app was being started"},
		{failpoint.Spawned, ends, spec.Succeeded, 0, ""},
		{failpoint.Spawned, fails, spec.Failed, 7, ""},
		{failpoint.AgentBegun, ends, spec.Failed, 125, "while the app was being started"},
		{failpoint.Forked, ends, spec.Failed, 125, "while the app was being started"},
		{failpoint.Forked + ":2", runs, spec.Failed, 125, "agent died"},
		{failpoint.StartRecorded, ends, spec.Failed, 125, "agent died"},
		{failpoint.StartRecorded + ":2", runs, spec.Failed, 125, "agent died"},
		{failpoint.Exited, ends, spec.Failed, 125, "agent died"},
		{failpoint.ExitRecorded + ":2", ends, spec.Succeeded, 0, ""},
		{failpoint.ExitRecorded, fails, spec.Failed, 7, "exit code 7"},
		{failpoint.Ended, ends, spec.Succeeded, 0, ""},
		{failpoint.Ended, fails, spec.Failed, 7, "exit code 7"},
		{failpoint.ResultWritten, ends, spec.Succeeded, 0, ""},
		{failpoint.ResultWritten, fails, spec.Failed, 7, "exit code 7"},
		{failpoint.HistoryWritten, ends, spec.Succeeded, 0, ""},
	}
	for _, test := range tests {
		t.Run(test.point+" "+test.script, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			replicas := "2"
			if strings.HasPrefix(test.point, failpoint.ExitRecorded) && test.script == ends {
				// Without the delay the agent may record both exits together and never hit the failpoint twice.
				test.script = "test $TORCHX_REPLICA_ID = 0 || sleep 0.3"
			}
			h.torchx(test.point, "run", "-d", h.file, "--script", test.script, "--num_replicas", replicas)
			a := h.onlyApp()
			if !a.State.Terminal() {
				h.torchx("", "wait", a.AppID)
				a = h.onlyApp()
			}
			if !a.is(test.state, test.code) {
				t.Errorf("got %v, want %v with exit code %d", a, test.state, test.code)
			}
			if s := h.torchx("", "status", a.AppID); !strings.Contains(s.stdout, test.msg) {
				t.Errorf("got status without %q:\n%s", test.msg, s.stdout)
			}
			h.checkNoProcesses(a)
			h.waitForAgents()
			h.list() // the agent may have been dying during the last command
			if left, _ := filepath.Glob(filepath.Join(h.dir, "live", "*")); len(left) > 0 {
				t.Errorf("live: got %v, want no entries", left)
			}
		})
	}
}

// If an agent is killed when the app has just exceeded its time limit, that is the result,
// and nothing is left running.
func TestKillAtTheDeadline(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx(failpoint.DeadlineRecorded, "run", "-d", "--timeout", "0.2", h.file, "--script", "setsid sleep 600 & sleep 600", "--num_replicas", "2")
	h.torchx("", "wait", h.onlyApp().AppID)
	a := h.onlyApp()
	if !a.is(spec.Failed, spec.ExitDeadline) {
		t.Errorf("got %v, want FAILED with exit code %d", a, spec.ExitDeadline)
	}
	if s := h.torchx("", "status", a.AppID); !strings.Contains(s.stdout, "deadline of 200ms exceeded") {
		t.Errorf("got status without the deadline:\n%s", s.stdout)
	}
	h.checkNoProcesses(a)
}

// If an agent is killed in the queue, its app does not run, and its entry and resources
// are free.
func TestKillInTheQueue(t *testing.T) {
	t.Parallel()
	for point, msg := range map[string]string{
		failpoint.Enqueued: "agent died while the app was queued",
		failpoint.Claimed:  "while the app was being started",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.torchx(point, "run", "-d", "--queue", h.file, "--script", "exit 0")
			a := h.onlyApp()
			if !a.is(spec.Failed, 125) {
				t.Errorf("got %v, want FAILED with exit code 125", a)
			}
			if s := h.torchx("", "status", a.AppID); !strings.Contains(s.stdout, msg) {
				t.Errorf("got status without %q:\n%s", msg, s.stdout)
			}
			if r := h.torchx("", "run", "--queue", h.file, "--script", "exit 0"); r.code != 0 {
				t.Errorf("the next app: exit %d %s", r.code, r.stderr)
			}
			h.waitForAgents() // an agent removes its entry after the result that run waits for
			for _, folder := range []string{"queue", "live"} {
				if left, _ := filepath.Glob(filepath.Join(h.dir, folder, "*")); len(left) > 0 {
					t.Errorf("%s: got %v, want no entries", folder, left)
				}
			}
		})
	}
}

// A command that is killed while it creates the history leaves a file that the next
// command can use.
func TestKillDuringMigration(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.torchx(failpoint.Migrating, "list"); r.code != 137 {
		t.Fatalf("the command was not killed: exit %d %s", r.code, r.stderr)
	}
	if r := h.torchx("", "run", h.file, "--script", "exit 3"); r.code != 3 {
		t.Fatalf("run: exit %d\n%s", r.code, r.stderr)
	}
	if a := h.onlyApp(); !a.is(spec.Failed, 3) {
		t.Errorf("got %v", a)
	}
	files, err := filepath.Glob(filepath.Join(h.dir, "state.db.corrupt*"))
	if err != nil || len(files) > 0 {
		t.Errorf("the history was treated as corrupt: %v %v", files, err)
	}
}

// A command that is killed while it repairs a dead agent's app changes nothing.
func TestKillDuringReconcile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx(failpoint.StartRecorded+":2", "run", "-d", h.file, "--script", "sleep 600", "--num_replicas", "2")
	r := h.torchx(failpoint.ReconcileRecorded, "list")
	a := h.onlyApp()
	if !a.is(spec.Failed, 125) {
		t.Errorf("got %v (the reconciling command: exit %d)", a, r.code)
	}
	h.checkNoProcesses(a)
}
