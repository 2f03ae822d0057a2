//go:build unix

package kubernetes

import (
	"context"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"torchx/runtime/spec"
)

// TestDeletedAfterEnd: an app that ttl_seconds deleted before a command saw its end has succeeded
// or failed, or its result is unknown; it never failed although it succeeded.
func TestDeletedAfterEnd(t *testing.T) {
	t.Parallel()
	lossy := []string{"--num_replicas", "3", "--min_replicas", "2", "--script", "exit $((JOB_COMPLETION_INDEX == 1))"}
	for _, c := range []struct {
		gang, name string
		args       []string
		want       spec.State
		code       int
	}{
		{"volcano", "success", []string{"--script", "true"}, spec.Unknown, 0},
		{"jobset", "success", []string{"--script", "true"}, spec.Succeeded, 0},
		{"job", "success", []string{"--script", "true"}, spec.Succeeded, 0},
		{"volcano", "failure", []string{"--script", "exit 3"}, spec.Unknown, 0},
		{"jobset", "failure", []string{"--script", "exit 3"}, spec.Failed, 1},
		{"job", "failure", []string{"--script", "exit 3"}, spec.Failed, 1},
		{"jobset", "success without a replica", lossy, spec.Succeeded, 0},
		{"job", "success without a replica", lossy, spec.Succeeded, 0},
		{"jobset", "deadline", []string{"--timeout", "3s", "--max_retries", "1", "--script", "sleep 1000"}, spec.Failed, spec.ExitDeadline},
		{"job", "deadline", []string{"--timeout", "3s", "--max_retries", "1", "--policy", "REPLICA", "--script", "sleep 1000"}, spec.Failed, spec.ExitDeadline},
	} {
		t.Run(c.gang+" "+c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			handle := h.start("gang="+c.gang+",ttl_seconds=0,reserved_millicpu=1000", c.args...)
			h.eventually("the cluster has deleted the app", func() bool {
				return len(h.cluster.Pods(t, h.namespace, "")) == 0 && len(h.objects(c.gang)) == 0
			})
			s := h.status(handle)
			if s.State != c.want || s.State == spec.Unknown != strings.Contains(s.Msg, "ttl_seconds") || s.State != spec.Unknown && (s.ExitCode == nil || *s.ExitCode != c.code) {
				t.Errorf("got %+v, want %s and code %d", s, c.want, c.code)
			}
			if again := h.status(handle); again.Msg != s.Msg {
				t.Errorf("got %q, then %q, want the same message", s.Msg, again.Msg)
			}
			if r := h.torchx("events", handle); strings.Count(r.stdout, "pod "+instance(handle)) == 0 {
				t.Errorf("got events\n%s%s, want those of the pods", r.stdout, r.stderr)
			}
			if r := h.torchx("wait", handle); (r.code == 0) != (s.State == spec.Succeeded) || s.State == spec.Failed && r.code != c.code {
				t.Errorf("wait: got %+v of an app that is %s", r, s.State)
			}
			if r := h.torchx("delete", handle); r.code != 0 {
				t.Errorf("delete: got %+v, want r.code == 0", r)
			}
		})
	}
}

// TestRoleDeletedFirst: with gang=job, ttl_seconds deletes the Job of a role that has ended while
// another one runs. The app goes on, its logs are followed, and its result counts both.
func TestRoleDeletedFirst(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]spec.State{"exit 0": spec.Succeeded, "exit 3": spec.Failed} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			const other = "echo begins; sleep 15; echo ends"
			start := func(cfg string) string {
				return h.start("gang=job,ttl_seconds=0,reserved_millicpu=1000"+cfg, "--script", script, "--other", other)
			}
			alone, followed := start(""), start(",archive=true")
			h.eventually("the first Jobs are deleted", func() bool { return len(h.objects("job")) == 2 })
			for _, handle := range []string{alone, followed} {
				if s := h.status(handle); s.State != spec.Running || s.Roles[0].Replicas[0].State != want {
					t.Errorf("got %+v, want RUNNING with a replica that is %s", s, want)
				}
			}
			if r := h.torchx("wait", alone); (r.code == 0) != (want == spec.Succeeded) {
				t.Errorf("wait: got %+v, want that the app is %s", r, want)
			}
			h.eventually("the end in the archive", func() bool { return strings.Contains(h.archived("archive.json"), `"done":true`) })
			for _, handle := range []string{alone, followed} {
				if s := h.status(handle); s.State != want {
					t.Errorf("got %s: %s, want %s", s.State, s.Msg, want)
				}
				if log := h.torchx("log", handle+"/o/0"); log.stdout != "begins\nends\n" {
					t.Errorf("got log %+v, want all lines", log)
				}
			}
		})
	}
}

