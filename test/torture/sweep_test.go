//go:build linux

package torture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// daemons starts a child, and a daemon in a separate session.
const daemons = "setsid sh -c 'echo up > daemon; exec sleep 600' & sh -c 'echo up > child; exec sleep 600' & echo up > leader; wait"

// Every command kills the remaining processes of a dead agent's app before it returns.
func TestEveryCommandSweeps(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"status", "-"}, {"describe", "-"}, {"cancel", "-"}, {"log", "-"}, {"delete", "-"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.torchx("", "run", "-d", h.file, "--script", daemons)
			a := h.onlyApp()
			for _, name := range []string{"daemon", "child", "leader"} {
				h.waitFile(name)
			}
			h.killAgents()
			h.torchx("", "run", "-d", h.file, "--script", "exit 0") // a more recent app, so that "-" is not the dead one
			h.checkNoProcesses(a)
			h.torchx("", args...)
			for _, b := range h.list() {
				if b.AppID == a.AppID && !b.is(spec.Failed, 125) {
					t.Errorf("got %v, want FAILED with exit code 125", b)
				}
			}
		})
	}
}

// The leader ends with its agent, without another command.
func TestLeaderEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", "-d", h.file, "--script", "echo up > leader; exec sleep 600")
	a := h.onlyApp()
	h.waitFile("leader")
	h.killAgents()
	h.waitFor("the leader to end", func() bool { return len(h.processes(a.Handle)) == 0 })
}

// An app whose bundle is deleted while it runs ends, and the history has the reason.
func TestBundleDeletedWhileRunning(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after func(h *home)
		says          string
	}{
		{"noticed by the agent", func(*home) {}, (*home).waitForAgents, "folder was deleted"},
		{"noticed by a command", func(*home) {}, func(*home) {}, "folder was deleted"},
		{"agent killed", (*home).killAgents, func(*home) {}, "no longer has the app"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.torchx("", "run", "-d", h.file, "--script", daemons)
			a := h.onlyApp()
			h.waitFile("daemon")
			test.before(h)
			h.waitFor("the folder to be deleted", func() bool { // the agent writes to it until it notices
				return os.RemoveAll(filepath.Join(h.dir, "apps", a.AppID)) == nil
			})
			test.after(h)
			if b := h.onlyApp(); !b.is(spec.Failed, 125) {
				t.Errorf("got %v, want FAILED with exit code 125", b)
			}
			h.checkNoProcesses(a)
			if s := h.torchx("", "status", a.AppID); !strings.Contains(s.stdout, test.says) {
				t.Errorf("got status without %q:\n%s", test.says, s.stdout)
			}
		})
	}
}
