package observe

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// assessment is an observation with the app's replicas and their attempts.
type assessment struct {
	seen *Observation
	*workload
	replicas []*replica // by role and number
}

// replica is one replica and the pods that ran it.
type replica struct {
	key      spec.Replica
	unit     *unit // nil if the controller has no template for it
	index    int
	expired  spec.State // by the Job that ttl_seconds has deleted, Unknown if there is none
	attempts []attempt  // oldest first
	final    spec.ReplicaStatus
}

// attempt is one pod of a replica.
type attempt struct {
	pod    *corev1.Pod
	gone   bool
	status spec.ReplicaStatus
	// evicted means that Kueue suspended the app after this attempt.
	evicted bool
}

// last returns the latest attempt, nil if no pod is known.
func (r *replica) last() *attempt {
	if len(r.attempts) == 0 {
		return nil
	}
	return &r.attempts[len(r.attempts)-1]
}

// isAlive reports whether the pod may still run.
func (a *attempt) isAlive() bool {
	return a != nil && !a.gone && !a.status.State.Terminal() && a.pod.Status.Reason != "NodeLost"
}

// wasDeleted reports whether the attempt ended because its pod was deleted, by the controller
// or another client.
func (a *attempt) wasDeleted() bool {
	if a == nil || disruption(a.pod) != "" {
		return false
	}
	if !a.status.State.Terminal() {
		return a.gone
	}
	return wasStopped(a.pod, a.status.Signal != "")
}

// wasDisrupted reports whether an attempt was ended from outside, which restarts the replica
// without counting as a failure.
func (r *replica) wasDisrupted(a *attempt) bool {
	if r.unit == nil || !r.unit.disruptions.free || a.status.State != spec.Failed ||
		overran(a.pod) || disruption(a.pod) == "" {
		return false
	}
	return a.gone || a.pod.DeletionTimestamp != nil || !r.unit.disruptions.onlyDeleted
}

// assess sorts the pods by replica and attempt.
func (s *Observation) assess() *assessment {
	b := &assessment{seen: s, workload: s.workload()}
	byKey := map[spec.Replica]*replica{}
	for i := range b.roles {
		for id := range b.roles[i].count {
			r := &replica{key: spec.Replica{Role: b.roles[i].name, ID: id}, expired: s.expiredState(i, b.roles[i].count)}
			byKey[r.key] = r
			b.replicas = append(b.replicas, r)
		}
	}
	for _, u := range b.units {
		for n := range u.count {
			if r := byKey[spec.Replica{Role: b.roles[u.role].name, ID: u.base + n}]; r != nil {
				r.unit, r.index = u, n
			}
		}
	}
	b.add(byKey, b.seen.Pods, false)
	b.add(byKey, b.seen.Gone, true)
	for _, r := range b.replicas {
		if b.evictions > 0 {
			r.countEvictions(b.evictions, s.eviction())
		}
		slices.SortStableFunc(r.attempts, func(x, y attempt) int {
			return cmp.Or(cmp.Compare(x.status.Attempt, y.status.Attempt),
				x.pod.CreationTimestamp.Compare(y.pod.CreationTimestamp.Time))
		})
		r.final = r.provisional(b)
	}
	b.completeReplicas()
	if ended, _ := b.ended(); !ended {
		b.addOrder()
	}
	return b
}

func (b *assessment) add(byKey map[spec.Replica]*replica, pods []corev1.Pod, gone bool) {
	for i := range pods {
		pod := &pods[i]
		u, index := b.unitOf(pod)
		if u == nil {
			continue
		}
		r := byKey[spec.Replica{Role: b.roles[u.role].name, ID: u.base + index}]
		if r == nil {
			continue
		}
		s := podStatus(pod)
		s.Role, s.ID, s.Attempt = r.key.Role, r.key.ID, b.attempt(u, pod)
		r.attempts = append(r.attempts, attempt{pod: pod, gone: gone, status: s})
	}
}

// expiredState returns the state of the replicas of a role whose Job ttl_seconds has deleted,
// Unknown if it is not known.
func (s *Observation) expiredState(role, replicas int) spec.State {
	e, ok := s.Expired[role]
	if !ok || e.State == spec.Failed && replicas > 1 {
		return spec.Unknown
	}
	return e.State
}

