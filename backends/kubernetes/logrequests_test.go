package kubernetes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestLogRequests: the last lines of many replicas take a list of their pods, which a status just
// before has read, and one request each.
func TestLogRequests(t *testing.T) {
	t.Parallel()
	h := newLogHome(t)
	const replicas = 8
	id := h.run(nil, replicas, "echo last of $TORCHX_REPLICA_ID; sleep 1000")
	proxy := h.cluster.Proxy(t)
	b := h.open(proxy.Kubeconfig)
	b.snapshotTime = time.Hour // on a busy machine
	h.cluster.Eventually(t, "all replicas run", func(ctx context.Context) (bool, error) {
		s, err := b.Describe(ctx, id)
		if err != nil {
			return false, err
		}
		for _, r := range s.Roles[0].Replicas {
			if r.State != spec.Running {
				return false, nil
			}
		}
		return true, nil
	})
	proxy.Requests()
	if _, err := b.Describe(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for i := range replicas {
		got, _, err := h.read(b, id, i, backend.LogOptions{Tail: 1})
		if want := fmt.Sprintf("last of %d\n", i); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	lists, logs := 0, 0
	sent := proxy.Requests()
	for _, r := range sent {
		switch path, _, _ := strings.Cut(r, "?"); {
		case strings.HasSuffix(path, "/log"):
			logs++
		case strings.HasSuffix(path, "/pods"):
			lists++
		}
	}
	if lists != 1 || logs != replicas {
		t.Errorf("got %d lists of pods and %d requests for logs, want 1 and %d:\n%s", lists, logs, replicas, strings.Join(sent, "\n"))
	}
}
