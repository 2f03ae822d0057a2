//go:build unix

package kubernetes

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/spec"
)

const fortyLines = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; sleep 0.2; done"

// deleteJobs deletes what runs the namespace's apps, as somebody without torchx does.
func (h *home) deleteJobs() {
	h.Helper()
	background := metav1.DeletePropagationBackground
	err := h.cluster.Of(h.namespace, "batch/v1", "Job").DeleteCollection(h.Context(), metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
	if err != nil {
		h.Fatal(err)
	}
	h.eventually("no pods", func() bool { return len(h.phases()) == 0 })
}

// archived returns the text of a file of the only archive.
func (h *home) archived(name string) string {
	h.Helper()
	found, err := filepath.Glob(filepath.Join(h.dir, "archive", "*", name))
	if err != nil || len(found) == 0 {
		return ""
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		h.Fatal(err)
	}
	return string(text)
}

// TestArchiveAgent: with archive=true all lines and the end are kept, though nobody
// looks on and the agent is killed in between.
func TestArchiveAgent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job,archive=true", "--num_replicas", "2", "--script", fortyLines)
	h.eventually("the first lines", func() bool {
		return strings.Contains(h.archived(filepath.Join("replicas", "r", "0", "0", "stdout.log")), "line 5")
	})
	pid, err := strconv.Atoi(strings.TrimSpace(h.archived("agent.lock")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.torchx("list") // whatever command comes next starts another one
	h.eventually("the end in the archive", func() bool { return strings.Contains(h.archived("archive.json"), `"done":true`) })
	h.deleteJobs()
	if s := h.status(handle); s.State != spec.Succeeded {
		t.Errorf("%+v", s)
	}
	r := h.torchx("log", handle)
	complete(t, "log of what is gone", r.stdout, 2, 40, 0)
	if r.code != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "is gone") {
		t.Errorf("%+v", r)
	}
	if r := h.torchx("delete", handle); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if left, err := filepath.Glob(filepath.Join(h.dir, "archive", "*", "replicas")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if r := h.torchx("log", handle); r.code != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "torchx delete") {
		t.Errorf("%+v", r)
	}
}

// TestLogsBeforeCancel: what replicas wrote until they are cancelled is kept, and it
// is said what is not.
func TestLogsBeforeCancel(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			handle := h.start("gang="+gang, "--script", "echo before; exec sleep 1000")
			h.eventually("a pod", func() bool { return h.phases()["Running"] == 1 })
			h.eventually("its line", func() bool { return h.torchx("log", handle).stdout == "r/0 before\n" })
			r := h.torchx("cancel", "--wait", handle)
			if r.code != 0 || !strings.Contains(r.stderr, "what replicas write while they stop is lost") {
				t.Errorf("%+v", r)
			}
			h.eventually("no pods", func() bool { return len(h.phases()) == 0 || gang == "volcano" })
			if r := h.torchx("log", handle); !strings.HasPrefix(r.stdout, "r/0 before\n") || r.code != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestLogsNobodyArchived: one clear line.
func TestLogsNobodyArchived(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job", "--script", "echo lost")
	if r := h.torchx("wait", handle); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	h.deleteJobs()
	if r := h.torchx("log", handle); r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "gone since") {
		t.Errorf("%+v", r)
	}
}
