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

// stoppedAt starts a command that stops at a place until it is told to go on.
func (h *home) stoppedAt(point string, args ...string) (goOn func() string) {
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

// An app that is just being submitted, however slowly, is neither dead nor pruned.
func TestOthersLeaveASlowSubmitterAlone(t *testing.T) {
	t.Parallel()
	for _, point := range []string{failpoint.Recorded, failpoint.Bundled, failpoint.Spawned} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			goOn := h.stoppedAt(point, "run", "-d", h.file, "--script", "test -e go || sleep 300")
			a := h.only()
			if a.State.Terminal() {
				t.Errorf("while it is being submitted: %v", a)
			}
			if r := h.torchx("", "prune", "--all", "-f"); r.code != 0 || !strings.Contains(r.stderr, "nothing to remove") {
				t.Errorf("prune: exit %d %s%s", r.code, r.stdout, r.stderr)
			}
			if out := goOn(); !strings.Contains(out, a.Handle) {
				t.Errorf("run says %s", out)
			}
			if a = h.only(); a.State != spec.Running {
				t.Errorf("afterwards: %v", a)
			}
		})
	}
}

// A removal that somebody is at is not finished by others in his place.
func TestOthersLeaveASlowPruneAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.torchx("", "run", h.file, "--script", "echo one")
	h.settled()
	goOn := h.stoppedAt(failpoint.RemovalNoted, "prune", "--all", "-f")
	a := h.only()
	if r := h.torchx("", "log", a.AppID); !strings.Contains(r.stdout, "one") {
		t.Errorf("log while it is being removed: %s%s", r.stdout, r.stderr)
	}
	if out := goOn(); !strings.Contains(out, "removed 1 app") {
		t.Errorf("prune says %s", out)
	}
	if r := h.torchx("", "log", a.AppID); r.code != 1 || !strings.Contains(r.stderr, "by `torchx prune`") {
		t.Errorf("log afterwards: exit %d %s%s", r.code, r.stdout, r.stderr)
	}
}
