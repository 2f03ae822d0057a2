package agent

import (
	"slices"
	"time"

	"torchx/runtime/spec"
)

// Back-off before a restart: it doubles from backoffFirst to backoffMax (the figures of
// Docker's restart policy) and varies by up to backoffJitter (nomad's figure), so that apps
// that failed together do not restart together.
const (
	backoffFirst  = 100 * time.Millisecond
	backoffMax    = time.Minute
	backoffJitter = 0.25
)

// backoff returns the wait before the n-th restart, from 1, with jitter.
func (p *policy) backoff(n int) time.Duration {
	d := backoffFirst
	for range n - 1 {
		d = min(2*d, backoffMax)
	}
	if p.random == nil {
		return d
	}
	return time.Duration(float64(d) * (1 - backoffJitter + 2*backoffJitter*p.random()))
}

// retry restarts replicas by the role's policy if retries are left. The restart of a lost
// replica does not count, but needs a role with retries.
func (p *policy) retry(r *replica, lost bool) (acts []action, retried bool) {
	restarting := p.restarting()[r]
	if p.isEnding() || p.cannotSucceed || restarting {
		return nil, restarting
	}
	spent, replicas := &p.appRestarts, p.unfinished()
	switch r.role.RetryPolicy {
	case spec.RetryReplica:
		spent, replicas = &r.restarts, []*replica{r}
	case spec.RetryRole:
		spent, replicas = p.roleRestarts[r.role], p.byRole[r.role]
	}
	if r.role.RetryPolicy != spec.RetryReplica && p.hasEnough(r.role) {
		return nil, false
	}
	nth := 1
	switch {
	case lost && r.role.MaxRetries > 0:
	case *spent >= r.role.MaxRetries:
		return nil, false
	default:
		*spent++
		nth = *spent
	}
	s := r.status()
	restart := spec.RestartOf(&s, r.role.RetryPolicy, *spent, r.role.MaxRetries)
	restart.Free = lost
	p.announced = append(p.announced, restart)
	return p.restart(replicas, nth), true
}

// unfinished returns the replicas that restart with the app: all but those of a role that
// has succeeded and whose success others waited for.
func (p *policy) unfinished() []*replica {
	finished := map[string]bool{}
	for _, o := range p.orders {
		for _, d := range o.DependsOn {
			if d.Condition == spec.DependsSucceeded {
				finished[d.Role], _ = p.dependencyState(d)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.replicas), func(r *replica) bool { return finished[r.key.Role] })
}

// restarting returns the replicas that restart once all of their group have ended.
func (p *policy) restarting() map[*replica]bool {
	in := map[*replica]bool{}
	for _, g := range p.restartGroups {
		for _, r := range g.replicas {
			in[r] = true
		}
	}
	return in
}

// hasEnough reports whether an elastic role can continue without its failed replicas; then
// nothing is stopped for a restart.
func (p *policy) hasEnough(role *spec.Role) bool {
	return role.MinReplicas != nil && p.countAlive(role) >= requiredReplicas(role)
}

// restart stops the running replicas and schedules the restart of all of them.
func (p *policy) restart(replicas []*replica, nth int) (acts []action) {
	p.restartGroups = slices.DeleteFunc(p.restartGroups, func(g *restartGroup) bool {
		return slices.ContainsFunc(g.replicas, func(r *replica) bool { return slices.Contains(replicas, r) })
	})
	p.restartGroups = append(p.restartGroups, &restartGroup{replicas: replicas, delay: p.backoff(nth)})
	for _, r := range replicas {
		acts = append(acts, r.stop()...)
	}
	return acts
}

// startRestartGroups starts the groups whose replicas have all ended.
func (p *policy) startRestartGroups() (acts []action) {
	var waiting []*restartGroup
	for _, g := range p.restartGroups {
		if slices.ContainsFunc(g.replicas, func(r *replica) bool { return r.state == spec.Running }) {
			waiting = append(waiting, g)
			continue
		}
		for _, r := range g.replicas {
			if r.hasStarted { // otherwise its requested start is still pending
				p.pastAttempts = append(p.pastAttempts, r.status())
				r.nextAttempt, r.hasStarted, r.result = r.attempt+1, false, result{}
			}
			r.state, r.blocked, r.restartGroup = spec.Pending, false, g
			acts = append(acts, action{start: r, delay: g.delay})
		}
	}
	p.restartGroups = waiting
	return acts
}

// countRestart counts the restart that a start belongs to, once; a restart that was
// canceled before is never counted.
func (p *policy) countRestart(r *replica) {
	if r.restartGroup != nil && !r.restartGroup.counted {
		r.restartGroup.counted = true
		p.restarts++
	}
	r.restartGroup = nil
}
