//go:build unix

package kubernetes

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// TestAllOrNothing: of a Volcano job that does not fit as a whole, no pod starts,
// though some would fit; and status says what it waits for.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=volcano", "--num_replicas", "200", "--cpu", "1")
	h.eventually("a word about what it waits for", func() bool {
		s := h.status(handle)
		if s.State != spec.Pending {
			t.Fatalf("got %+v, want s.State == spec.Pending", s)
		}
		return strings.Contains(s.Msg, "cpu")
	})
	if n := h.phases(); n["Running"]+n["Succeeded"]+n["Failed"] > 0 {
		t.Errorf(`pods by phase: %v, want n["Running"] + n["Succeeded"] + n["Failed"] <= 0`, n)
	}
	// The same replicas as plain jobs start as far as they fit.
	h.start("gang=job", "--num_replicas", "20", "--cpu", "1", "--script", "sleep 1000")
	h.eventually("some pods of the plain job", func() bool { return h.phases()["Running"] > 0 })
	if r := h.torchx("cancel", handle, "--wait"); r.code != 0 || h.status(handle).State != spec.Cancelled {
		t.Errorf("got %+v %+v, want r.code == 0 and h.status(handle).State == spec.Cancelled", r, h.status(handle))
	}
}

// TestManyReplicas: the replicas of a large Volcano job share a task and know their numbers.
// It runs before the parallel tests, since it fills the node.
func TestManyReplicas(t *testing.T) {
	h := newHome(t)
	const replicas = 100 // from here on they share a task
	args := h.runArgs("gang=volcano,reserved_millicpu=1000", "--num_replicas", strconv.Itoa(replicas), "--script", `echo "$(hostname) is $TORCHX_REPLICA_ID"`)
	r := h.torchx(append([]string{"run", "--wait"}, args[1:]...)...)
	if r.code != 0 {
		t.Fatalf("got %+v, want r.code == 0", r)
	}
	handle := strings.TrimSpace(r.stdout[strings.LastIndex(r.stdout, "kubernetes://"):])
	log := h.torchx("log", handle)
	for id := range replicas {
		if want := fmt.Sprintf("r/%d %s-r-%d is %d\n", id, instance(handle), id, id); !strings.Contains(log.stdout, want) {
			t.Fatalf("the log has no line %q:\n%.3000s%s", want, log.stdout, log.stderr)
		}
	}
	if s := h.status(handle); s.State != spec.Succeeded || len(s.Roles) != 1 || len(s.Roles[0].Replicas) != replicas {
		t.Errorf("got %s with %d roles, want SUCCEEDED with %d replicas of one role", s.State, len(s.Roles), replicas)
	}
}

// TestGPUs: Volcano schedules by GPUs of the node, of which there are only numbers.
func TestGPUs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Devices(t, "nvidia.com/gpu", 8)
	if r := h.torchx(append([]string{"run", "--wait"}, h.runArgs("gang=volcano", "--num_replicas", "2", "--gpu", "4")[1:]...)...); r.code != 0 {
		t.Fatalf("got %+v, want r.code == 0", r)
	}
	handle := h.start("gang=volcano", "--num_replicas", "3", "--gpu", "4")
	h.eventually("a word about GPUs", func() bool { return strings.Contains(h.status(handle).Msg, "nvidia.com/gpu") })
	for _, p := range h.cluster.Pods(t, h.namespace, "app.kubernetes.io/instance="+instance(handle)) {
		if p.Status.Phase != "Pending" {
			t.Errorf("pod %s is %s", p.Name, p.Status.Phase)
		}
	}
}

// instance is the label of an app's objects.
func instance(handle string) string { return handle[strings.LastIndexByte(handle, ':')+1:] }
