package observe

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// volcanoPhases maps the phases of a Volcano Job (batch/v1alpha1), as TorchX reads them.
var volcanoPhases = map[string]phase{
	"": waiting, "Pending": waiting, "Running": active,
	"Restarting": ending, "Aborting": ending, "Completing": ending, "Terminating": ending,
	"Aborted": aborted, "Completed": succeeded, "Terminated": failed, "Failed": failed,
}

func (s *Observation) volcano() *workload {
	job := s.Volcano
	p, known := volcanoPhases[job.Status.State.Phase]
	if !known {
		p = active // of a newer Volcano; the pods decide
	}
	v := &workload{locate: volcanoUnit, attempt: volcanoAttempt}
	v.phase = p
	v.readMeta(&job.ObjectMeta)
	h := s.newRoleSet()
	canRestart := restartsOn("PodFailed", job.Spec.Policies)
	hasRetries := job.Status.RetryCount < job.Spec.MaxRetry-1
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		canRestart = canRestart || restartsOn("PodFailed", task.Policies)
		u := h.add(task.Name, &task.Template, int(task.Replicas),
			int(ptr.Deref(task.MinAvailable, task.Replicas)))
		u.disruptions = disruptions{free: hasRetries && restartsOn("PodEvicted", slices.Concat(job.Spec.Policies, task.Policies)), onlyDeleted: true}
		count := job.Status.TaskStatusCount[task.Name].Phase
		u.outcome = func(int) spec.State { return countedState(count, u.count) }
	}
	v.units, v.roles = h.units, h.finish()
	v.restarts = int(job.Status.RetryCount)
	v.retries = canRestart && hasRetries
	if canRestart { // otherwise only evictions restart it
		v.maxRestarts = int(max(0, job.Spec.MaxRetry-1))
	}
	if canRestart && p == failed && job.Status.RetryCount >= job.Spec.MaxRetry && v.restarts > 0 {
		v.restarts-- // Volcano counts a restart that it then refuses
	}
	v.idle = p.ended() && job.Status.Running+job.Status.Pending+job.Status.Terminating == 0
	if p.ended() {
		v.endedAt = timeOf(job.Status.State.LastTransitionTime)
	}
	v.reason = firstText(job.Status.State.Message, job.Status.State.Reason)
	return v
}

// restartsOn reports whether an event of a pod restarts the whole job.
func restartsOn(event string, policies []kube.VolcanoPolicy) bool {
	return slices.ContainsFunc(policies, func(p kube.VolcanoPolicy) bool {
		events := append([]string{p.Event}, p.Events...)
		return p.Action == "RestartJob" && (slices.Contains(events, event) || slices.Contains(events, "*"))
	})
}

// countedState returns the state of each pod of a task if the counts determine it.
func countedState(phases map[corev1.PodPhase]int32, count int) spec.State {
	switch count {
	case int(phases[corev1.PodSucceeded]):
		return spec.Succeeded
	case int(phases[corev1.PodFailed]):
		return spec.Failed
	}
	return spec.Unknown
}

func volcanoUnit(pod *corev1.Pod) (string, int) {
	return pod.Annotations[kube.AnnotationVolcanoTask], number(pod.Annotations[kube.AnnotationVolcanoIndex])
}

func volcanoAttempt(_ *unit, pod *corev1.Pod) int {
	return max(0, number(pod.Annotations[kube.AnnotationVolcanoRetry]))
}
