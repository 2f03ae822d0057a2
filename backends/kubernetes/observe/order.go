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
			case a != nil && r.final.State == spec.Running && order.Ready != nil && !isReady(a.pod):
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

// isReady reports whether a pod is ready; one without a probe is when it runs.
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

// restartsAfter returns the restarts that followed failed attempts, which are sorted by
// time. It misses restarts of pods that were deleted before a client read them.
func (b *assessment) restartsAfter(past []spec.ReplicaStatus) (all []spec.Restart) {
	type key struct {
		spec.Replica
		attempt int
	}
	disrupted, alone := map[key]bool{}, map[string]bool{}
	retries := map[string]int{} // of each replica of a role
	for _, u := range b.units {
		retries[b.roles[u.role].name], alone[b.roles[u.role].name] = u.retries, u.disruptions.alone
	}
	for _, r := range b.replicas {
		for i := range r.attempts {
			if a := &r.attempts[i]; r.wasDisrupted(a) && (b.seen.Volcano == nil || b.maxRestarts == 0) { // Volcano counts all
				disrupted[key{r.key, a.status.Attempt}] = true
			}
		}
	}
	free := map[spec.Replica]int{} // attempts of a replica that did not count
	freeApp := 0                   // restarts of the app that did not count
	restarted := map[int]bool{}    // attempts of the app after which all of it restarted
	for i := range past {
		f := &past[i]
		if f.State != spec.Failed {
			continue
		}
		one := spec.Replica{Role: f.Role, ID: f.ID}
		replicaRetries, isFree := retries[f.Role], disrupted[key{one, f.Attempt}]
		counted := f.Attempt - free[one]
		appAttempt, replicaAttempt := f.Attempt/(replicaRetries+1), counted%(replicaRetries+1)
		switch {
		case isFree && alone[f.Role]:
			free[one]++
			r := spec.RestartOf(f, spec.RetryReplica, replicaAttempt, replicaRetries)
			r.Free = true
			all = append(all, r)
		case replicaAttempt < replicaRetries:
			all = append(all, spec.RestartOf(f, spec.RetryReplica, replicaAttempt+1, replicaRetries))
		case !restarted[appAttempt]:
			restarted[appAttempt] = true
			r := spec.RestartOf(f, spec.RetryApplication,
				max(1, appAttempt+1-freeApp-b.evictions), b.maxRestarts)
			if isFree {
				freeApp++
				r.Free, r.Retry = true, r.Retry-1
			}
			all = append(all, r)
		}
	}
	return all
}