// provisional returns a replica's status before the result of the app is known.
func (r *replica) provisional(b *assessment) spec.ReplicaStatus {
	a := r.last()
	if a == nil {
		s := spec.ReplicaStatus{Role: r.key.Role, ID: r.key.ID, State: spec.Pending, Attempt: b.firstAttempt(r)}
		if r.expired != spec.Unknown {
			b.completeMissing(r, &s, false)
		}
		if r.unit != nil && r.unit.failing {
			if s.State = r.countedState(); s.State == spec.Unknown {
				s.State = spec.Cancelled
			}
		}
		if b.seen.PodsHidden && b.phase == active {
			s.State = r.countedState()
		}
		return s
	}
	s := a.status
	switch {
	case a.gone && !s.State.Terminal():
		s.State, s.Msg = spec.Pending, "its pod was deleted"
	case a.wasDeleted():
		// The reason, and whether a retry follows, are known only when the controller has reacted.
		s.State, s.ExitCode, s.Signal, s.FinishedAt = spec.Running, nil, "", nil
	case r.wasDisrupted(a):
		// The controller creates the next attempt.
		return spec.ReplicaStatus{Role: s.Role, ID: s.ID, State: spec.Pending, Attempt: s.Attempt + 1, Msg: s.Msg}
	}
	return s
}

// firstAttempt returns the attempt of a replica without pods.
func (b *assessment) firstAttempt(r *replica) int {
	if r.unit == nil {
		return 0
	}
	return b.restarts * (r.unit.retries + 1)
}

func (b *assessment) isAlive() bool {
	return slices.ContainsFunc(b.replicas, func(r *replica) bool { return r.last().isAlive() })
}

// ended reports whether the app has ended, and whether by a cancellation.
func (b *assessment) ended() (ended, cancelled bool) {
	stopped := b.cancelled && b.suspended && b.idle
	if !b.phase.ended() && !stopped || b.isAlive() || b.isRemoved() {
		return false, false
	}
	return true, b.phase == aborted || stopped || b.cancelled && b.phase == failed &&
		!b.failedBeforeCancel()
}

// isRemoved reports whether the app ended because its namespace is being removed.
func (b *assessment) isRemoved() bool {
	at := b.seen.NamespaceRemoved
	return at != nil && (b.endedAt == nil || !b.endedAt.Before(*at))
}

// failedBeforeCancel reports whether a replica had failed before the cancellation.
func (b *assessment) failedBeforeCancel() bool {
	if b.cancelAt == nil {
		return false
	}
	return slices.ContainsFunc(b.replicas, func(r *replica) bool {
		a := r.last()
		return a != nil && a.status.State == spec.Failed && !a.wasDeleted() &&
			a.status.FinishedAt != nil && a.status.FinishedAt.Before(*b.cancelAt)
	})
}

// completeReplicas completes the status of replicas of an app that has ended.
func (b *assessment) completeReplicas() {
	ended, cancelled := b.ended()
	if !ended {
		return
	}
	anyFailed := slices.ContainsFunc(b.replicas, func(r *replica) bool {
		a := r.last()
		return a != nil && a.status.State == spec.Failed && !a.wasDeleted() || a == nil &&
			r.countedState() == spec.Failed
	})
	// A JobSet does not say why a job failed: with a deadline, its pods are only deleted.
	b.overran = b.overran || b.seen.JobSet != nil && b.phase == failed && !cancelled &&
		!anyFailed && b.jobDeadline > 0
	for _, r := range b.replicas {
		switch a := r.last(); {
		case a == nil:
			b.completeMissing(r, &r.final, cancelled || b.overran)
		case r.wasDisrupted(a):
			r.final = a.status
			if cancelled {
				r.final.State = spec.Cancelled
			}
		case !a.wasDeleted():
		default:
			r.final = a.status
			r.final.State, r.final.Msg = spec.Failed, "its pod was deleted"
			if cancelled || anyFailed || b.overran || b.phase == succeeded {
				r.final.State, r.final.Msg = spec.Cancelled, ""
			}
		}
		if r.final.State == spec.Cancelled || r.final.State == spec.Failed {
			r.final.FinishedAt = cmp.Or(r.final.FinishedAt, b.endedAt)
		}
	}
}

// countedState returns a replica's state by its controller's counts, Unknown if they do not
// determine it.
func (r *replica) countedState() spec.State {
	if r.unit == nil {
		return r.expired
	}
	return r.unit.outcome(r.index)
}

// completeMissing sets the final status of a replica without pods, from the controller's counts.
func (b *assessment) completeMissing(r *replica, final *spec.ReplicaStatus, cancelled bool) {
	switch state := r.countedState(); {
	case state == spec.Succeeded, state == spec.Unknown && b.phase == succeeded && b.needsAll():
		final.State, final.ExitCode = spec.Succeeded, new(0)
	case state == spec.Failed && !cancelled:
		final.State, final.Msg = spec.Failed, "its pod was deleted, so its exit code is unknown"
		if b.seen.PodsHidden {
			final.Msg = "you may not read its pod, so its exit code is unknown"
		}
	case b.phase == succeeded, b.seen.PodsHidden && !cancelled:
		final.State = spec.Unknown
	default:
		final.State = spec.Cancelled
	}
}

// needsAll reports whether every replica must succeed.
func (b *assessment) needsAll() bool {
	return !slices.ContainsFunc(b.roles, func(r role) bool { return r.required < r.count })
}
