package observe

import (
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// TestDistinctAttempts: the attempts of a replica that restarts alone have other numbers than those
// after a restart of its JobSet, whatever disrupted it before.
func TestDistinctAttempts(t *testing.T) {
	t.Parallel()
	s := recorded(t, "jobset_running")
	s.JobSet.Spec.FailurePolicy = &kube.FailurePolicy{MaxRestarts: 2}
	job := &s.JobSet.Spec.ReplicatedJobs[0].Template.Spec
	job.BackoffLimitPerIndex = new(int32(1))
	job.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
	locate := s.Locator()
	seen := map[int]string{}
	for restart := range 3 {
		for failed := range 2 {
			for disrupted := range 8 {
				pod := s.Pods[0].DeepCopy()
				pod.Labels[label.JobSetRestart] = strconv.Itoa(restart)
				pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(failed)
				pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(disrupted)
				r, attempt, ok := locate(pod)
				if !ok || r != (spec.Replica{Role: "r"}) {
					t.Fatalf("got %v, %v, want replica r/0", r, ok)
				}
				what := "restart " + strconv.Itoa(restart) + ", pod " + strconv.Itoa(failed+disrupted)
				if before := seen[attempt]; before != "" && before != what {
					t.Errorf("got attempt %d for %s and %s, want different ones", attempt, before, what)
				}
				seen[attempt] = what
			}
		}
	}
}
