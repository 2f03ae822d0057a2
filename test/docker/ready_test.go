//go:build linux

package docker

import (
	"strings"
	"syscall"
	"testing"
)

// ready reports whether all replicas of an app are ready.
func (h *home) ready(id string) bool {
	h.Helper()
	return !strings.Contains(h.torchx("status", id).stdout, "not ready yet")
}

// TestReadyByPort: the probe finds the port of a container, published or not.
func TestReadyByPort(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, cfg := range []string{"publish_ports=false", "publish_ports=true"} {
		r := h.torchx("run", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=1,"+cfg, "t.star:app", "--ready", "port", "--port", "18080",
			"--script", "while ! test -e /go; do sleep 0.05; done; nc -lk -p 18080 -e true")
		id := strings.TrimSpace(r.stdout[strings.LastIndex(r.stdout, "/")+1:])
		if r.code != 0 || h.ready(id) {
			t.Fatalf("%s: ready too early, or not running: %+v", cfg, r)
		}
		h.openGate(id)
		h.waitFor("the port", func() bool { return h.ready(id) })
		h.torchx("cancel", "--wait", id)
	}
}

// TestReadyByLog: the line also counts if a former agent read it.
func TestReadyByLog(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id := h.start("--ready", "^listening on [0-9]+$", "--script", "echo begins; while ! test -e /go; do sleep 0.05; done; echo listening on 80; sleep 600")
	h.waitFor("its first line", func() bool { return strings.Contains(h.torchx("log", id).stdout, "begins") })
	if h.ready(id) {
		t.Error("ready too early")
	}
	h.openGate(id)
	h.waitFor("the line", func() bool { return h.ready(id) })
	for range 2 { // the line is in the copied log now
		for _, pid := range h.agents() {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		h.waitFor("the agent's end", func() bool { return len(h.agents()) == 0 })
		h.torchx("list", "-b", "docker") // starts another agent
		h.waitFor("the line that the former agent read", func() bool { return len(h.agents()) > 0 && h.ready(id) })
	}
}

// openGate creates the file for which an app's only container waits.
func (h *home) openGate(id string) {
	h.Helper()
	if out, err := h.engine.InNetwork("docker", "-H", h.engine.Host, "exec", id+"-r-0", "touch", "/go").CombinedOutput(); err != nil {
		h.Fatalf("%v\n%s", err, out)
	}
}
