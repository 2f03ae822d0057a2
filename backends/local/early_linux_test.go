package local

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/runtime/backend"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// TestEarlyAgent: the agent that starts while an app is recorded runs the app; it ends if the app is not
// submitted, and another one takes its place if it dies.
func TestEarlyAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, test := range map[string]struct {
		before func(pid int) // before the app is submitted
		same   bool          // the early agent runs the app
	}{
		"taken": {func(int) {}, true},
		"killed": {func(pid int) {
			_ = unix.Kill(pid, unix.SIGKILL)
			f.waitFor("its end", func() bool { return procs.Dying(pid) || !alive(pid) })
		}, false},
	} {
		p := f.plan(nil, sh("a", 1, "echo hello; exit 3"))
		end := p.Begin()
		early := f.earlyAgent(p.ID)
		test.before(early)
		if err := f.b.Submit(f.ctx, p); err != nil {
			t.Fatal(name, err)
		}
		end()
		f.expect(f.wait(p.ID), spec.Failed, 3)
		if got := f.agentPID(p.ID); (got == early) != test.same {
			t.Errorf("%s: agent %d, the early one was %d", name, got, early)
		}
		if got := f.log(p.ID, spec.Replica{Role: "a"}, backend.LogOptions{}); got != "hello\n" {
			t.Errorf("%s: got log %q", name, got)
		}
		f.waitFor("the end of the early agent", func() bool { return !alive(early) })
	}
	p := f.plan(nil, sh("a", 1, "true"))
	end := p.Begin()
	early := f.earlyAgent(p.ID)
	end()
	f.waitFor("the end of the early agent", func() bool { return !alive(early) })
	if f.b.Has(p.ID) {
		t.Error("an app that was not submitted exists")
	}
}

// earlyAgent returns the process that waits for the bundle of an app.
func (f *fixture) earlyAgent(id string) (pid int) {
	f.Helper()
	f.waitFor("an early agent", func() bool {
		for _, p := range procs.Descendants(os.Getpid()) {
			args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
			if strings.HasSuffix(string(args), "\x00agent\x00"+f.b.Bundle(id).Dir+"\x00") {
				pid = p.PID
			}
		}
		return pid != 0
	})
	return pid
}
