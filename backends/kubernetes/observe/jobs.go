package observe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// Labels that JobSet adds to pods.
const (
	jobSetJob   = "jobset.sigs.k8s.io/replicatedjob-name"
	jobSetIndex = "jobset.sigs.k8s.io/job-index"
)

func (s *Observation) jobSet() *workload {
	set := s.JobSet
	v := &workload{lifecycle: lifecycle{phase: waiting, restarts: int(set.Status.Restarts)}}
	v.readMeta(&set.ObjectMeta)
	h := s.newRoleSet()
	succeededJobs := map[string]int32{}
	v.idle = true
	for _, r := range set.Status.ReplicatedJobsStatus {
		v.idle = v.idle && r.Active == 0
		succeededJobs[r.Name] = r.Succeeded
		if r.Active+r.Ready+r.Succeeded+r.Failed > 0 {
			v.phase = max(v.phase, active)
		}
	}
	size := map[string]int{} // pods of each job
	for i := range set.Spec.ReplicatedJobs {
		r := &set.Spec.ReplicatedJobs[i]
		each, required := pods(&r.Template.Spec)
		size[r.Name] = each
		u := h.add(r.Name, &r.Template.Spec.Template, each*int(r.Replicas),
			required*int(r.Replicas))
		u.limited = isLimited(&r.Template.Spec)
		u.retries = int(ptr.Deref(r.Template.Spec.BackoffLimitPerIndex, 0))
		u.disruptions = disruptionsOf(&r.Template.Spec)
		v.limitJobs(&r.Template.Spec)
		all := succeededJobs[r.Name] == r.Replicas && required == each
		u.outcome = func(int) spec.State {
			if all {
				return spec.Succeeded
			}
			return spec.Unknown
		}
	}
	v.units, v.roles = h.units, h.finish()
	v.locate = func(pod *corev1.Pod) (string, int) {
		name := pod.Labels[jobSetJob]
		return name, max(0, number(pod.Labels[jobSetIndex]))*size[name] + max(0, index(pod))
	}
	v.attempt = func(u *unit, pod *corev1.Pod) int {
		return max(0, number(pod.Labels[kube.LabelJobSetRestart]))*(u.retries+1) + failures(pod) + ignoredFailures(pod)
	}
	if p := set.Spec.FailurePolicy; p != nil {
		v.retries, v.maxRestarts = set.Status.CountedRestarts < p.MaxRestarts, int(p.MaxRestarts)
	}
	v.suspended = ptr.Deref(set.Spec.Suspend, false)
	v.jobSetEnd(set)
	return v
}

// jobSetEnd reads the conditions of a JobSet that has ended.
func (v *workload) jobSetEnd(set *kube.JobSet) {
	end := func(kind string, p phase) bool {
		c := meta.FindStatusCondition(set.Status.Conditions, kind)
		if c == nil || c.Status != "True" {
			return false
		}
		v.phase, v.reason, v.endedAt = p, firstText(c.Message, c.Reason), timeOf(c.LastTransitionTime)
		v.suspended = false
		return true
	}
	if !end("Completed", succeeded) {
		end("Failed", failed)
	}
}

// limitJobs takes note of the deadline of a job.
func (l *lifecycle) limitJobs(s *batchv1.JobSpec) {
	d := time.Duration(ptr.Deref(s.ActiveDeadlineSeconds, 0)) * time.Second
	if d > 0 && (l.jobDeadline == 0 || d < l.jobDeadline) {
		l.jobDeadline = d
	}
}

// pods returns the number of pods that a Job runs to the end, and how many must succeed.
func pods(s *batchv1.JobSpec) (count, required int) {
	count = int(ptr.Deref(s.Completions, ptr.Deref(s.Parallelism, 1)))
	return count, max(0, count-int(ptr.Deref(s.MaxFailedIndexes, 0)))
}

// isLimited reports whether a Job runs only some of its pods at the same time.
func isLimited(s *batchv1.JobSpec) bool {
	return s.Parallelism != nil && s.Completions != nil && *s.Parallelism < *s.Completions
}

// index returns a pod's index in its Indexed Job, -1 if it has none.
func index(pod *corev1.Pod) int { return number(pod.Annotations[kube.AnnotationCompletionIndex]) }

// failures returns how often a pod's index failed before it.
func failures(pod *corev1.Pod) int {
	return max(0, number(pod.Annotations[batchv1.JobIndexFailureCountAnnotation]))
}

// ignoredFailures returns how often a pod's index was disrupted before it without counting as a
// failure.
func ignoredFailures(pod *corev1.Pod) int {
	return max(0, number(pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation]))
}

// disruptionsOf returns what follows a disruption of a Job's pods by its rules.
func disruptionsOf(s *batchv1.JobSpec) (d disruptions) {
	if s.PodFailurePolicy == nil {
		return d
	}
	for _, r := range s.PodFailurePolicy.Rules {
		if slices.ContainsFunc(r.OnPodConditions, func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type == corev1.DisruptionTarget }) {
			d.free, d.alone = true, d.alone || r.Action == batchv1.PodFailurePolicyActionIgnore
		}
	}
	return d
}

