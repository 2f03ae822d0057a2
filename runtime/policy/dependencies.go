package policy

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
func (p *Policy) hasDependents(role *spec.Role) bool {
	for _, o := range p.Orders {
		for _, d := range o.DependsOn {
			if d.Role == role.Name {
				return true
			}
		}
	}
	return false
}

// DependenciesMet reports whether a wanted start can happen now; if not, startUnblocked
// returns the start later.
func (p *Policy) DependenciesMet(r *Replica, now time.Time) bool {
	if _, ok := p.Orders[r.Role]; !ok {
		return true
	}
	r.blocked = p.blocker(r.Role) != nil || !p.admit(r)
	if r.blocked {
		p.cancelUnreachable(now)
	}
	return !r.blocked
}

// NoteBlocked marks the starts among acts that have to wait for another role.
func (p *Policy) NoteBlocked(acts []Action, now time.Time) {
	for _, act := range acts {
		if act.Start != nil {
			p.DependenciesMet(act.Start, now)
		}
	}
}

// admit reports whether a replica may start beside those of its role that run or are about
// to, and then counts it as one of them.
func (p *Policy) admit(r *Replica) bool {
	limit := p.Orders[r.Role].MaxParallel
	if limit == 0 || r.admitted {
		return true
	}
	r.admitted = limit > count(p.byRole[r.Role], func(r *Replica) bool {
		return r.State == spec.Running || r.State == spec.Pending && r.admitted
	})
	return r.admitted
}

// ProbePassed notes that an attempt is ready and returns what may start now.
func (p *Policy) ProbePassed(r *Replica, attempt int, now time.Time) []Action {
	if r.State != spec.Running || r.Attempt != attempt || r.KillReason != "" {
		return nil
	}
	r.ready = true
	return p.StartUnblocked(now)
}

// ProbeTimedOut ends an attempt that is not ready in time, which counts as a failure.
func (p *Policy) ProbeTimedOut(r *Replica, attempt int) []Action {
	probe := p.Orders[r.Role].Ready
	if r.State != spec.Running || r.Attempt != attempt || r.ready || r.Stopping || probe == nil {
		return nil
	}
	r.KillReason = fmt.Sprintf("not ready within %s (%s)", seconds(probe.Timeout), probe) + r.probeObstacle()
	return []Action{{Stop: r}}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// StartUnblocked returns the starts of replicas that no longer wait for others, and cancels
// those whose dependencies can never be met.
func (p *Policy) StartUnblocked(now time.Time) (acts []Action) {
	if len(p.Orders) == 0 {
		return nil
	}
	p.cancelUnreachable(now)
	for i := range p.App.Roles {
		blocked := p.blockedReplicas(&p.App.Roles[i])
		if len(blocked) == 0 || p.blocker(&p.App.Roles[i]) != nil {
			continue
		}
		for _, r := range blocked {
			if !p.admit(r) {
				break
			}
			r.blocked = false
			acts = append(acts, Action{Start: r})
		}
	}
	return acts
}

// cancelUnreachable cancels blocked replicas whose dependencies can never be met, which
// can make other dependencies unreachable.
func (p *Policy) cancelUnreachable(now time.Time) {
	for changed := true; changed; {
		changed = false
		for i := range p.App.Roles {
			blocked := p.blockedReplicas(&p.App.Roles[i])
			if len(blocked) == 0 || !p.isUnreachable(&p.App.Roles[i]) {
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
func (p *Policy) blockedReplicas(role *spec.Role) (blocked []*Replica) {
	if o := p.Orders[role]; len(o.DependsOn) == 0 && o.MaxParallel == 0 {
		return nil
	}
	for _, r := range p.byRole[role] {
		if r.blocked && r.State == spec.Pending {
			blocked = append(blocked, r)
		}
	}
	return blocked
}

// cancelPending cancels a replica that has not started.
func (p *Policy) cancelPending(r *Replica, now time.Time) {
	r.State, r.finishedAt = spec.Cancelled, &now
	if d := p.blocker(r.Role); r.blocked && d != nil {
		r.Msg = fmt.Sprintf("not started: it waited for %s", d)
	}
	r.blocked = false
}

// blocker returns the first unmet dependency of a role, nil if it may start.
func (p *Policy) blocker(role *spec.Role) *spec.Dependency {
	for _, d := range p.Orders[role].DependsOn {
		if met, _ := p.dependencyState(d); !met {
			return &d
		}
	}
	return nil
}

func (p *Policy) isUnreachable(role *spec.Role) bool {
	for _, d := range p.Orders[role].DependsOn {
		if _, possible := p.dependencyState(d); !possible {
			return true
		}
	}
	return false
}

// dependencyState reports whether a dependency is met, and whether it can still be met.
// It ignores replicas that an elastic role has lost for good.
func (p *Policy) dependencyState(d spec.Dependency) (met, possible bool) {
	restarting := p.restarting()
	good, open := 0, 0
	for _, r := range p.byRole[p.App.Role(d.Role)] {
		switch {
		case restarting[r]:
			open++
		case r.satisfies(d.Condition):
			good++
		case !r.State.Terminal():
			open++
		}
	}
	need := requiredReplicas(p.App.Role(d.Role))
	enough := good >= need
	if d.Condition == spec.DependsSucceeded && need > 0 {
		return enough, good+open >= need
	}
	return enough && open == 0, good+open >= need
}

// satisfies reports whether a replica fulfills a condition. A replica that succeeded fulfills
// all conditions.
func (r *Replica) satisfies(c spec.Condition) bool {
	runs := r.State == spec.Running && !r.Stopping && r.KillReason == ""
	switch {
	case r.State == spec.Succeeded:
		return true
	case c == spec.DependsStarted:
		return runs
	case c == spec.DependsReady:
		return runs && r.ready
	}
	return false
}

// probeObstacle returns why the probe of a replica cannot pass, as the end of a message.
func (r *Replica) probeObstacle() string {
	if r.Unreachable == "" {
		return ""
	}
	return ": " + r.Unreachable
}

// waitReason returns a function that describes what a replica of the role waits for.
func (p *Policy) waitReason(role *spec.Role) func(*Replica) string {
	o, ok := p.Orders[role]
	if !ok {
		return func(*Replica) string { return "" }
	}
	blocker := p.blocker(role)
	return func(r *Replica) string {
		switch {
		case r.State == spec.Pending && blocker != nil:
			return fmt.Sprintf("waits for %s", blocker)
		case r.State == spec.Pending && r.blocked:
			return fmt.Sprintf("waits: max_parallel is %d", o.MaxParallel)
		case r.State == spec.Running && o.Ready != nil && !r.ready && !r.Stopping:
			return fmt.Sprintf("not ready yet (%s)", o.Ready) + r.probeObstacle()
		}
		return ""
	}
}
