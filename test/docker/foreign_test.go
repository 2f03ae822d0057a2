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

// TestForeign: an app of another home is seen, marked, and only touched when asked.
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
	r = other.torchx("prune", "--all", "-b", "docker") // nobody can answer: it must not go on
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
		t.Errorf("the log of an app without containers: %+v", r)
	}
}

// TestDelete: nothing stays in the engine; the logs do if they are asked for.
func TestDelete(t *testing.T) {
	t.Parallel()
	h := homeOn(t, enginetest.Need(t, enginetest.Options{}))
	kept, gone := h.start("--script", "echo kept"), h.start("--script", "echo gone")
	for _, id := range []string{kept, gone} {
		if r := h.torchx("wait", id); r.code != 0 {
			t.Fatalf("%+v", r)
		}
	}
	if r := h.torchx("delete", "--keep-logs", kept); r.code != 0 || h.containers(kept) != 0 {
		t.Errorf("delete --keep-logs: %+v", r)
	}
	if _, err := h.engine.Client.NetworkInspect(t.Context(), "torchx", network.InspectOptions{}); err != nil {
		t.Errorf("the network of an app that is still there: %v", err)
	}
	if r := h.torchx("delete", gone); r.code != 0 || h.containers("") != 0 {
		t.Errorf("delete: %+v", r)
	}
	if _, err := h.engine.Client.NetworkInspect(t.Context(), "torchx", network.InspectOptions{}); !errdefs.IsNotFound(err) {
		t.Errorf("the network that nobody uses: %v", err)
	}
	if r := h.torchx("log", "docker://torchx/"+kept); !strings.Contains(r.stdout, "kept") {
		t.Errorf("log of %s: %+v", kept, r)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "apps", gone)); !os.IsNotExist(err) {
		t.Errorf("bundle of %s: %v", gone, err)
	}
}
