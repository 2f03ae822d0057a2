package policy

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
func (p *Policy) backoff(n int) time.Duration {
	d := backoffFirst
	for range n - 1 {
		d = min(2*d, backoffMax)
	}
	if p.Random == nil {
		return d
	}
	return time.Duration(float64(d) * (1 - backoffJitter + 2*backoffJitter*p.Random()))
}

// retry restarts replicas by the role's policy if retries are left. The restart of a lost
// replica does not count, but needs a role with retries.
func (p *Policy) retry(r *Replica, lost bool) (acts []Action, retried bool) {
	restarting := p.restarting()[r]
	if p.isEnding() || p.CannotSucceed || restarting {
		return nil, restarting
	}
	spent, replicas := &p.appRestarts, p.unfinished()
	switch r.Role.RetryPolicy {
	case spec.RetryReplica:
		spent, replicas = &r.restarts, []*Replica{r}
	case spec.RetryRole:
		spent, replicas = p.roleRestarts[r.Role], p.byRole[r.Role]
	}
	if r.Role.RetryPolicy != spec.RetryReplica && p.hasEnough(r.Role) {
		return nil, false
	}
	nth := 1
	switch {
	case lost && r.Role.MaxRetries > 0:
	case *spent >= r.Role.MaxRetries:
		return nil, false
	default:
		*spent++
		nth = *spent
	}
	s := r.status()
	restart := spec.RestartOf(&s, r.Role.RetryPolicy, *spent, r.Role.MaxRetries)
	restart.Free = lost
	p.announced = append(p.announced, restart)
	return p.restart(replicas, nth), true
}

// unfinished returns the replicas that restart with the app: all but those of a role that
// has succeeded and whose success others waited for.
func (p *Policy) unfinished() []*Replica {
	finished := map[string]bool{}
	for _, o := range p.Orders {
		for _, d := range o.DependsOn {
			if d.Condition == spec.DependsSucceeded {
				finished[d.Role], _ = p.dependencyState(d)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Replicas), func(r *Replica) bool { return finished[r.Key.Role] })
}

// restarting returns the replicas that restart once all of their group have ended.
func (p *Policy) restarting() map[*Replica]bool {
	in := map[*Replica]bool{}
	for _, g := range p.restartGroups {
		for _, r := range g.replicas {
			in[r] = true
		}
	}
	return in
}

// hasEnough reports whether an elastic role can continue without its failed replicas; then
// nothing is stopped for a restart.
func (p *Policy) hasEnough(role *spec.Role) bool {
	return role.MinReplicas != nil && p.countAlive(role) >= requiredReplicas(role)
}

// restart stops the running replicas and schedules the restart of all of them.
func (p *Policy) restart(replicas []*Replica, nth int) (acts []Action) {
	p.restartGroups = slices.DeleteFunc(p.restartGroups, func(g *restartGroup) bool {
		return slices.ContainsFunc(g.replicas, func(r *Replica) bool { return slices.Contains(replicas, r) })
	})
	p.restartGroups = append(p.restartGroups,
		&restartGroup{replicas: replicas, delay: p.backoff(nth)})
	for _, r := range replicas {
		acts = append(acts, r.stop()...)
	}
	return acts
}

// startRestartGroups starts the groups whose replicas have all ended.
func (p *Policy) startRestartGroups() (acts []Action) {
	var waiting []*restartGroup
	for _, g := range p.restartGroups {
		if slices.ContainsFunc(g.replicas, func(r *Replica) bool { return r.State == spec.Running }) {
			waiting = append(waiting, g)
			continue
		}
		for _, r := range g.replicas {
			if r.hasStarted { // otherwise its requested start is still pending
				p.pastAttempts = append(p.pastAttempts, r.status())
				r.NextAttempt, r.hasStarted, r.result = r.Attempt+1, false, result{}
			}
			r.State, r.blocked, r.restartGroup = spec.Pending, false, g
			acts = append(acts, Action{Start: r, Delay: g.delay})
		}
	}
	p.restartGroups = waiting
	return acts
}

// countRestart counts the restart that a start belongs to, once; a restart that was
// canceled before is never counted.
func (p *Policy) countRestart(r *Replica) {
	if r.restartGroup != nil && !r.restartGroup.counted {
		r.restartGroup.counted = true
		p.restarts++
	}
	r.restartGroup = nil
}

// PortRound changes when a role gets new ports: with the restarts of the app, and with its own
// unless other roles wait for it, since those would keep using the old ports.
func (p *Policy) PortRound(role *spec.Role) int {
	if p.hasDependents(role) {
		return p.appRestarts
	}
	return p.appRestarts + *p.roleRestarts[role]
}
