//go:build unix

package torture

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// startStopped starts a command that stops at a failpoint until resume is called.
func (h *home) startStopped(point string, args ...string) (resume func() string) {
	h.Helper()
	cmd := h.command(point+"!stop", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	ended := false
	h.Cleanup(func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		ended = true
		h.Fatalf("torchx %q did not stop at %s: %v, %#x\n%s", args, point, err, status, out.String())
	}
	return func() string {
		h.Helper()
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			h.Fatal(err)
		}
		ended = true
		if err := cmd.Wait(); err != nil {
			h.Errorf("torchx %q: %v\n%s", args, err, out.String())
		}
		return out.String()
	}
}

// An app that is being submitted is neither dead nor pruned, however slow the command is.
func TestSlowSubmit(t *testing.T) {
	t.Parallel()
	for _, point := range []string{failpoint.Recorded, failpoint.Bundled, failpoint.Spawned} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			resume := h.startStopped(point, "run", "-d", h.file, "--script", "test -e go || sleep 300")
			a := h.onlyApp()
			if a.State.Terminal() {
				t.Errorf("during submit: got %v, want a state that is not terminal", a)
			}
			if r := h.torchx("", "prune", "--all", "-f"); r.code != 0 || !strings.Contains(r.stderr, "nothing to remove") {
				t.Errorf("prune: exit %d %s%s", r.code, r.stdout, r.stderr)
			}
			if out := resume(); !strings.Contains(out, a.Handle) {
				t.Errorf("run: got %s, want the handle", out)
			}
			if a = h.onlyApp(); a.State != spec.Running {
				t.Errorf("after submit: got %v, want RUNNING", a)
			}
		})
	}
}

// Other commands do not finish a removal that is still in progress.
func TestSlowPrune(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", h.file, "--script", "echo one")
	h.waitForAgents()
	resume := h.startStopped(failpoint.RemovalNoted, "prune", "--all", "-f")
	a := h.onlyApp()
	if r := h.torchx("", "log", a.AppID); !strings.Contains(r.stdout, "one") {
		t.Errorf("log during prune: got %s%s", r.stdout, r.stderr)
	}
	if out := resume(); !strings.Contains(out, "removed 1 app") {
		t.Errorf("prune: got %s, want 1 removed app", out)
	}
	if r := h.torchx("", "log", a.AppID); r.code != 1 || !strings.Contains(r.stderr, "by `torchx prune`") {
		t.Errorf("log after prune: exit %d %s%s", r.code, r.stdout, r.stderr)
	}
}