// jobs reads Indexed Jobs, one for each unit. The app has ended when all of them have.
func (s *Observation) jobs() *workload {
	v := &workload{lifecycle: lifecycle{phase: waiting, idle: true}}
	v.locate = func(pod *corev1.Pod) (string, int) { return pod.Labels[kube.LabelJobName], index(pod) }
	v.attempt = func(_ *unit, pod *corev1.Pod) int { return failures(pod) + ignoredFailures(pod) }
	h := s.newRoleSet()
	ended, anyFailed, suspended := 0, false, 0
	for i := range s.Jobs {
		job := &s.Jobs[i]
		v.readMeta(&job.ObjectMeta)
		count, required := pods(&job.Spec)
		u := h.add(job.Name, &job.Spec.Template, count, required)
		u.limited = isLimited(&job.Spec)
		u.retries = int(ptr.Deref(job.Spec.BackoffLimitPerIndex, 0))
		u.disruptions = disruptionsOf(&job.Spec)
		v.limitJobs(&job.Spec)
		done, broken := indexes(job.Status.CompletedIndexes), indexes(ptr.Deref(job.Status.FailedIndexes, ""))
		u.outcome = func(index int) spec.State {
			switch {
			case done.has(index):
				return spec.Succeeded
			case broken.has(index):
				return spec.Failed
			}
			return spec.Unknown
		}
		v.idle = v.idle && job.Status.Active == 0
		if job.Status.Active > 0 || job.Status.Succeeded > 0 {
			v.phase = max(v.phase, active)
		}
		if c := condition(job, batchv1.JobFailureTarget); c != nil && jobEnd(job) == nil {
			u.failing, v.failing = true, firstText(v.failing, c.Message, c.Reason)
		}
		switch c := jobEnd(job); {
		case c != nil:
			ended++
			v.endedAt = outcome.Later(v.endedAt, timeOf(c.LastTransitionTime))
			if c.Type == batchv1.JobFailed {
				anyFailed, v.reason = true, firstText(v.reason, c.Message, c.Reason)
				v.overran = v.overran || c.Reason == batchv1.JobReasonDeadlineExceeded
			}
		case ptr.Deref(job.Spec.Suspend, false):
			suspended++
		}
	}
	for _, role := range slices.Sorted(maps.Keys(s.Expired)) {
		e := s.Expired[role]
		if e.State == spec.Failed && (e.Reason != failedIndexes || !mayLose(&s.App.Roles[role])) {
			anyFailed, v.reason = true, firstText(v.reason, e.Msg, e.Reason)
		}
	}
	v.units, v.roles = h.units, h.finish()
	v.incomplete = s.incomplete(v)
	v.suspended = suspended > 0 && suspended+ended == len(s.Jobs)
	if ended == len(s.Jobs) {
		v.phase = succeeded
		if anyFailed || v.incomplete != "" {
			v.phase, v.reason = failed, firstText(v.reason, v.incomplete)
		}
	} else {
		v.endedAt = nil
	}
	if len(s.Jobs) > 0 {
		v.name = s.Jobs[0].Name
	}
	return v
}

// incomplete describes a role without its Job, whose creation was interrupted or which was
// deleted; "" if all Jobs exist, or may have been deleted by their ttl_seconds.
func (s *Observation) incomplete(v *workload) string {
	missing := s.missing(v)
	if len(missing) == 0 || s.expires() {
		return ""
	}
	return fmt.Sprintf("the Job of role %s is missing: the submission was interrupted, or another client deleted it", s.App.Roles[missing[0]].Name)
}

// missing returns the roles without all of their Jobs.
func (s *Observation) missing(v *workload) (roles []int) {
	if s.App == nil {
		return nil
	}
	found := map[int]int{} // replicas by role
	for _, u := range v.units {
		found[u.role] += u.count
	}
	for i := range s.App.Roles {
		if found[i] < s.App.Roles[i].NumReplicas {
			roles = append(roles, i)
		}
	}
	return roles
}

// expires reports whether the cluster deletes the app's Jobs after their ends.
func (s *Observation) expires() bool {
	return slices.ContainsFunc(s.Jobs, func(j batchv1.Job) bool { return j.Spec.TTLSecondsAfterFinished != nil })
}

// MissingRoles returns the roles whose Jobs ttl_seconds may have deleted before others of the app.
func (s *Observation) MissingRoles() []int {
	if !s.expires() {
		return nil
	}
	return s.missing(s.workload())
}

// jobEnd returns the condition by which a Job has ended, nil if it has not.
func jobEnd(job *batchv1.Job) *batchv1.JobCondition {
	return condition(job, batchv1.JobComplete, batchv1.JobFailed)
}

// JobEnded reports whether a Job has ended.
func JobEnded(job *batchv1.Job) bool { return jobEnd(job) != nil }

// condition returns the first true condition of the given types, nil if there is none.
func condition(job *batchv1.Job, types ...batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if c.Status == corev1.ConditionTrue && slices.Contains(types, c.Type) {
			return c
		}
	}
	return nil
}

// spans are ranges of indexes, in a Job's status "1,3-5".
type spans [][2]int

func indexes(text string) (all spans) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err == nil && err2 == nil {
			all = append(all, [2]int{first, last})
		}
	}
	return all
}

func (s spans) has(index int) bool {
	return slices.ContainsFunc(s, func(p [2]int) bool { return p[0] <= index && index <= p[1] })
}
