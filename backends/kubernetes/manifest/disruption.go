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

// isIndependent reports whether a disrupted replica of a role restarts while its peers go on.
func isIndependent(role *spec.Role) bool {
	return role.RetryPolicy == spec.RetryReplica || requiredReplicas(role) < role.NumReplicas
}

// hasPeers reports whether the app has more than one replica.
func hasPeers(app *spec.App) bool { return len(app.Roles) > 1 || app.Roles[0].NumReplicas > 1 }

// gangRoles returns the roles whose disruption restarts a Volcano Job, and whether all do. Volcano
// replaces a pod within an attempt, so an only replica restarts with the job.
func gangRoles(app *spec.App) (gang map[int]bool, all bool) {
	gang = map[int]bool{}
	for i := range app.Roles {
		if !isIndependent(&app.Roles[i]) || !hasPeers(app) {
			gang[i] = true
		}
	}
	return gang, len(gang) == len(app.Roles)
}

// disruptionPolicy returns a Job's reaction to disruptions, nil if it has none: Kubernetes cannot
// start the peers in other pods again. An only replica of a JobSet restarts with the set, as after
// its failures: each of its pods then has an attempt of its own.
func (b *builder) disruptionPolicy(role *spec.Role, pod *corev1.PodSpec) *batchv1.PodFailurePolicy {
	if pod.RestartPolicy != corev1.RestartPolicyNever {
		return nil // as an overlay sets; Kubernetes allows no policy then
	}
	action := batchv1.PodFailurePolicyActionIgnore
	switch {
	case isIndependent(role):
	case b.form == FormJobSet:
		action = batchv1.PodFailurePolicyActionFailJob // the JobSet restarts, see restartOnDisruption
	case hasPeers(b.in.App):
		return nil
	}
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          action,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}
