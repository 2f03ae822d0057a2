package observe

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// status returns the app's status.
func (b *assessment) status() *spec.Status {
	s := &spec.Status{SubmittedAt: b.created, NumRestarts: b.restarts, Roles: []spec.RoleStatus{}}
	for i := range b.roles {
		s.Roles = append(s.Roles, spec.RoleStatus{Role: b.roles[i].name, Replicas: []spec.ReplicaStatus{}})
	}
	role := 0
	for _, r := range b.replicas {
		for b.roles[role].name != r.key.Role { // replicas are sorted by role
			role++
		}
		s.Roles[role].Replicas = append(s.Roles[role].Replicas, r.final)
		s.NumRestarts += b.ownRestarts(r)
		for i := range r.attempts {
			s.StartedAt = outcome.Earlier(s.StartedAt, r.attempts[i].status.StartedAt)
		}
		s.Past = append(s.Past, r.past()...)
	}
	slices.SortStableFunc(s.Past, func(x, y spec.ReplicaStatus) int { return outcome.CompareTimes(x.FinishedAt, y.FinishedAt) })
	s.Past = outcome.Newest(s.Past)
	s.Restarts = b.restartsAfter(s.Past)
	if r, ok := b.evictionRestart(); ok {
		s.Restarts = append(s.Restarts, r)
	}
	s.StructuredErrorMsg = outcome.ErrorFile(s)
	if ended, cancelled := b.ended(); ended {
		b.conclude(s, cancelled)
	} else {
		b.progress(s)
	}
	return s
}

// ownRestarts returns how often a replica restarted alone: by its controller, or within its
// pod by an overlay's restartPolicy OnFailure.
func (b *assessment) ownRestarts(r *replica) (n int) {
	a := r.last()
	if a == nil {
		return 0
	}
	if n = ignoredFailures(a.pod); r.unit.retries > 0 {
		n += failures(a.pod)
	}
	if c := decisiveContainer(a.pod); c != nil {
		n += int(c.RestartCount)
	}
	return n
}

// past returns the attempts before that of the replica's status. It skips pods that Volcano
// replaced within the same attempt.
func (r *replica) past() (all []spec.ReplicaStatus) {
	for i := range r.attempts {
		a, last := r.attempts[i], i == len(r.attempts)-1
		if last && r.final.Attempt > a.status.Attempt {
			return append(all, a.status) // it was disrupted
		}
		if last || a.status.Attempt == r.attempts[i+1].status.Attempt {
			continue
		}
		if a.wasDeleted() || !a.status.State.Terminal() {
			a.status.State = spec.Cancelled // stopped for a restart
			a.status.FinishedAt = cmp.Or(a.status.FinishedAt,
				timeOf(r.attempts[i+1].pod.CreationTimestamp))
		}
		if a.evicted && a.status.State != spec.Succeeded {
			a.status.State, a.status.Msg = spec.Cancelled, "stopped by Kueue"
		}
		all = append(all, a.status)
	}
	return all
}

// conclude completes the status of an app that has ended.
func (b *assessment) conclude(s *spec.Status, cancelled bool) {
	s.FinishedAt = b.endedAt
	for _, r := range b.replicas {
		s.FinishedAt = outcome.Later(s.FinishedAt, r.final.FinishedAt)
	}
	if cancelled {
		s.FinishedAt = outcome.Later(s.FinishedAt, b.cancelAt)
	}
	first, tooMany := b.firstFailure(), b.tooManyFailed()
	code := 0
	switch {
	case cancelled && b.cancelFailed:
		s.State, s.Msg, code = spec.Failed, b.cancelReason, spec.ExitNotStarted
	case cancelled:
		s.State, s.Msg, code = spec.Cancelled, cmp.Or(b.cancelReason, "cancelled"), spec.ExitCancelled
	case b.overran && first == nil:
		s.State, s.Msg, code = spec.Failed, spec.DeadlineText(b.jobDeadline), spec.ExitDeadline
	case tooMany || b.phase != succeeded && !b.enoughSucceeded():
		s.State, code = spec.Failed, codeUnknown
		s.Msg = b.failure(first)
		if first != nil && first.last() != nil && b.appOverran(first.last().pod) {
			s.Msg = spec.DeadlineText(deadline(first.last().pod))
		}
		if first != nil {
			s.FirstFailure = &first.final
			s.Lost = first.last() != nil && disruption(first.last().pod) != "" &&
				!b.appOverran(first.last().pod)
			if c := first.final.ExitCode; c != nil && *c != 0 {
				code = *c
			}
		}
	default:
		s.State = spec.Succeeded
	}
	s.ExitCode = &code
}

// appOverran reports whether a pod ended at the time limit of the app, not of its role.
func (b *assessment) appOverran(pod *corev1.Pod) bool {
	if b.seen.App == nil || !overran(pod) {
		return false
	}
	limits, err := b.seen.App.Limits()
	return err == nil && limits.Timeout > deadline(pod)-time.Second &&
		limits.Timeout <= deadline(pod)
}

