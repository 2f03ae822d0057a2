package kubernetes

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// volcanoStates are those of TorchX (facts of its scheduler, VOLCANO_STATES).
var volcanoStates = map[string]spec.State{
	"": spec.Pending, "Pending": spec.Pending,
	"Running": spec.Running, "Aborting": spec.Running, "Restarting": spec.Running,
	"Completing": spec.Running, "Terminating": spec.Running,
	"Aborted": spec.Cancelled, "Completed": spec.Succeeded, "Terminated": spec.Failed, "Failed": spec.Failed,
}

// state is what the controllers say of an app; its pods may know better.
func (a *app) state() spec.State {
	switch a.form {
	case formVolcano:
		return volcanoState(a.volcano)
	case formJobSet:
		return jobSetState(a.jobSet)
	default:
		return jobsState(a.jobs)
	}
}

func volcanoState(j *kube.VolcanoJob) spec.State {
	if s, ok := volcanoStates[j.Status.State.Phase]; ok {
		return s
	}
	return spec.Unknown
}

func jobSetState(s *kube.JobSet) spec.State {
	for _, c := range s.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case "Completed":
			return spec.Succeeded
		case "Failed":
			return spec.Failed
		}
	}
	if s.Spec.Suspend != nil && *s.Spec.Suspend {
		return suspended(s.Annotations)
	}
	for _, j := range s.Status.ReplicatedJobsStatus {
		if j.Active+j.Ready+j.Succeeded+j.Failed > 0 {
			return spec.Running
		}
	}
	return spec.Pending
}

// jobsState is that of all Jobs of an app.
func jobsState(jobs []batchv1.Job) spec.State {
	count := map[spec.State]int{}
	for i := range jobs {
		count[jobState(&jobs[i])]++
	}
	for _, s := range []spec.State{spec.Running, spec.Pending, spec.Cancelled, spec.Failed} {
		if count[s] > 0 {
			return s
		}
	}
	return spec.Succeeded
}

func jobState(j *batchv1.Job) spec.State {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return spec.Succeeded
		case batchv1.JobFailed:
			return spec.Failed
		}
	}
	switch {
	case j.Spec.Suspend != nil && *j.Spec.Suspend:
		return suspended(j.Annotations)
	case j.Status.Active > 0 || j.Status.Succeeded > 0 || j.Status.Failed > 0:
		return spec.Running
	}
	return spec.Pending
}

// suspended is cancelled if we did it; else Kueue or somebody has it wait.
func suspended(annotations map[string]string) spec.State {
	if _, ok := annotations[label.Cancelled]; ok {
		return spec.Cancelled
	}
	return spec.Pending
}
