//go:build unix

package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/network"

	"torchx/test/enginetest"
)

// TestForeign: an app of another home is listed, marked, and only removed on request.
func TestForeign(t *testing.T) {
	t.Parallel()
	e := enginetest.Need(t, enginetest.Options{})
	h, other := homeOn(t, e), homeOn(t, e)
	id := h.start("--script", "echo one", "--num_replicas", "2")
	if r := h.torchx("wait", id); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r := other.torchx("list", "-b", "docker"); !strings.Contains(r.stdout, "docker://torchx/"+id) {
		t.Errorf("list: %+v", r)
	}
	r := other.torchx("describe", "--full", "docker://torchx/"+id)
	if !strings.Contains(r.stdout, "partial: true") || !strings.Contains(r.stdout, "num_replicas: 2") {
		t.Errorf("describe: %+v", r)
	}
	if r := h.torchx("describe", id); strings.Contains(r.stdout, "Note:") || !strings.Contains(r.stdout, enginetest.Image) {
		t.Errorf("describe in its own home: %+v", r)
	}
	if r := other.torchx("prune", "--all"); strings.Contains(r.stdout+r.stderr, id) || h.containers(id) != 2 {
		t.Errorf("prune: %+v", r)
	}
	r = other.torchx("prune", "--all", "-b", "docker") // cannot ask for confirmation
	if r.code != 2 || h.containers(id) != 2 {
		t.Errorf("prune -b docker: %+v", r)
	}
	if r := other.torchx("prune", "--all", "-b", "docker", "--dry-run"); !strings.Contains(r.stdout+r.stderr, id) {
		t.Errorf("prune -b docker --dry-run: %+v", r)
	}
	if r := other.torchx("prune", "--all", "-b", "docker", "--yes"); r.code != 0 || h.containers(id) != 0 {
		t.Errorf("prune -b docker --yes: %+v", r)
	}
	if r := h.torchx("log", id); strings.Count(r.stdout, "one") != 2 {
		t.Errorf("log of an app without containers: %+v", r)
	}
}

// TestDelete: delete removes everything from the engine, and keeps logs on request.
func TestDelete(t *testing.T) {
	t.Parallel()
	h := homeOn(t, enginetest.Need(t, enginetest.Options{}))
	kept, deleted := h.start("--script", "echo kept"), h.start("--script", "echo gone")
	for _, id := range []string{kept, deleted} {
		if r := h.torchx("wait", id); r.code != 0 {
			t.Fatalf("%+v", r)
		}
	}
	if r := h.torchx("delete", "--keep-logs", kept); r.code != 0 || h.containers(kept) != 0 {
		t.Errorf("delete --keep-logs: %+v", r)
	}
	if _, err := h.engine.Client.NetworkInspect(t.Context(), "torchx", network.InspectOptions{}); err != nil {
		t.Errorf("network of an existing app: %v", err)
	}
	if r := h.torchx("delete", deleted); r.code != 0 || h.containers("") != 0 {
		t.Errorf("delete: %+v", r)
	}
	if _, err := h.engine.Client.NetworkInspect(t.Context(), "torchx", network.InspectOptions{}); !errdefs.IsNotFound(err) {
		t.Errorf("unused network: got %v, want not found", err)
	}
	if r := h.torchx("log", "docker://torchx/"+kept); !strings.Contains(r.stdout, "kept") {
		t.Errorf("log of %s: %+v", kept, r)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "apps", deleted)); !os.IsNotExist(err) {
		t.Errorf("bundle of %s: %v", deleted, err)
	}
}