// tooManyFailed reports whether more replicas of a role failed than it can lose.
func (b *assessment) tooManyFailed() bool {
	return b.anyRole(func(r *role, failed, _ int) bool { return failed > r.count-r.required })
}

// enoughSucceeded reports whether the required replicas of each role succeeded, regardless of
// the controller's result.
func (b *assessment) enoughSucceeded() bool {
	return !b.anyRole(func(r *role, _, succeeded int) bool { return succeeded < r.required })
}

// anyRole reports whether is returns true for a role, with its numbers of failed and
// succeeded replicas.
func (b *assessment) anyRole(is func(r *role, failed, succeeded int) bool) bool {
	for i := range b.roles {
		count := map[spec.State]int{}
		for _, r := range b.replicas {
			if r.key.Role == b.roles[i].name {
				count[r.final.State]++
			}
		}
		if is(&b.roles[i], count[spec.Failed], count[spec.Succeeded]) {
			return true
		}
	}
	return false
}

// firstFailure returns the replica that failed first, nil if none did. The cluster's times
// are whole seconds; within one second, an exit sorts before a signal.
func (b *assessment) firstFailure() (first *replica) {
	for _, r := range b.replicas {
		if r.final.State != spec.Failed {
			continue
		}
		if first == nil || cmp.Or(outcome.CompareTimes(r.final.FinishedAt, first.final.FinishedAt), len(r.final.Signal)-len(first.final.Signal)) < 0 {
			first = r
		}
	}
	return first
}

// failure describes the first failure.
func (b *assessment) failure(first *replica) string {
	if first == nil {
		if b.reason != "" && b.seen.PodsHidden {
			return b.reason + "; you may not list its pods, so the exit code is unknown"
		}
		if b.reason != "" && len(b.seen.Pods)+len(b.seen.Gone) == 0 {
			return b.reason + "; its pods are deleted, so the exit code is unknown"
		}
		return firstText(b.reason, "the cluster reports a failure without a cause")
	}
	return outcome.Message(&first.final)
}

// progress completes the status of an app that has not ended.
func (b *assessment) progress(s *spec.Status) {
	s.State = spec.Pending
	waits := 0
	for _, r := range b.replicas {
		switch {
		case r.final.State == spec.Pending:
			waits++
		case r.final.State == spec.Running, r.final.State.Terminal():
			s.State = spec.Running
		}
	}
	if b.isRemoved() {
		s.State, s.Msg = spec.Running, "is being removed with its namespace"
		return
	}
	if b.phase == ending || b.phase == active && waits == 0 || b.cancelled && b.isAlive() {
		s.State = spec.Running
	}
	if first := b.firstFailure(); first != nil && first.last() != nil && !b.retries &&
		b.tooManyFailed() && failures(first.last().pod) >= first.unit.retries {
		s.FirstFailure, s.Msg = &first.final, b.failure(first)
		return
	}
	switch {
	case b.cancelled:
		s.Msg = "is being canceled"
		if what := cmp.Or(b.trouble(), b.stopping()); what != "" {
			s.Msg += ": " + what
		}
	case b.deleting:
		s.Msg = "is being deleted"
	case b.incomplete != "":
		s.Msg = b.incomplete
	case waits > 0:
		s.Msg, s.Waiting, s.Blocked = b.waitReason(), b.isWaiting(), b.blocked()
	}
	s.Msg = cmp.Or(s.Msg, b.trouble(), b.stopping())
}

// stopping describes the pods that are in their grace period, and why.
func (b *assessment) stopping() string {
	stopping := slices.DeleteFunc(slices.Clone(b.replicas), func(r *replica) bool {
		a := r.last()
		return !a.isAlive() || a.pod.DeletionTimestamp == nil
	})
	var text string
	switch len(stopping) {
	case 0:
		return b.failing
	case 1:
		text = fmt.Sprintf("replica %s/%d is being stopped",
			stopping[0].key.Role, stopping[0].key.ID)
	default:
		text = fmt.Sprintf("%d of %d replicas are being stopped", len(stopping), len(b.replicas))
	}
	why := cmp.Or(b.failing, b.seen.evictionReason())
	if why == "" && !b.cancelled {
		why = b.seen.deactivation()
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

// trouble describes a problem of a replica that still runs.
func (b *assessment) trouble() string {
	for _, r := range b.replicas {
		a := r.last()
		if !a.isAlive() {
			continue
		}
		if text := cmp.Or(disruption(a.pod), unreadyNode(a.pod)); text != "" {
			return fmt.Sprintf("replica %s/%d: %s", r.key.Role, r.key.ID, text)
		}
		if c := decisiveContainer(a.pod); c != nil && c.State.Waiting != nil && c.RestartCount > 0 {
			return fmt.Sprintf("replica %s/%d waits for its restart: %s", r.key.Role, r.key.ID,
				firstText(c.State.Waiting.Message, c.State.Waiting.Reason))
		}
	}
	return ""
}

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
