package agent

import (
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// overdueCode is the exit code of a replica that was ended because it was not
// ready in time, whatever it made of the request to end: that of timeout(1).
const exitProbeTimeout = 124

// ordersOf reads what the roles' metadata says; it was checked when the app was
// planned.
func ordersOf(app *spec.App) map[*spec.Role]spec.Order {
	all := map[*spec.Role]spec.Order{}
	for i := range app.Roles {
		if o, err := app.Roles[i].Order(); err == nil && (o.Ready != nil || len(o.DependsOn) > 0) {
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

// admit reports whether the time for a wanted start has come; if not, unblocked
// asks for it again.
func (p *policy) dependenciesMet(r *replica, now time.Time) bool {
	r.blocked = p.blocker(r.role) != nil
	if r.blocked {
		p.cancelUnreachable(now)
	}
	return !r.blocked
}

// passed notes that an attempt is ready and answers what may start now.
func (p *policy) probePassed(r *replica, attempt int, now time.Time) []action {
	if r.state != spec.Running || r.attempt != attempt || r.killReason != "" {
		return nil
	}
	r.ready = true
	return p.startUnblocked(now)
}

// late ends an attempt that has not become ready in time; that is a failure.
func (p *policy) probeTimedOut(r *replica, attempt int) []action {
	probe := p.orders[r.role].Ready
	if r.state != spec.Running || r.attempt != attempt || r.ready || r.stopping || probe == nil {
		return nil
	}
	r.killReason = fmt.Sprintf("not ready within %s (%s)", seconds(probe.Timeout), probe)
	return []action{{stop: r}}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// unblocked asks for the starts of those whose wait is over, and gives up on
// those whose wait is in vain.
func (p *policy) startUnblocked(now time.Time) (acts []action) {
	p.cancelUnreachable(now)
	for i := range p.app.Roles {
		held := p.blockedReplicas(&p.app.Roles[i])
		if len(held) == 0 || p.blocker(&p.app.Roles[i]) != nil {
			continue
		}
		for _, r := range held {
			r.blocked = false
			acts = append(acts, action{start: r})
		}
	}
	return acts
}

// giveUp cancels those that wait for what can never be. The end of one role may
// be that of the next.
func (p *policy) cancelUnreachable(now time.Time) {
	for again := true; again; {
		again = false
		for i := range p.app.Roles {
			held := p.blockedReplicas(&p.app.Roles[i])
			if len(held) == 0 || !p.isUnreachable(&p.app.Roles[i]) {
				continue
			}
			for _, r := range held {
				p.cancelPending(r, now)
			}
			again = true
		}
	}
}

// heldOf returns the replicas of a role that wait for another role.
func (p *policy) blockedReplicas(role *spec.Role) (held []*replica) {
	if len(p.orders[role].DependsOn) == 0 {
		return nil
	}
	for _, r := range p.replicasOf(role) {
		if r.blocked && r.state == spec.Pending {
			held = append(held, r)
		}
	}
	return held
}

// neverStarts cancels a replica that was to be started.
func (p *policy) cancelPending(r *replica, now time.Time) {
	r.state, r.finishedAt = spec.Cancelled, &now
	if d := p.blocker(r.role); r.blocked && d != nil {
		r.msg = fmt.Sprintf("not started: it waited for %s", d)
	}
	r.blocked = false
}

// blocker returns the first thing that a role waits for, nil if it may start.
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

// look tells whether a dependency is met, and whether it is or may be. Replicas
// that an elastic role has lost for good are not waited for.
func (p *policy) dependencyState(d spec.Dependency) (met, possible bool) {
	role := p.app.Role(d.Role)
	scoped := p.replicasInRestartGroups()
	good, open := 0, 0
	for _, r := range p.replicasOf(role) {
		switch {
		case scoped[r]: // starts over
			open++
		case r.meets(d.Condition):
			good++
		case !r.state.Terminal():
			open++
		}
	}
	need := requiredReplicas(role)
	enough := good >= need
	if d.Condition == spec.DependsSucceeded && need > 0 {
		return enough, good+open >= need
	}
	return enough && open == 0, good+open >= need
}

// scoped are the replicas that start over once all of their scope have ended.
func (p *policy) replicasInRestartGroups() map[*replica]bool {
	var in map[*replica]bool
	for _, group := range p.restartGroups {
		for _, r := range group.replicas {
			if in == nil {
				in = map[*replica]bool{}
			}
			in[r] = true
		}
	}
	return in
}

// fulfils reports whether a replica is as far as the condition says. One that
// has succeeded is past everything.
func (r *replica) meets(c spec.Condition) bool {
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

// waits returns what tells in a status what a replica of the role waits for.
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
		case r.state == spec.Running && o.Ready != nil && !r.ready && !r.stopping:
			return fmt.Sprintf("not ready yet (%s)", o.Ready)
		}
		return ""
	}
}
