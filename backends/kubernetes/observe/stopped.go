package observe

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"torchx/backends/kubernetes/kube"
)

// startingPhases are the phases of a Volcano Job whose controller creates pods.
var startingPhases = []string{"", "Pending", "Running", "Restarting"}

// Stopped reports whether the controllers create no more pods: they have seen that the app
// was stopped, or it has ended.
func (s *Observation) Stopped() bool {
	switch {
	case s.Volcano != nil:
		return !slices.Contains(startingPhases, s.Volcano.Status.State.Phase)
	case s.JobSet != nil:
		return isJobSetStopped(s.JobSet)
	}
	return !slices.ContainsFunc(s.Jobs, func(j batchv1.Job) bool {
		return condition(&j, batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, batchv1.JobFailed) == nil
	})
}

func isJobSetStopped(set *kube.JobSet) bool {
	return slices.ContainsFunc([]string{"Suspended", "Completed", "Failed"}, func(kind string) bool {
		return meta.IsStatusConditionTrue(set.Status.Conditions, kind)
	})
}
