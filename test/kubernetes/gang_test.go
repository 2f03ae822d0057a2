//go:build unix

package kubernetes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// TestAllOrNothing: no pod of a Volcano job starts unless all of them fit; status shows what
// it waits for.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=volcano", "--num_replicas", "200", "--cpu", "1")
	h.eventually("the reason of the wait in the status", func() bool {
		s := h.status(handle)
		if s.State != spec.Pending {
			t.Fatalf("got %+v, want s.State == spec.Pending", s)
		}
		return strings.Contains(s.Msg, "cpu")
	})
	if n := h.phases(); n["Running"]+n["Succeeded"]+n["Failed"] > 0 {
		t.Errorf("got pods %v by phase, want none that has started", n)
	}
	// Of a plain job, the replicas that fit start.
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
	const replicas = 100 // from this number on they share a task
	args := h.runArgs("gang=volcano,reserved_millicpu=1000", "--num_replicas", strconv.Itoa(replicas), "--script", `echo "$(hostname) is $TORCHX_REPLICA_ID"`)
	r := h.torchx(append([]string{"run", "--wait"}, args[1:]...)...)
	if r.code != 0 {
		t.Fatalf("got %+v, want r.code == 0", r)
	}
	handle := strings.TrimSpace(r.stdout[strings.LastIndex(r.stdout, "kubernetes://"):])
	log := h.torchx("log", handle)
	for id := range replicas {
		if want := fmt.Sprintf("r/%d %s-r-%d is %d\n", id, instance(handle), id, id); !strings.Contains(log.stdout, want) {
			t.Fatalf("got log\n%.3000s%s, want line %q", log.stdout, log.stderr, want)
		}
	}
	if s := h.status(handle); s.State != spec.Succeeded || len(s.Roles) != 1 || len(s.Roles[0].Replicas) != replicas {
		t.Errorf("got %s with %d roles, want SUCCEEDED with %d replicas of one role", s.State, len(s.Roles), replicas)
	}
}

// TestGPUs: Volcano schedules by the number of GPUs that the node reports.
func TestGPUs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Devices(t, "nvidia.com/gpu", 8)
	if r := h.torchx(append([]string{"run", "--wait"}, h.runArgs("gang=volcano", "--num_replicas", "2", "--gpu", "4")[1:]...)...); r.code != 0 {
		t.Fatalf("got %+v, want r.code == 0", r)
	}
	handle := h.start("gang=volcano", "--num_replicas", "3", "--gpu", "4")
	said := ""
	t.Cleanup(func() { t.Logf("the status said %q", said) })
	h.eventually("the missing GPUs in the status", func() bool {
		said = h.status(handle).Msg
		return strings.Contains(said, "nvidia.com/gpu")
	})
	for _, p := range h.cluster.Pods(t, h.namespace, "app.kubernetes.io/instance="+instance(handle)) {
		if p.Status.Phase != "Pending" {
			t.Errorf("got pod %s in phase %s, want Pending", p.Name, p.Status.Phase)
		}
	}
}

// instance returns the value of the instance label of an app.
func instance(handle string) string { return handle[strings.LastIndexByte(handle, ':')+1:] }

// TestOneOverlay: one overlay changes the main container of all replicas with every gang, and
// keeps torchx's variables.
func TestOneOverlay(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		for n, name := range map[string]string{"2": "torchx", "8": "r-0"} {
			t.Run(gang+"-"+n, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				overlay := fmt.Sprintf(`{"spec": {"__join__:containers:name": [{"name": %q, "__join__:env:name": [{"name": "SET", "value": "yes"}]}]}}`, name)
				args := h.runArgs("reserved_millicpu=1000,gang="+gang, "--num_replicas", n, "--overlay", overlay, "--script", "echo $SET with ${TORCHX_IMAGE:+image}")
				r := h.torchx(slices.Insert(args, 1, "--wait")...)
				if r.code != 0 {
					t.Fatalf("got code %d, want 0: %s", r.code, r.stderr)
				}
				log := h.torchx("log", strings.TrimSpace(r.stdout))
				lines := strings.Split(strings.TrimSpace(log.stdout), "\n")
				if got := strconv.Itoa(len(lines)); got != n || strings.Count(log.stdout, " yes with image\n") != len(lines) {
					t.Errorf("got %s, want a line with SET and the image for each of %s replicas", log.stdout, n)
				}
			})
		}
	}
}
