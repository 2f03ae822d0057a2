package observe

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// Labels that JobSet gives to pods.
const (
	jobSetJob   = "jobset.sigs.k8s.io/replicatedjob-name"
	jobSetIndex = "jobset.sigs.k8s.io/job-index"
)

func (s *Seen) jobSet() *verdict {
	set := s.JobSet
	v := &verdict{phase: waiting, restarts: int(set.Status.Restarts)}
	v.about(&set.ObjectMeta)
	h := s.newShape()
	active, succeededJobs := map[string]int32{}, map[string]int32{}
	for _, r := range set.Status.ReplicatedJobsStatus {
		active[r.Name], succeededJobs[r.Name] = r.Active, r.Succeeded
		if r.Active+r.Ready+r.Succeeded+r.Failed > 0 {
			v.phase = activePhase(v.phase)
		}
	}
	size := map[string]int{} // pods of each job
	for i := range set.Spec.ReplicatedJobs {
		r := &set.Spec.ReplicatedJobs[i]
		each, required := pods(&r.Template.Spec)
		size[r.Name] = each
		u := h.add(r.Name, &r.Template.Spec.Template, each*int(r.Replicas), required*int(r.Replicas))
		u.retries = perIndex(&r.Template.Spec)
		all := succeededJobs[r.Name] == r.Replicas && required == each
		u.outcome = func(int) spec.State {
			if all {
				return spec.Succeeded
			}
			return spec.Unknown
		}
	}
	v.units, v.roles = h.units, h.done()
	v.place = func(pod *corev1.Pod) (string, int) {
		name := pod.Labels[jobSetJob]
		return name, max(0, number(pod.Labels[jobSetIndex]))*size[name] + max(0, index(pod))
	}
	v.attempt = func(u *unit, pod *corev1.Pod) int {
		return max(0, number(pod.Labels[label.JobSetRestart]))*(u.retries+1) + failures(pod)
	}
	if p := set.Spec.FailurePolicy; p != nil {
		v.retries = set.Status.CountedRestarts < p.MaxRestarts
	}
	v.quiet = true
	for _, n := range active {
		v.quiet = v.quiet && n == 0
	}
	v.suspended = set.Spec.Suspend != nil && *set.Spec.Suspend
	v.jobSetEnd(set)
	return v
}

// jobSetEnd reads the conditions.
func (v *verdict) jobSetEnd(set *kube.JobSet) {
	end := func(kind string, p phase) bool {
		c := meta.FindStatusCondition(set.Status.Conditions, kind)
		if c == nil || c.Status != "True" {
			return false
		}
		v.phase, v.reason, v.endedAt = p, firstText(c.Message, c.Reason), moment(c.LastTransitionTime)
		v.suspended = false
		return true
	}
	if !end("Completed", succeeded) {
		end("Failed", failed)
	}
}

func activePhase(p phase) phase { return max(p, active) }

// pods is how many pods a Job runs to the end, and how many of them must succeed.
func pods(s *batchv1.JobSpec) (count, required int) {
	count = 1
	if s.Completions != nil {
		count = int(*s.Completions)
	} else if s.Parallelism != nil {
		count = int(*s.Parallelism)
	}
	required = count
	if s.MaxFailedIndexes != nil {
		required = max(0, count-int(*s.MaxFailedIndexes))
	}
	return count, required
}

// perIndex is how often each index is started again.
func perIndex(s *batchv1.JobSpec) int {
	if s.BackoffLimitPerIndex == nil {
		return 0
	}
	return int(*s.BackoffLimitPerIndex)
}

// index is a pod's in its Indexed Job, -1 if it is of none.
func index(pod *corev1.Pod) int { return number(pod.Annotations[label.CompletionIndex]) }

// failures is how often the index of a pod failed before it.
func failures(pod *corev1.Pod) int {
	return max(0, number(pod.Annotations[batchv1.JobIndexFailureCountAnnotation]))
}
