//go:build linux

package docker

import (
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/spec"
)

// TestAfter: an app waits for others, here and on this machine, without its command. An agent that
// takes over waits on, and starts nothing before.
func TestAfter(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.start("--script", "sleep 600")
	second := h.torchx("run", "-d", "-b", "docker", "-cfg", "pull=never", "--after", first+":any", "t.star:app", "--script", "echo second")
	if second.code != 0 || !strings.Contains(second.stderr, " waits for docker://torchx/"+first+" to end") {
		t.Fatalf("got %+v", second)
	}
	id := strings.TrimPrefix(strings.TrimSpace(second.stdout), "docker://torchx/")
	h.waitFor("the agents", func() bool { return len(h.agents()) == 2 })
	for _, pid := range h.agents() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	h.waitFor("the agents' end", func() bool { return len(h.agents()) == 0 })
	h.torchx("list", "-b", "docker") // starts others
	h.waitFor("new agents", func() bool { return len(h.agents()) == 2 })
	h.waitFor("it waits again", func() bool { return strings.Contains(h.torchx("status", id).stdout, "PENDING: waits for docker://") })
	if n := h.containers(id); n != 0 {
		t.Errorf("got %d containers before the app starts, want none", n)
	}
	never := h.torchx("run", "-d", "-b", "docker", "-cfg", "pull=never", "--after", first, "t.star:app")
	local := h.torchx("run", "-d", "--after", strings.TrimSpace(second.stdout), "utils.echo", "--msg", "third")
	h.torchx("cancel", first)
	for handle, want := range map[string]struct {
		code int
		said string
	}{
		second.stdout: {0, "SUCCEEDED"},
		local.stdout:  {0, "SUCCEEDED"},
		never.stdout:  {spec.ExitCancelled, "CANCELLED: not started: docker://torchx/" + first + " ended CANCELLED, and must succeed"},
	} {
		if r := h.torchx("wait", strings.TrimSpace(handle)); r.code != want.code || !strings.Contains(r.stderr, want.said) {
			t.Errorf("%s: got %+v, want %d and %q", handle, r, want.code, want.said)
		}
	}
}
