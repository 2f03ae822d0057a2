package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// claim creates a persistent volume claim on a folder of the nodes.
func (s *site) claim(name string) {
	s.Helper()
	dir, err := os.MkdirTemp("", "torchx-claim-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { os.RemoveAll(dir) })
	volume := s.namespace + "-" + name
	s.Create(s.T, "", fmt.Sprintf(`{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": %q},
		"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "storageClassName": "", "hostPath": {"path": %q, "type": "DirectoryOrCreate"}}}`, volume, dir))
	s.Create(s.T, s.namespace, fmt.Sprintf(`{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": %q},
		"spec": {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": %q}}`, name, volume))
}

// TestOutput: the replicas of an app share a folder of a claim, which stays when the app is
// deleted, and which another pod reads.
func TestOutput(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.claim("data")
	writer := sleepers()
	for i := range writer.Roles {
		r := &writer.Roles[i]
		r.Entrypoint, r.Args, r.Resource = "sh", []string{"-c", "echo $TORCHX_OUTPUT >$TORCHX_OUTPUT/" + r.Name + "-${replica_id}"}, spec.Resource{CPU: 0.1, MemMB: 32}
	}
	p := s.planOf("pair-7", writer, map[string]any{"output": "pvc:data/runs", "reserved_millicpu": 100})
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Wait(t.Context(), p.ID); err != nil || status.State != spec.Succeeded {
		t.Fatalf("got %+v, %v, want SUCCEEDED", status, err)
	}
	out, err := s.OutputOf(t.Context(), p.ID)
	if err != nil || out.Place != "pvc:data/runs/pair-7" || out.Here || !out.Kept || !strings.Contains(out.Read, "kubectl -n "+s.namespace) {
		t.Errorf("got %+v, %v, want pvc:data/runs/pair-7", out, err)
	}
	if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reader := sleepers()
	reader.Roles = reader.Roles[:1]
	r := &reader.Roles[0]
	r.Entrypoint, r.Args = "sh", []string{"-c", `cd /data/runs/pair-7 && test "$(echo *)" = "lead-0 worker-0 worker-1" && test $(cat lead-0) = /torchx/output`}
	r.Mounts = []spec.Mount{{Type: spec.MountVolume, Src: "data", Dst: "/data", ReadOnly: true}}
	r.Image, r.Resource = clustertest.Image, spec.Resource{CPU: 0.1, MemMB: 32}
	p = s.planOf("reader-1", reader, map[string]any{"reserved_millicpu": 100})
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if status, err := s.Wait(t.Context(), p.ID); err != nil || status.State != spec.Succeeded {
		t.Errorf("the reader: got %+v, %v, want SUCCEEDED", status, err)
	}
	if out, err := s.OutputOf(t.Context(), p.ID); !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), "-cfg output=pvc:CLAIM") {
		t.Errorf("an app without outputs: got %+v, %v, want not found", out, err)
	}
	if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
