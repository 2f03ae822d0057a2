package manifest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
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
		if d.pod == nil || retryPolicy(app, role, f) == "" || order.RetryOnTimeout && (limits.Timeout == 0 || d.job != nil) {
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
		role, _ := strconv.Atoi(t.Labels[label.RoleIndex]) // checked
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
