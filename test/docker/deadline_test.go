//go:build linux

package docker

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDeadline: the time limit holds although the agent that watched it was killed, and what
// runs at the end runs once.
func TestDeadline(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ends := filepath.Join(t.TempDir(), "ends")
	r := h.torchx("run", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=1", "--timeout", "3", "--on-end", "echo $TORCHX_STATE $TORCHX_EXIT_CODE >> "+ends,
		"t.star:app", "--script", "sleep 600")
	id := strings.TrimSpace(r.stdout[strings.LastIndex(r.stdout, "/")+1:])
	if r.code != 0 {
		t.Fatalf("run: %+v", r)
	}
	for _, pid := range h.agents() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	h.waitFor("the agent's end", func() bool { return len(h.agents()) == 0 })
	if r := h.torchx("wait", id); r.code != 124 || !strings.Contains(r.stderr, "deadline of 3s exceeded") {
		t.Errorf("wait: got %+v, want exit code 124 and the deadline", r)
	}
	h.waitFor("what runs at the end", func() bool { _, err := os.Stat(ends); return err == nil })
	h.torchx("list")
	h.waitFor("the record", func() bool { return strings.Contains(h.torchx("events", id).stdout, ": succeeded") })
	if data, err := os.ReadFile(ends); err != nil || string(data) != "FAILED 124\n" {
		t.Errorf("got %q, %v, want one line", data, err)
	}
}
