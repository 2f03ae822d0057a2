//go:build linux

package torture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// daemons starts a child and a daemon in a session of its own beside the leader.
const daemons = "setsid sh -c 'echo up > daemon; exec sleep 600' & sh -c 'echo up > child; exec sleep 600' & echo up > leader; wait"

// Whatever the next command is, it ends what a dead agent left before it returns.
func TestEveryCommandSweeps(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"list"}, {"status", "-"}, {"describe", "-"}, {"cancel", "-"}, {"log", "-"}, {"delete", "-"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.torchx("", "run", "-d", h.file, "--script", daemons)
			a := h.only()
			for _, name := range []string{"daemon", "child", "leader"} {
				h.waitFile(name)
			}
			h.killAgents()
			h.torchx("", "run", "-d", h.file, "--script", "exit 0") // a newer app: "-" is not the dead one
			h.clean(a)
			h.torchx("", args...)
			for _, b := range h.list() {
				if b.AppID == a.AppID && !b.is(spec.Failed, 125) {
					t.Errorf("got %v, want FAILED with exit code 125", b)
				}
			}
		})
	}
}

// The leader itself does not wait for the next command.
func TestLeaderEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", "-d", h.file, "--script", "echo up > leader; exec sleep 600")
	a := h.only()
	h.waitFile("leader")
	h.killAgents()
	h.eventually("the leader to end", func() bool { return len(h.processes(a.Handle)) == 0 })
}

// An app whose folder is deleted while it runs is ended; the history says why.
func TestBundleDeletedUnderARunningApp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after func(h *home)
		says          string
	}{
		{"noticed by the agent", func(*home) {}, (*home).settled, "folder was deleted"},
		{"noticed by a command", func(*home) {}, func(*home) {}, "folder was deleted"},
		{"agent killed", (*home).killAgents, func(*home) {}, "no longer knows the app"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.torchx("", "run", "-d", h.file, "--script", daemons)
			a := h.only()
			h.waitFile("daemon")
			test.before(h)
			h.eventually("the folder to be deleted", func() bool { // its agent writes to it until it notices
				return os.RemoveAll(filepath.Join(h.dir, "apps", a.AppID)) == nil
			})
			test.after(h)
			if b := h.only(); !b.is(spec.Failed, 125) {
				t.Errorf("got %v, want FAILED with exit code 125", b)
			}
			h.clean(a)
			if s := h.torchx("", "status", a.AppID); !strings.Contains(s.stdout, test.says) {
				t.Errorf("status does not say %q:\n%s", test.says, s.stdout)
			}
		})
	}
}
