//go:build unix

package kubernetes

import (
	"strings"
	"testing"
)

// TestDetach: a cluster accepts an app before its replicas start, and run -d says so.
func TestDetach(t *testing.T) {
	t.Parallel()
	const said = " is submitted, its replicas have not started: torchx log -t "
	h := newHome(t)
	for _, detached := range []bool{true, false} {
		args := h.runArgs("gang=job", "--cpu", "1000")
		if detached {
			args = append([]string{"run", "-d"}, args[1:]...)
		}
		r := h.torchx(args...)
		handle := strings.TrimSpace(r.stdout)
		if r.code != 0 || !strings.HasPrefix(handle, "kubernetes://") || strings.Contains(r.stderr, handle+said) != detached {
			t.Errorf("-d %v: got %+v, want the handle and %v that it has not started", detached, r, detached)
		}
	}
}
