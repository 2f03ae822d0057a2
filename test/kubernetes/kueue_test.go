//go:build unix

package kubernetes

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// queue creates a Kueue queue "team" with a quota in the namespace, and a priority class.
func (h *home) queue(cpus int) {
	h.Helper()
	h.queueOf(strconv.Itoa(cpus))
}

// queueOf is queue with a quota of CPUs such as "300m".
func (h *home) queueOf(cpus string) {
	h.Helper()
	h.cluster.Ensure(h.T, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: torchx}}")
	h.cluster.Ensure(h.T, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: torchx-high}, value: 1000}")
	h.cluster.Create(h.T, "", fmt.Sprintf(`
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %[1]s}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: torchx, resources: [{name: cpu, nominalQuota: "%[2]s"}]}]`, h.namespace, cpus))
	h.cluster.Create(h.T, h.namespace, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: team}, spec: {clusterQueue: "+h.namespace+"}}")
}

// kueued are the options of an app in the queue, whose replicas request a tenth of a CPU.
const kueued = "kueue_queue=team,reserved_millicpu=900"

// TestKueue: an app waits in its queue with the reason, a more important one preempts it, it starts
// again with an attempt of its own, and a canceled one is not started again.
func TestKueue(t *testing.T) {
	t.Parallel()
	for _, gang := range []string{"jobset", "job"} {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			// A quota of one CPU is ten replicas: a hog leaves room for less than one app of six.
			h.queue(1)
			cfg := "gang=" + gang + "," + kueued
			first := h.start(cfg, "--num_replicas", "6", "--cpu", "1", "--script", "echo begins; sleep 1000")
			h.eventually("the first app runs", func() bool { return h.status(first).State == spec.Running })
			following := h.background("log", "-t", first+"/r/0")
			h.eventually("its first line", func() bool { return strings.Contains(h.torchx("log", first+"/r/0").stdout, "begins") })

			waiting := h.start(cfg, "--num_replicas", "6", "--cpu", "1")
			h.eventually("the reason of the second app", func() bool {
				s := h.status(waiting)
				return s.State == spec.Pending && strings.HasPrefix(s.Msg, "waits in Kueue queue team: insufficient unused quota for cpu")
			})
			if r := h.torchx("cancel", "--wait", waiting); r.code != 0 || h.status(waiting).State != spec.Cancelled {
				t.Errorf("cancel of a queued app: got %+v, want r.code == 0 and CANCELLED", r)
			}

			high := h.run(cfg+",kueue_priority=torchx-high", "--num_replicas", "6", "--cpu", "1", "--script", "sleep 2")
			if high.code != 0 {
				t.Fatalf("got %+v, want high.code == 0", high)
			}
			h.eventually("the first app is preempted", func() bool {
				s := h.status(first)
				return s.NumRestarts == 1 && strings.Contains(s.Msg, "preempted by Kueue")
			})
			if r := h.torchx("wait", strings.TrimSpace(high.stdout)); r.code != 0 {
				t.Errorf("got %+v, want that the important app succeeds", r)
			}
			h.eventually("the first app runs again", func() bool {
				s := h.status(first)
				return s.State == spec.Running && s.NumRestarts == 1 && s.Roles[0].Replicas[0].Attempt == 1 && h.torchx("log", "--attempt", "1", first+"/r/0").stdout == "begins\n"
			})
			other := h.start(cfg, "--num_replicas", "6", "--cpu", "1") // a list reads several apps together
			for line := range strings.Lines(h.torchx("list").stdout) {
				if strings.Contains(line, first) && !strings.HasSuffix(line, " 1\n") {
					t.Errorf("list: got %q, want one restart", line)
				}
			}
			if s := h.status(first); s.NumRestarts != 1 || s.Roles[0].Replicas[0].Attempt != 1 {
				t.Errorf("after list: got %+v, want attempt 1", s)
			}
			if r := h.torchx("cancel", "--wait", other); r.code != 0 {
				t.Errorf("cancel: got %+v, want r.code == 0", r)
			}
			if r := h.torchx("events", first); !strings.Contains(r.stdout, "preempted by Kueue") || strings.Contains(r.stdout, "UNKNOWN") {
				t.Errorf("got events\n%s%s, want the preemption and no UNKNOWN", r.stdout, r.stderr)
			}
			if r := h.torchx("cancel", "--wait", first); r.code != 0 || h.status(first).State != spec.Cancelled {
				t.Errorf("cancel: got %+v and %s, want r.code == 0 and CANCELLED", r, h.status(first).State)
			}
			for attempt := range 2 {
				if r := h.torchx("log", "--attempt", strconv.Itoa(attempt), first+"/r/0"); r.stdout != "begins\n" {
					t.Errorf("log of attempt %d: got %+v, want its line alone", attempt, r)
				}
			}
			if s := h.status(first); s.NumRestarts != 1 || s.Roles[0].Replicas[0].Attempt != 1 {
				t.Errorf("canceled: got %+v, want attempt 1 after one restart", s)
			}
			r := h.wait(following.cmd, following.out, following.errs)
			if r.code != 0 || strings.Count(r.stdout, "begins") != 2 || strings.Contains(r.stdout, "gap") || !strings.Contains(r.stderr, "preempted by Kueue") {
				t.Errorf("log -t: got %+v, want the lines of both attempts without a gap, and the preemption", r)
			}
		})
	}
}

// TestKueueMistakes: what Kueue would never admit is refused at submission.
func TestKueueMistakes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.queue(1)
	for cfg, want := range map[string]string{
		"gang=job,kueue_queue=nope":                        "namespace " + h.namespace + " has no Kueue queue nope: choose another by -cfg kueue_queue=NAME (it has team)",
		"gang=jobset,kueue_queue=team,kueue_priority=nope": "has no Kueue priority class nope",
		"gang=jobset,kueue_priority=torchx-high":           "kueue_priority=torchx-high: has no effect without kueue_queue",
		"gang=volcano,kueue_queue=team":                    "Kueue does not manage Volcano jobs",
	} {
		if r := h.run(cfg); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: got %+v, want %q", cfg, r, want)
		}
	}
	// A queue of this name gets the Jobs that name none.
	h.cluster.Create(t, h.namespace, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default}, spec: {clusterQueue: "+h.namespace+"}}")
	h.eventually("the refusal of two Jobs in the default queue", func() bool {
		return strings.Contains(h.run("gang=job", "--other", "true").stderr, "would admit each of the app's 2 Jobs alone")
	})
	handle := h.start("gang=job,"+kueued, "--cpu", "2")
	h.eventually("the reason of an app that is larger than the quota", func() bool {
		return strings.Contains(h.status(handle).Msg, "waits in Kueue queue team: insufficient quota for cpu")
	})
	r := h.torchx("wait", "--timeout", "12", handle)
	if r.code != 124 || strings.Count(r.stderr, "insufficient quota for cpu") != 1 {
		t.Errorf("wait: got %+v, want the reason once and exit code 124", r)
	}
}
