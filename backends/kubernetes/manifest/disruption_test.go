package manifest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestDisruptions: peers that began together restart together after a disruption, independent
// replicas alone, and neither counts as a failure.
func TestDisruptions(t *testing.T) {
	t.Parallel()
	with := func(policy spec.RetryPolicy, n int) spec.Role {
		return role("a", func(r *spec.Role) { r.RetryPolicy, r.NumReplicas = policy, n })
	}
	action := func(s *batchv1.JobSpec) string {
		if s.PodFailurePolicy == nil {
			return ""
		}
		return string(s.PodFailurePolicy.Rules[0].Action)
	}
	for _, c := range []struct {
		role                 spec.Role
		job, jobSet, volcano string
	}{
		{with(spec.RetryApplication, 2), "", "FailJob", "RestartJob"},
		{with(spec.RetryApplication, 1), "Ignore", "FailJob", "RestartJob"},
		{with(spec.RetryReplica, 2), "Ignore", "Ignore", ""},
	} {
		_, job := plan(t, input(t, "gang=job", c.role))
		if got := action(&job.Objects[0].(*Job).Spec); got != c.job {
			t.Errorf("job of %+v: got %q, want %q", c.role, got, c.job)
		}
		_, set := plan(t, input(t, "gang=jobset", c.role))
		js := set.Objects[0].(*JobSet).Spec
		restarts := js.FailurePolicy != nil && js.FailurePolicy.Rules[0].Action == "RestartJobSetAndIgnoreMaxRestarts"
		if got := action(&js.ReplicatedJobs[0].Template.Spec); got != c.jobSet || restarts != (got == "FailJob") {
			t.Errorf("jobset of %+v: got %q and %+v, want %q", c.role, got, js.FailurePolicy, c.jobSet)
		}
		_, volcano := plan(t, input(t, "gang=volcano", c.role))
		vs := volcano.Objects[0].(*VolcanoJob).Spec
		got := ""
		for _, p := range slices.Concat(vs.Policies, vs.Tasks[0].Policies) {
			if p.Event == "PodEvicted" {
				got = p.Action
			}
		}
		if got != c.volcano || (vs.MaxRetry > 1) != (got != "") {
			t.Errorf("volcano job of %+v: got %q with %d attempts, want %q", c.role, got, vs.MaxRetry, c.volcano)
		}
	}
	onFailure := with(spec.RetryReplica, 2)
	onFailure.Metadata = map[string]any{"kubernetes": map[string]any{"spec": map[string]any{"restartPolicy": string(corev1.RestartPolicyOnFailure)}}}
	if _, req := plan(t, input(t, "gang=job", onFailure)); req.Objects[0].(*Job).Spec.PodFailurePolicy != nil {
		t.Errorf("got a policy with restartPolicy OnFailure, which Kubernetes refuses")
	}
}

// TestKueueOptions: the labels of queue and priority, and what Kueue cannot admit as a whole.
func TestKueueOptions(t *testing.T) {
	t.Parallel()
	_, req := plan(t, input(t, "gang=job,kueue_queue=team,kueue_priority=high", role("a", nil)))
	if l := req.Objects[0].Meta().Labels; l[kube.LabelKueue] != "team" || l[kube.LabelKueuePriority] != "high" {
		t.Errorf("got labels %v, want the queue and the priority", l)
	}
	_, err := Planner{}.Plan(t.Context(), input(t, "gang=job,kueue_queue=team", role("a", nil), role("b", nil)))
	if !errors.Is(err, backend.ErrInvalidOption) || !strings.Contains(err.Error(), "each of the app's 2 Jobs alone") {
		t.Errorf("two roles: got %v, want that gang=job is refused", err)
	}
}
