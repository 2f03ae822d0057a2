//go:build unix

package docker

import (
	"strings"
	"testing"
)

// TestTTY: `run --tty` runs a program on a terminal and ends with its exit code, and the log has
// what the terminal showed.
func TestTTY(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	run := func(input string, args ...string) result {
		cmd := h.command(append([]string{"run", "--tty", "-b", "docker", "--workspace=", "-cfg", "pull=never,grace_period=1", "t.star:app"}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		return h.finish(cmd)
	}
	r := run("tty; stty size\nexit 5\n", "--script", "exec sh")
	if r.code != 5 || !strings.HasPrefix(r.stdout, "docker://") || strings.Count(r.stderr, "/dev/pts/0\r\n24 80\r\n") != 1 || !strings.Contains(r.stderr, "FAILED: exit code 5") {
		t.Errorf("got %+v, want exit code 5 and the output once", r)
	}
	if log := h.torchx("log", strings.TrimSpace(r.stdout)+"/r/0"); !strings.Contains(log.stdout, "24 80\r\n") {
		t.Errorf("got log %+v, want the size of the terminal", log)
	}
	if r := run("", "--script", "cat; exit 6"); r.code != 6 {
		t.Errorf("end of input: got %+v, want exit code 6", r)
	}
	if r := run("", "--num_replicas", "2"); r.code != 2 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "requires an app of one replica, this one has 2") {
		t.Errorf("two replicas: got %+v, want one line and exit code 2", r)
	}
}
