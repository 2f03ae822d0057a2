//go:build unix

package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnEnd: what is to run at the end runs on this machine without archive=true and without
// another command, also for an app that exceeded its time limit.
func TestOnEnd(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ends := filepath.Join(t.TempDir(), "ends")
	args := h.runArgs("gang=job", "--script", "sleep 600")
	r := h.torchx(append([]string{"run", "--timeout", "3", "--on-end", "cat > " + ends + ".sum; echo $TORCHX_HANDLE $TORCHX_STATE $TORCHX_EXIT_CODE >> " + ends}, args[1:]...)...)
	handle := strings.TrimSpace(r.stdout)
	if r.code != 0 {
		t.Fatalf("run: %+v", r)
	}
	h.eventually("what runs at the end", func() bool { _, err := os.Stat(ends); return err == nil })
	h.eventually("its record", func() bool { return strings.Contains(h.torchx("events", handle).stdout, ": succeeded") })
	if data, err := os.ReadFile(ends); err != nil || string(data) != handle+" FAILED 124\n" {
		t.Errorf("got %q, %v, want one line of %s", data, err, handle)
	}
	if data, err := os.ReadFile(ends + ".sum"); err != nil || !strings.Contains(string(data), "message: deadline of 3s exceeded\n") {
		t.Errorf("got summary %q, %v", data, err)
	}
}
