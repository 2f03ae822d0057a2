package observe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/humanize"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// Conditions of a Kueue Workload, and reasons (kueue, apis/kueue/v1beta2).
const (
	quotaReserved = "QuotaReserved"
	admitted      = "Admitted"
	evicted       = "Evicted"
	preempted     = "Preempted"
	deactivated   = "Deactivated" // a prefix of reasons: by a client, as by a cancellation
)

// Queued reports whether Kueue manages the app.
func (s *Observation) Queued() bool { return s.workload().queue != "" }

// Suspended reports whether the app is suspended, as Kueue does until it admits the app.
func (s *Observation) Suspended() bool { return s.workload().suspended }

// evictions returns how often Kueue took back the quota of an app: it suspends the app, and
// starts it again when it is admitted again. A cancellation does not count.
func (s *Observation) evictions() (n int) {
	for i := range s.Workloads {
		of := 0
		for _, e := range s.Workloads[i].Status.SchedulingStats.Evictions {
			if !strings.HasPrefix(e.Reason, deactivated) {
				of += int(e.Count)
			}
		}
		n = max(n, of)
	}
	return n
}

// eviction returns the condition of the last eviction, nil if none is known. When the app is
// admitted again, Kueue sets its status to False and its time to that of the admission.
func (s *Observation) eviction() (last *metav1.Condition) {
	for i := range s.Workloads {
		all := s.Workloads[i].Status.Conditions
		c := meta.FindStatusCondition(all, evicted)
		if c != nil && strings.HasPrefix(c.Reason, deactivated) {
			c = beforeDeactivation(&s.Workloads[i], c)
		}
		if c != nil && (last == nil || last.LastTransitionTime.Before(&c.LastTransitionTime)) {
			last = c
		}
	}
	return last
}

// beforeDeactivation returns what the condition of the last eviction was before a client
// deactivated the app, as a cancellation does, nil if there was none. Its time is zero if it is
// not known.
func beforeDeactivation(w *kube.Workload, now *metav1.Condition) *metav1.Condition {
	before := *now
	before.Reason = ""
	for _, e := range w.Status.SchedulingStats.Evictions {
		if !strings.HasPrefix(e.Reason, deactivated) {
			before.Reason, before.Message = e.Reason, e.Reason
		}
	}
	quota := meta.FindStatusCondition(w.Status.Conditions, quotaReserved)
	preemption := meta.FindStatusCondition(w.Status.Conditions, preempted)
	switch {
	case before.Reason == "":
		return nil
	case before.Reason == preempted && preemption != nil:
		before.Status, before.Message, before.LastTransitionTime = preemption.Status, preemption.Message, preemption.LastTransitionTime
	case quota != nil && quota.Status == metav1.ConditionTrue:
		before.Status, before.LastTransitionTime = metav1.ConditionFalse, quota.LastTransitionTime
	case quota != nil && !quota.LastTransitionTime.Before(&now.LastTransitionTime): // it ran when it was deactivated
		before.Status, before.LastTransitionTime = metav1.ConditionFalse, metav1.Time{}
	}
	return &before
}

// kueueDetails matches what Kueue's messages say about objects that users do not know.
var kueueDetails = pattern.Lazy(`^Previously: |^Preempted | \(UID: [^)]*\)|; preemptor path:.*$|couldn't assign flavors to pod set [^:]*: `)

// kueueBytes matches amounts of memory, which Kueue writes in bytes.
var kueueBytes = pattern.Lazy(`[ (][0-9]{7,}\b`)

func kueueText(message string) string {
	text := kueueDetails().ReplaceAllString(plain(message), "")
	text = kueueDetails().ReplaceAllString(strings.ReplaceAll(text, "doesn't exist", "does not exist"), "")
	return kueueBytes().ReplaceAllStringFunc(text, func(number string) string {
		n, err := strconv.ParseUint(number[1:], 10, 64)
		if err != nil {
			return number
		}
		return number[:1] + humanize.RoundBytes(n)
	})
}

// evictionText describes an eviction.
func evictionText(c *metav1.Condition) string {
	if c.Reason == preempted || strings.Contains(c.Message, preempted+" to ") {
		return "preempted by Kueue " + kueueText(c.Message)
	}
	return "stopped by Kueue: " + kueueText(c.Message)
}

