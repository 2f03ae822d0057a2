package manifest

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// A disruption ends a pod from outside: an eviction, a preemption, the drain or loss of its node.
// It restarts what a failure of the replica concerns, and does not count as a failure: peers that
// have begun together begin together again.

// restartOnDisruption creates a JobSet again after a disruption, without counting.
var restartOnDisruption = kube.FailureRule{
	Name: "disruption", Action: "RestartJobSetAndIgnoreMaxRestarts", OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy},
}

// maxVolcanoDisruptions bounds the restarts of a Volcano Job without retries after disruptions:
// Volcano counts every restart.
const maxVolcanoDisruptions = 9

// restartsAlone reports whether a disrupted replica restarts while its peers go on: they are
// independent, or there are none.
func restartsAlone(app *spec.App, role *spec.Role) bool {
	return role.RetryPolicy == spec.RetryReplica || requiredReplicas(role) < role.NumReplicas || len(app.Roles) == 1 && role.NumReplicas == 1
}

// gangRoles returns the roles whose disruption restarts a Volcano Job, and whether all do. Volcano
// replaces a pod within an attempt, so an only replica restarts with the job.
func gangRoles(app *spec.App) (gang map[int]bool, all bool) {
	gang = map[int]bool{}
	for i := range app.Roles {
		if r := &app.Roles[i]; !restartsAlone(app, r) || len(app.Roles) == 1 && r.NumReplicas == 1 {
			gang[i] = true
		}
	}
	return gang, len(gang) == len(app.Roles)
}

// disruptionPolicy returns a Job's reaction to disruptions, nil if it has none: Kubernetes cannot
// start the peers in other pods again.
func (b *builder) disruptionPolicy(role *spec.Role, pod *corev1.PodSpec) *batchv1.PodFailurePolicy {
	if pod.RestartPolicy != corev1.RestartPolicyNever {
		return nil // as an overlay sets; Kubernetes allows no policy then
	}
	action := batchv1.PodFailurePolicyActionIgnore
	switch alone := restartsAlone(b.in.App, role); {
	case b.form == FormJobSet && !alone:
		action = batchv1.PodFailurePolicyActionFailJob // the JobSet restarts, see restartOnDisruption
	case !alone:
		return nil
	}
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          action,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}
