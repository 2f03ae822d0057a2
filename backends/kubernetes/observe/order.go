package observe

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// addOrder says of replicas what they wait for by the order of the app, and whether they are ready,
// in the words of package agent.
func (b *assessment) addOrder() {
	if b.seen.JobSet == nil || b.seen.App == nil || !b.seen.App.Ordered() {
		return
	}
	for i := range b.seen.App.Roles {
		role := &b.seen.App.Roles[i]
		order, err := role.Order()
		if err != nil {
			continue
		}
		blocker := b.blocker(order)
		for _, r := range b.replicas {
			if r.key.Role != role.Name || r.final.Msg != "" {
				continue
			}
			switch a := r.last(); {
			case a == nil && r.final.State == spec.Pending && blocker != nil:
				r.final.Msg = fmt.Sprintf("waits for %s", blocker)
			case a != nil && r.final.State == spec.Running && order.Ready != nil && hasProbe(a.pod) && !isReady(a.pod):
				r.final.Msg = fmt.Sprintf("not ready yet (%s)", order.Ready)
			}
		}
	}
}

// blocker returns the first dependency that is not met, nil if all are.
func (b *assessment) blocker(o spec.Order) *spec.Dependency {
	for i := range o.DependsOn {
		d := &o.DependsOn[i]
		for _, r := range b.replicas {
			if r.key.Role == d.Role && !r.meets(d.Condition) {
				return d
			}
		}
	}
	return nil
}

// meets reports whether a replica has reached a condition.
func (r *replica) meets(c spec.Condition) bool {
	switch {
	case r.final.State == spec.Succeeded:
		return true
	case c == spec.DependsSucceeded || r.final.State != spec.Running:
		return false
	}
	a := r.last()
	return c == spec.DependsStarted || a != nil && isReady(a.pod)
}

func hasProbe(pod *corev1.Pod) bool {
	return len(pod.Spec.Containers) > 0 && pod.Spec.Containers[0].ReadinessProbe != nil
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// orderReason describes what the first replica waits for by the order of the app, "" if none does.
func (b *assessment) orderReason() string {
	for _, r := range b.replicas {
		if r.final.State == spec.Pending && r.last() == nil && r.final.Msg != "" {
			return fmt.Sprintf("role %s %s", r.key.Role, r.final.Msg)
		}
	}
	return ""
}
