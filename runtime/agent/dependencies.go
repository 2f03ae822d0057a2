package agent

import (
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// ordersOf decodes the order of roles from their metadata, which planning has validated.
func ordersOf(app *spec.App) map[*spec.Role]spec.Order {
	all := map[*spec.Role]spec.Order{}
	for i := range app.Roles {
		if o, err := app.Roles[i].Order(); err == nil && (o.Ready != nil || len(o.DependsOn) > 0 || o.Sidecar || o.MaxParallel > 0 || o.Timeout > 0) {
			all[&app.Roles[i]] = o
		}
	}
	return all
}

// hasDependents reports whether another role waits for this one.
func (p *policy) hasDependents(role *spec.Role) bool {
	for _, o := range p.orders {
		for _, d := range o.DependsOn {
			if d.Role == role.Name {
				return true
			}
		}
	}
	return false
}

// dependenciesMet reports whether a wanted start can happen now; if not, startUnblocked
// returns the start later.
func (p *policy) dependenciesMet(r *replica, now time.Time) bool {
	r.blocked = p.blocker(r.role) != nil || !p.admit(r)
	if r.blocked {
		p.cancelUnreachable(now)
	}
	return !r.blocked
}

// admit reports whether a replica may start beside those of its role that run or are about
// to, and then counts it as one of them.
func (p *policy) admit(r *replica) bool {
	limit := p.orders[r.role].MaxParallel
	if limit == 0 || r.admitted {
		return true
	}
	r.admitted = limit > count(p.byRole[r.role], func(r *replica) bool {
		return r.state == spec.Running || r.state == spec.Pending && r.admitted
	})
	return r.admitted
}

// probePassed notes that an attempt is ready and returns what may start now.
func (p *policy) probePassed(r *replica, attempt int, now time.Time) []action {
	if r.state != spec.Running || r.attempt != attempt || r.killReason != "" {
		return nil
	}
	r.ready = true
	return p.startUnblocked(now)
}

// probeTimedOut ends an attempt that is not ready in time, which counts as a failure.
func (p *policy) probeTimedOut(r *replica, attempt int) []action {
	probe := p.orders[r.role].Ready
	if r.state != spec.Running || r.attempt != attempt || r.ready || r.stopping || probe == nil {
		return nil
	}
	r.killReason = fmt.Sprintf("not ready within %s (%s)", seconds(probe.Timeout), probe) + r.probeObstacle()
	return []action{{stop: r}}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// startUnblocked returns the starts of replicas that no longer wait for others, and cancels
// those whose dependencies can never be met.
func (p *policy) startUnblocked(now time.Time) (acts []action) {
	p.cancelUnreachable(now)
	for i := range p.app.Roles {
		blocked := p.blockedReplicas(&p.app.Roles[i])
		if len(blocked) == 0 || p.blocker(&p.app.Roles[i]) != nil {
			continue
		}
		for _, r := range blocked {
			if !p.admit(r) {
				break
			}
			r.blocked = false
			acts = append(acts, action{start: r})
		}
	}
	return acts
}

// cancelUnreachable cancels blocked replicas whose dependencies can never be met, which
// can make other dependencies unreachable.
func (p *policy) cancelUnreachable(now time.Time) {
	for changed := true; changed; {
		changed = false
		for i := range p.app.Roles {
			blocked := p.blockedReplicas(&p.app.Roles[i])
			if len(blocked) == 0 || !p.isUnreachable(&p.app.Roles[i]) {
				continue
			}
			for _, r := range blocked {
				p.cancelPending(r, now)
			}
			changed = true
		}
	}
}

// blockedReplicas returns the replicas of a role that wait for another role, or for others of
// their own.
func (p *policy) blockedReplicas(role *spec.Role) (blocked []*replica) {
	if o := p.orders[role]; len(o.DependsOn) == 0 && o.MaxParallel == 0 {
		return nil
	}
	for _, r := range p.byRole[role] {
		if r.blocked && r.state == spec.Pending {
			blocked = append(blocked, r)
		}
	}
	return blocked
}

// cancelPending cancels a replica that has not started.
func (p *policy) cancelPending(r *replica, now time.Time) {
	r.state, r.finishedAt = spec.Cancelled, &now
	if d := p.blocker(r.role); r.blocked && d != nil {
		r.msg = fmt.Sprintf("not started: it waited for %s", d)
	}
	r.blocked = false
}

// blocker returns the first unmet dependency of a role, nil if it may start.
func (p *policy) blocker(role *spec.Role) *spec.Dependency {
	for _, d := range p.orders[role].DependsOn {
		if met, _ := p.dependencyState(d); !met {
			return &d
		}
	}
	return nil
}

func (p *policy) isUnreachable(role *spec.Role) bool {
	for _, d := range p.orders[role].DependsOn {
		if _, possible := p.dependencyState(d); !possible {
			return true
		}
	}
	return false
}

// dependencyState reports whether a dependency is met, and whether it can still be met.
// It ignores replicas that an elastic role has lost for good.
func (p *policy) dependencyState(d spec.Dependency) (met, possible bool) {
	restarting := p.restarting()
	good, open := 0, 0
	for _, r := range p.byRole[p.app.Role(d.Role)] {
		switch {
		case restarting[r]:
			open++
		case r.satisfies(d.Condition):
			good++
		case !r.state.Terminal():
			open++
		}
	}
	need := requiredReplicas(p.app.Role(d.Role))
	enough := good >= need
	if d.Condition == spec.DependsSucceeded && need > 0 {
		return enough, good+open >= need
	}
	return enough && open == 0, good+open >= need
}

// satisfies reports whether a replica fulfills a condition. A replica that succeeded fulfills
// all conditions.
func (r *replica) satisfies(c spec.Condition) bool {
	runs := r.state == spec.Running && !r.stopping && r.killReason == ""
	switch {
	case r.state == spec.Succeeded:
		return true
	case c == spec.DependsStarted:
		return runs
	case c == spec.DependsReady:
		return runs && r.ready
	}
	return false
}

// probeObstacle returns why the probe of a replica cannot pass, as the end of a message.
func (r *replica) probeObstacle() string {
	if r.unreachable == "" {
		return ""
	}
	return ": " + r.unreachable
}

// waitReason returns a function that describes what a replica of the role waits for.
func (p *policy) waitReason(role *spec.Role) func(*replica) string {
	o, ok := p.orders[role]
	if !ok {
		return func(*replica) string { return "" }
	}
	blocker := p.blocker(role)
	return func(r *replica) string {
		switch {
		case r.state == spec.Pending && blocker != nil:
			return fmt.Sprintf("waits for %s", blocker)
		case r.state == spec.Pending && r.blocked:
			return fmt.Sprintf("waits: max_parallel is %d", o.MaxParallel)
		case r.state == spec.Running && o.Ready != nil && !r.ready && !r.stopping:
			return fmt.Sprintf("not ready yet (%s)", o.Ready) + r.probeObstacle()
		}
		return ""
	}
}
