package manifest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// failOnDeadline fails a JobSet whose job exceeded its deadline, instead of restarting it.
var failOnDeadline = kube.FailureRule{Name: "deadline", Action: "FailJobSet", OnJobFailureReasons: []string{batchv1.JobReasonDeadlineExceeded}}

// deadlines are the activeDeadlineSeconds of a role. That of pods counts from the start of
// each attempt on its node and leaves the pod and its logs. That of jobs counts from when the
// controller starts the job, bounds all retries within it, and deletes the pods.
type deadlines struct{ pod, job *int64 }

// deadlinesOf returns the deadlines that express the time limits of the app and the role best.
// Pods have one; if the controller would retry them after it, the job has it instead.
func deadlinesOf(app *spec.App, role *spec.Role, f Form) (d deadlines) {
	limits, _ := app.Limits() // validated
	order, _ := role.Order()
	all := shortest(limits.Timeout, order.Timeout)
	inJob := limits.Timeout // what also ends retries
	policy := retryPolicy(app, role, f)
	if f == FormJobSet && policy == spec.RetryApplication && !order.RetryOnTimeout {
		inJob = all // a restart creates the job again
	}
	if policy != "" && f != FormVolcano && inJob > 0 {
		d.job = seconds(inJob)
	}
	if all > 0 && (d.job == nil || *seconds(all) < *d.job) {
		d.pod = seconds(all)
	}
	return d
}

// shortest returns the smaller of two time limits; 0 is none.
func shortest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// seconds rounds a time limit up.
func seconds(d time.Duration) *int64 { return new(int64(math.Ceil(d.Seconds()))) }

func (b *builder) deadlines(role *spec.Role) deadlines { return deadlinesOf(b.in.App, role, b.form) }

// deadlineWarnings names the roles that a form retries although their time limit says
// otherwise.
func deadlineWarnings(app *spec.App, f Form) (lines []string) {
	limits, _ := app.Limits()
	for i := range app.Roles {
		role := &app.Roles[i]
		order, _ := role.Order()
		d := deadlinesOf(app, role, f)
		if d.pod == nil || retryPolicy(app, role, f) == "" || order.RetryOnTimeout &&
			(limits.Timeout == 0 || d.job != nil) {
			continue
		}
		lines = append(lines, fmt.Sprintf("gang=%s retries role %s after its time limit of %d s: each attempt has the limit", f, role.Name, *d.pod))
	}
	return lines
}

// setDeadlines replaces the deadlines of a request that was planned with other time limits.
func (r *Request) setDeadlines(app *spec.App) {
	f := r.Form()
	of := func(t *Template) deadlines {
		role, _ := strconv.Atoi(t.Labels[kube.LabelRoleIndex]) // checked
		d := deadlinesOf(app, &app.Roles[role], f)
		t.Spec.ActiveDeadlineSeconds = d.pod
		return d
	}
	for _, o := range r.Objects {
		switch o := o.(type) {
		case *VolcanoJob:
			for _, t := range VolcanoPods(&o.Spec) {
				of(t.Template)
			}
		case *JobSet:
			for i := range o.Spec.ReplicatedJobs {
				s := &o.Spec.ReplicatedJobs[i].Template.Spec
				s.ActiveDeadlineSeconds = of(&s.Template).job
			}
			o.Spec.FailurePolicy = failingOnDeadline(&o.Spec)
		case *Job:
			o.Spec.ActiveDeadlineSeconds = of(&o.Spec.Template).job
		}
	}
}

// failingOnDeadline returns the failure policy of a JobSet with failOnDeadline first if one
// of its jobs has a deadline.
func failingOnDeadline(s *kube.JobSetSpec) *kube.FailurePolicy {
	if s.FailurePolicy == nil {
		return nil // every failure fails it
	}
	p := *s.FailurePolicy
	p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r kube.FailureRule) bool { return r.Name == failOnDeadline.Name })
	if slices.ContainsFunc(s.ReplicatedJobs, func(j kube.ReplicatedJob) bool { return j.Template.Spec.ActiveDeadlineSeconds != nil }) {
		p.Rules = slices.Insert(p.Rules, 0, failOnDeadline)
	}
	return &p
}

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