// TestDeletedWhileRunning: the result of an app that another client deleted while it ran is not known,
// and no command waits for it.
func TestDeletedWhileRunning(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			handle := h.start("reserved_millicpu=1000,gang="+gang, "--script", "sleep 1000")
			h.eventually("the app runs", func() bool { return h.status(handle).State == spec.Running })
			for _, o := range h.objects(gang) {
				background := metav1.DeletePropagationBackground
				if err := h.cluster.Of(h.namespace, o.GetAPIVersion(), o.GetKind()).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
					t.Fatal(err)
				}
			}
			h.eventually("the app is gone", func() bool { return h.status(handle).State == spec.Unknown })
			if s := h.status(handle); !strings.Contains(s.Msg, "which was RUNNING when last seen") || s.Roles[0].Replicas[0].State != spec.Unknown {
				t.Errorf("got %+v, want UNKNOWN with the reason", s)
			}
			for _, args := range [][]string{{"wait", handle}, {"log", handle}, {"log", "-t", handle}, {"attach", handle}, {"exec", handle + "/r/0", "--", "true"}} {
				if r := h.torchx(args...); r.code != 1 || strings.Contains(r.stderr, "to start") {
					t.Errorf("%s: got %+v, want exit code 1", args[0], r)
				}
			}
			if r := h.torchx("events", handle); strings.Contains(r.stdout, "FAILED") {
				t.Errorf("got events\n%s, want no failure", r.stdout)
			}
			if r := h.torchx("delete", handle); r.code != 0 {
				t.Errorf("delete: got %+v, want r.code == 0", r)
			}
		})
	}
}

// objects returns the main objects of a form in the namespace.
func (h *home) objects(gang string) []unstructured.Unstructured {
	h.Helper()
	kinds := map[string][2]string{"volcano": {"batch.volcano.sh/v1alpha1", "Job"}, "jobset": {"jobset.x-k8s.io/v1alpha2", "JobSet"}, "job": {"batch/v1", "Job"}}
	list, err := h.cluster.Of(h.namespace, kinds[gang][0], kinds[gang][1]).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		h.Fatal(err)
	}
	return list.Items
}

// evict evicts a pod, as the drain of its node does.
func (h *home) evict(pod string) {
	h.Helper()
	e := &policyv1.Eviction{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: h.namespace}}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e)
	if err == nil {
		_, err = h.cluster.Of(h.namespace, "v1", "Pod").Create(context.Background(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}, "eviction")
	}
	if err != nil {
		h.Fatal(err)
	}
}

// TestEviction: an evicted replica restarts without counting as a failure, with an attempt of its
// own: with its peers, which began together with it, or alone if they are independent.
func TestEviction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gang, policy string
		peer         int // attempt of the other replica after the eviction
	}{
		{"volcano", "APPLICATION", 1},
		{"jobset", "APPLICATION", 1},
		{"jobset", "REPLICA", 0},
		{"job", "REPLICA", 0},
	} {
		t.Run(c.gang+" "+c.policy, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			handle := h.start("reserved_millicpu=1000,gang="+c.gang, "--num_replicas", "2", "--policy", c.policy, "--script", "trap 'exit 143' TERM; echo begins; sleep 1000 & wait")
			h.eventually("both replicas run", func() bool { return h.phases()["Running"] == 2 })
			one := h.status(handle).Roles[0].Replicas[1]
			if one.Pod == "" || one.Node == "" {
				t.Fatalf("got %+v, want the names of the pod and its node", one)
			}
			h.evict(one.Pod)
			h.eventually("the replica runs again", func() bool {
				s := h.status(handle)
				if s.State.Terminal() {
					t.Fatalf("got %s: %s, want that it goes on", s.State, s.Msg)
				}
				r := s.Roles[0].Replicas
				return s.NumRestarts == 1 && len(r) == 2 && r[1].State == spec.Running && r[1].Attempt == 1 && r[0].State == spec.Running && r[0].Attempt == c.peer
			})
			if r := h.torchx("log", "--attempt", "0", handle+"/r/1"); r.code != 1 || !strings.Contains(r.stderr, "its log was not archived") {
				t.Errorf("log of the first attempt: got %+v, want that nothing has it", r)
			}
			r := h.torchx("cancel", "--wait", handle)
			if s := h.status(handle); r.code != 0 || s.State != spec.Cancelled {
				t.Errorf("cancel: got %+v and %s, want CANCELLED", r, s.State)
			}
			if log := h.torchx("log", handle+"/r/1"); !strings.Contains(log.stdout, "begins") || strings.Contains(log.stdout, "gap: rotated") {
				t.Errorf("got log %+v, want the line of the second attempt and no rotation", log)
			}
			if r := h.torchx("events", handle); strings.Contains(r.stdout, "UNKNOWN") || !strings.Contains(r.stdout, "pod "+instance(handle)) {
				t.Errorf("got events\n%s, want those of pods and no UNKNOWN", r.stdout)
			}
		})
	}
}

// TestLastLines: `cancel --wait` keeps what all replicas print while they end.
func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			const replicas = 6
			handle := h.start("reserved_millicpu=1000,gang="+gang, "--num_replicas", "6", "--cpu", "1", "--script",
				"trap 'echo ends; i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo last $i; done; exit 1' TERM; echo begins; sleep 1000 & wait")
			h.eventually("all replicas have begun", func() bool { return strings.Count(h.torchx("log", handle).stdout, "begins") == replicas })
			if r := h.torchx("cancel", "--wait", handle); r.code != 0 {
				t.Errorf("got %+v, want r.code == 0", r)
			}
			log := h.torchx("log", handle)
			if n := strings.Count(log.stdout, "last 20\n"); n != replicas || strings.Contains(log.stdout, "gap: rotated") {
				t.Errorf("got the last line of %d replicas, want %d and no rotation:\n%s%s", n, replicas, log.stdout, log.stderr)
			}
		})
	}
}
