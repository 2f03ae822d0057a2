package kubernetes

import (
	"context"
	"testing"
	"time"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/spec"
)

// TestLostAbort: an app whose command to abort was lost by Volcano still ends.
func TestLostAbort(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormVolcano, "sleep 1000", nil)
	s.waitRunning(id)
	target, err := s.target(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	mark := map[string]any{"metadata": map[string]any{"annotations": map[string]any{kube.AnnotationCancelled: "2026-01-01T00:00:00Z"}}}
	if err := target.Patch(t.Context(), kube.VolcanoJobs, target.namespace, target.name, "", mark); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if status, err := s.Wait(ctx, id); err != nil || status.State != spec.Cancelled {
		t.Errorf("got %+v, %v, want CANCELLED", status, err)
	}
}
