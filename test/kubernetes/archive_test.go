//go:build unix

package kubernetes

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/spec"
	"torchx/test/homedir"
)

const fortyLines = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; sleep 0.2; done"

// deleteJobs deletes the Jobs of the namespace's apps, as another client does.
func (h *home) deleteJobs() {
	h.Helper()
	background := metav1.DeletePropagationBackground
	err := h.cluster.Of(h.namespace, "batch/v1", "Job").DeleteCollection(h.Context(), metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
	if err != nil {
		h.Fatal(err)
	}
	h.eventually("no pods", func() bool { return len(h.phases()) == 0 })
}

// archived returns the text of a file in the only archive, "" if it does not exist.
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

// TestArchiveAgent: with archive=true all lines and the result are kept, without another
// command and although the agent is killed.
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
	h.torchx("list") // the next command restarts the agent
	h.eventually("the end in the archive", func() bool { return strings.Contains(h.archived("archive.json"), `"done":true`) })
	h.deleteJobs()
	if s := h.status(handle); s.State != spec.Succeeded {
		t.Errorf("got %+v, want s.State == spec.Succeeded", s)
	}
	r := h.torchx("log", handle)
	complete(t, "log of a deleted app", r.stdout, 2, 40, 0)
	if r.code != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "is gone") {
		t.Errorf(`got %+v, want r.code == 0 and Count(r.stderr, "\n") == 1 and Contains(r.stderr, "is gone")`, r)
	}
	if r := h.torchx("delete", handle); r.code != 0 {
		t.Errorf("got %+v, want r.code == 0", r)
	}
	if left, err := filepath.Glob(filepath.Join(h.dir, "archive", "*", "replicas")); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v, want no archived replicas", left, err)
	}
	if r := h.torchx("log", handle); r.code != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "torchx delete") {
		t.Errorf(`got %+v, want r.code == 1 and Count(r.stderr, "\n") == 1 and Contains(r.stderr, "torchx delete")`, r)
	}
}

// TestLogsBeforeCancel: lines written before a cancellation are kept, and a warning names
// the lines that are lost.
func TestLogsBeforeCancel(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			handle := h.start("gang="+gang, "--script", "echo before; exec sleep 1000")
			h.eventually("a pod", func() bool { return h.phases()["Running"] == 1 })
			h.eventually("its line", func() bool { return h.torchx("log", handle).stdout == "r/0 before\n" })
			r := h.torchx("cancel", handle) // with --wait it would read these lines as well
			if r.code != 0 || !strings.Contains(r.stderr, "lines written while replicas stop are lost") {
				t.Errorf(`got %+v, want r.code == 0 and Contains(r.stderr, "lines written while replicas stop are lost")`, r)
			}
			h.eventually("no pods", func() bool { return len(h.phases()) == 0 || gang == "volcano" })
			if r := h.torchx("log", handle); !strings.HasPrefix(r.stdout, "r/0 before\n") || r.code != 0 {
				t.Errorf(`got %+v, want HasPrefix(r.stdout, "r/0 before\n") and r.code == 0`, r)
			}
		})
	}
}

// TestLogsOfWait: after a wait for the end, the lines of all attempts can be read, also if
// the cluster has deleted the pods immediately.
func TestLogsOfWait(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			policy := "APPLICATION"
			if gang == "job" {
				policy = "REPLICA"
			}
			r := h.torchx(h.runWaiting("gang="+gang+",ttl_seconds=0", "--max_retries", "1", "--policy", policy, "--script", "echo begin; sleep 2; echo end; exit 3")...)
			handle := strings.TrimSpace(r.stdout)
			if r.code != 3 || strings.Contains(r.stderr, "archived") {
				t.Fatalf(`got %+v, want r.code == 3 and !Contains(r.stderr, "archived")`, r)
			}
			h.eventually("no pods", func() bool { return len(h.phases()) == 0 })
			for _, attempt := range []string{"0", "1"} {
				r := h.torchx("log", "--attempt", attempt, handle)
				if r.stdout != "r/0 begin\nr/0 end\n" || strings.Contains(r.stderr, "gap") {
					t.Errorf(`attempt %s: %+v, want r.stdout == "r/0 begin\nr/0 end\n" and !Contains(r.stderr, "gap")`, attempt, r)
				}
			}
		})
	}
}

// runWaiting returns the arguments of a run that waits without showing output.
func (h *home) runWaiting(cfg string, args ...string) []string {
	return append([]string{"run", "--wait"}, h.runArgs(cfg, args...)[1:]...)
}

// TestLogsNotArchived: the log of a deleted app that was not archived is one clear error.
func TestLogsNotArchived(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job", "--script", "echo lost")
	h.eventually("its end", func() bool { return h.status(handle).State == spec.Succeeded })
	h.deleteJobs()
	if r := h.torchx("log", handle); r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "gone since") {
		t.Errorf(`got %+v, want r.code == 1 and r.stdout == "" and Count(r.stderr, "\n") == 1 and Contains(r.stderr, "gone since")`, r)
	}
}

// TestLogsElsewhere: lines that another machine has read are kept when the app is deleted.
func TestLogsElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other := *h
	other.dir = homedir.New(t)
	other.env = append(slices.Clone(h.env), "TORCHX_HOME="+other.dir)
	handle := h.start("gang=job", "--script", "echo here")
	for _, r := range []result{other.torchx("wait", handle), h.torchx("delete", handle)} {
		if r.code != 0 {
			t.Errorf("got %+v, want r.code == 0", r)
		}
	}
	if r := other.torchx("log", handle); r.code != 0 || r.stdout != "r/0 here\n" || !strings.Contains(r.stderr, other.dir) {
		t.Errorf(`got %+v, want r.code == 0 and r.stdout == "r/0 here\n" and Contains(r.stderr, other.dir)`, r)
	}
}
