//go:build unix

package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/spec"
)

// trial is a trial in the output of `status --json`.
type trial struct {
	Handle   string     `json:"trial_handle"`
	State    spec.State `json:"state"`
	ExitCode *int       `json:"exit_code"`
	Msg      string     `json:"msg"`
}

// startSweep starts a sweep in the background with one trial for each script, and returns its handle.
func (h *home) startSweep(parallel string, scripts ...string) string {
	h.Helper()
	var list strings.Builder
	for _, script := range scripts {
		line, err := json.Marshal(map[string]string{"script": script})
		if err != nil {
			h.Fatal(err)
		}
		fmt.Fprintf(&list, "%s\n", line)
	}
	if err := os.WriteFile(filepath.Join(h.work, "trials.jsonl"), []byte(list.String()), 0o600); err != nil {
		h.Fatal(err)
	}
	r := h.torchx("sweep", "-d", "-b", "kubernetes", "--workspace=", "-cfg", "gang=job,namespace="+h.namespace, "--parallel", parallel, "--list", "trials.jsonl", "t.star:app")
	handle := strings.TrimSpace(r.stdout)
	if r.code != 0 || !strings.HasPrefix(handle, "sweep://") {
		h.Fatalf("sweep: got %+v, want a handle", r)
	}
	return handle
}

// trials returns the trials of a sweep.
func (h *home) trials(handle string) []trial {
	h.Helper()
	var s struct {
		Sweep struct {
			Trials []trial `json:"trials"`
		} `json:"sweep"`
	}
	r := h.torchx("status", "--json", handle)
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		h.Fatalf("status: %v %+v", err, r)
	}
	return s.Sweep.Trials
}

// endSweep waits for the end of a sweep, and checks its exit code and those of its trials.
func (h *home) endSweep(handle string, code int, want ...int) {
	h.Helper()
	if r := h.torchx("wait", handle); r.code != code {
		h.Errorf("wait: got %+v, want exit code %d", r, code)
	}
	var got []int
	for i, one := range h.trials(handle) {
		exit := -1
		if one.ExitCode != nil {
			exit = *one.ExitCode
		}
		got = append(got, exit)
		if own := h.status(one.Handle); own.State != one.State || (one.State == spec.Succeeded) != (exit == 0) {
			h.Errorf("trial %d: got %+v, its app is %+v", i, one, own)
		}
	}
	if !slices.Equal(got, want) {
		h.Errorf("got exit codes %d of the trials, want %d", got, want)
	}
}

// TestSweep: trials are jobs of the cluster, each with its own exit code.
func TestSweep(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.startSweep("2", "echo trial $TORCHX_TRIAL", "exit 3", "true")
	h.endSweep(handle, 3, 0, 3, 0)
	if r := h.torchx("log", handle+"/trial/0"); r.code != 0 || !strings.Contains(r.stdout, "trial 0\n") {
		t.Errorf("log: got %+v, want the line of trial 0", r)
	}
}

// TestSweepQuota: a trial that a quota refuses waits until there is room.
func TestSweepQuota(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Create(t, h.namespace, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: {count/jobs.batch: "2"}}}`)
	quotas := h.cluster.Of(h.namespace, "v1", "ResourceQuota")
	h.eventually("the quota is in force", func() bool {
		q, err := quotas.Get(h.Context(), "small", metav1.GetOptions{})
		return err == nil && q.Object["status"] != nil && len(q.Object["status"].(map[string]any)) > 0
	})
	handle := h.startSweep("3", "true", "true", "true")
	refused := func(one trial) bool { return one.State == spec.Pending && strings.Contains(one.Msg, "exceeded quota") }
	h.eventually("the refusal of a trial", func() bool { return slices.ContainsFunc(h.trials(handle), refused) })
	if err := quotas.Delete(h.Context(), "small", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.endSweep(handle, 0, 0, 0, 0)
	if r := h.torchx("list", "--all", "-q", "--tag", "trial"); strings.Count(r.stdout, "kubernetes://") != 3 {
		t.Errorf("list: got %+v, want no app of a refused try", r)
	}
}
