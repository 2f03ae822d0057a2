package observe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// jobs is one Indexed Job for each unit. The app has ended when all of them have.
func (s *Seen) jobs() *verdict {
	v := &verdict{phase: waiting, quiet: true}
	v.place = func(pod *corev1.Pod) (string, int) { return pod.Labels[label.JobName], index(pod) }
	v.attempt = func(_ *unit, pod *corev1.Pod) int { return failures(pod) }
	h := s.newShape()
	ended, lost, suspended := 0, false, 0
	for i := range s.Jobs {
		job := &s.Jobs[i]
		v.about(&job.ObjectMeta)
		count, required := pods(&job.Spec)
		u := h.add(job.Name, &job.Spec.Template, count, required)
		u.retries = perIndex(&job.Spec)
		done, broken := indexes(job.Status.CompletedIndexes), indexes(ptr(job.Status.FailedIndexes))
		u.outcome = func(index int) spec.State {
			switch {
			case done.has(index):
				return spec.Succeeded
			case broken.has(index):
				return spec.Failed
			}
			return spec.Unknown
		}
		v.quiet = v.quiet && job.Status.Active == 0
		if job.Status.Active > 0 || job.Status.Succeeded > 0 {
			v.phase = activePhase(v.phase)
		}
		if c := condition(job, batchv1.JobFailureTarget); c != nil && jobEnd(job) == nil {
			u.failing, v.failing = true, firstText(v.failing, c.Message, c.Reason)
		}
		switch c := jobEnd(job); {
		case c != nil:
			ended++
			v.endedAt = later(v.endedAt, moment(c.LastTransitionTime))
			if c.Type == batchv1.JobFailed {
				lost, v.reason = true, firstText(v.reason, c.Message, c.Reason)
			}
		case job.Spec.Suspend != nil && *job.Spec.Suspend:
			suspended++
		}
	}
	v.units, v.roles = h.units, h.done()
	v.incomplete = s.incomplete(v)
	v.suspended = suspended > 0 && suspended+ended == len(s.Jobs)
	if ended == len(s.Jobs) {
		v.phase = succeeded
		if lost || v.incomplete != "" {
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

// incomplete says which role has no Job. One that has ended may be gone by its
// ttl_seconds; else nobody has made it, or somebody deleted it.
func (s *Seen) incomplete(v *verdict) string {
	if s.App == nil || slices.ContainsFunc(s.Jobs, func(j batchv1.Job) bool { return j.Spec.TTLSecondsAfterFinished != nil }) {
		return ""
	}
	there := map[int]int{}
	for _, u := range v.units {
		there[u.role] += u.count
	}
	for i := range s.App.Roles {
		if r := &s.App.Roles[i]; there[i] < r.NumReplicas {
			return fmt.Sprintf("the Job of role %s is not on the cluster: the submission was cut short, or somebody deleted it", r.Name)
		}
	}
	return ""
}

// jobEnd is the condition by which a Job has ended, nil if it has not.
func jobEnd(job *batchv1.Job) *batchv1.JobCondition {
	return condition(job, batchv1.JobComplete, batchv1.JobFailed)
}

// condition is the first condition of some types that holds, nil if none does.
func condition(job *batchv1.Job, types ...batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if c.Status == corev1.ConditionTrue && slices.Contains(types, c.Type) {
			return c
		}
	}
	return nil
}

// spans are what a Job writes of indexes: "1,3-5".
type spans [][2]int

func indexes(text string) (all spans) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		all = append(all, [2]int{first, last})
	}
	return all
}

func (s spans) has(index int) bool {
	return slices.ContainsFunc(s, func(p [2]int) bool { return p[0] <= index && index <= p[1] })
}

func ptr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
