//go:build unix

package kubernetes

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/spec"
)

// TestRemovedNamespace: an app whose namespace is removed has not failed: wait and status say that
// it was removed with its namespace.
func TestRemovedNamespace(t *testing.T) {
	t.Parallel()
	for _, gang := range []string{"volcano", "jobset", "job"} {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			handle := h.start("gang="+gang+",reserved_millicpu=1000", "--num_replicas", "2", "--script", "sleep 1000")
			h.eventually("the app runs", func() bool { return h.status(handle).State == spec.Running })
			seen := make(chan result)
			go func() { seen <- h.torchx("wait", handle) }()
			if err := h.cluster.Of("", "v1", "Namespace").Delete(context.Background(), h.namespace, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			want := "removed with its namespace " + h.namespace
			h.eventually("the app is gone", func() bool {
				s := h.status(handle)
				if s.State != spec.Running && s.State != spec.Pending && s.State != spec.Unknown {
					t.Errorf("got %s: %s, want no other state than RUNNING, PENDING or UNKNOWN", s.State, s.Msg)
				}
				return s.State != spec.Running && s.State != spec.Pending
			})
			if s := h.status(handle); s.State != spec.Unknown || !strings.Contains(s.Msg, want) {
				t.Errorf("got %s: %s, want %q", s.State, s.Msg, want)
			}
			if r := <-seen; r.code == 0 || !strings.Contains(r.stderr, want) {
				t.Errorf("wait: got %+v, want %q", r, want)
			}
		})
	}
}