// evictionReason describes the eviction whose pods are being stopped, "" if there is none.
func (s *Observation) evictionReason() string {
	if c := s.eviction(); c != nil && c.Status == metav1.ConditionTrue {
		return evictionText(c)
	}
	return ""
}

// deactivation describes that a client deactivated the app in Kueue, "" if none did.
func (s *Observation) deactivation() string {
	for i := range s.Workloads {
		c := meta.FindStatusCondition(s.Workloads[i].Status.Conditions, evicted)
		if c != nil && c.Status == metav1.ConditionTrue &&
			strings.HasPrefix(c.Reason, deactivated) {
			return evictionText(c)
		}
	}
	return ""
}

// kueueReason describes what a suspended app with a Kueue queue waits for.
func (b *assessment) kueueReason() string {
	text := ""
	for i := range b.seen.Workloads {
		all := b.seen.Workloads[i].Status.Conditions
		if c := meta.FindStatusCondition(all, quotaReserved); c != nil &&
			c.Status == metav1.ConditionFalse {
			text = firstText(text, kueueText(c.Message))
		} else if c := meta.FindStatusCondition(all, admitted); c != nil &&
			c.Status == metav1.ConditionFalse {
			text = firstText(text, kueueText(c.Message))
		}
	}
	if text == "" {
		text = fmt.Sprintf("waits for Kueue to admit it from queue %s", b.queue)
	} else {
		text = fmt.Sprintf("waits in Kueue queue %s: %s", b.queue, text)
	}
	if why := b.seen.evictionReason(); why != "" {
		text += " (" + why + ")"
	}
	return text
}

// countEvictions numbers the attempts of a replica of an app that Kueue evicted n times: its
// controllers count from 0 again after each. Attempts before the last n are not known.
func (r *replica) countEvictions(n int, last *metav1.Condition) {
	if last == nil || r.unit == nil {
		return
	}
	slices.SortStableFunc(r.attempts, func(x, y attempt) int { return x.pod.CreationTimestamp.Compare(y.pod.CreationTimestamp.Time) })
	admission, after := n, (*attempt)(nil)
	for i := len(r.attempts) - 1; i >= 0; i-- {
		a := &r.attempts[i]
		number := a.status.Attempt
		isOld := last.Status == metav1.ConditionTrue ||
			a.pod.CreationTimestamp.Before(&last.LastTransitionTime)
		if after == nil && isOld || after != nil && admission == n && isOld || after != nil &&
			number >= after.status.Attempt-admission*(r.unit.retries+1) {
			admission = max(0, admission-1)
		}
		a.status.Attempt = number + admission*(r.unit.retries+1)
		a.evicted = admission < n
		after = a
	}
}

// evictedAttempts returns the attempts of the pods of an app that Kueue evicted.
func (s *Observation) evictedAttempts(v *workload) map[types.UID]int {
	if v.evictions == 0 {
		return nil
	}
	numbers := map[types.UID]int{}
	for _, r := range s.assess().replicas {
		for i := range r.attempts {
			numbers[r.attempts[i].pod.UID] = r.attempts[i].status.Attempt
		}
	}
	return numbers
}

// evictionRestart returns the restart that follows the last eviction.
func (b *assessment) evictionRestart() (r spec.Restart, ok bool) {
	c := b.seen.eviction()
	if b.evictions == 0 || c == nil || len(b.replicas) == 0 || b.replicas[0].unit == nil {
		return r, false
	}
	one := b.replicas[0]
	at := c.LastTransitionTime.Time
	if at.IsZero() && len(one.attempts) > 0 {
		at = one.attempts[len(one.attempts)-1].pod.CreationTimestamp.Time
	}
	for i := range one.attempts {
		if a := &one.attempts[i]; a.evicted && a.status.FinishedAt != nil {
			at = *a.status.FinishedAt
		}
	}
	return spec.Restart{
		Time: at.UTC().Truncate(time.Second), Role: one.key.Role, Replica: one.key.ID,
		Attempt: b.firstAttempt(one) - 1, Msg: evictionText(c), Policy: spec.RetryApplication, Free: true,
	}, true
}
