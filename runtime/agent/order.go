package agent

import (
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// overdueCode is the exit code of a replica that was ended because it was not
// ready in time, whatever it made of the request to end: that of timeout(1).
const overdueCode = 124

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
func (g *gang) hasDependents(role *spec.Role) bool {
	for _, o := range g.orders {
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
func (g *gang) admit(m *member, now time.Time) bool {
	m.held = g.blocker(m.role) != nil
	if m.held {
		g.giveUp(now)
	}
	return !m.held
}

// passed notes that an attempt is ready and answers what may start now.
func (g *gang) passed(m *member, attempt int, now time.Time) []action {
	if m.state != spec.Running || m.attempt != attempt || m.overdue != "" {
		return nil
	}
	m.ready = true
	return g.unblocked(now)
}

// late ends an attempt that has not become ready in time; that is a failure.
func (g *gang) late(m *member, attempt int) []action {
	probe := g.orders[m.role].Ready
	if m.state != spec.Running || m.attempt != attempt || m.ready || m.stopping || probe == nil {
		return nil
	}
	m.overdue = fmt.Sprintf("not ready within %s (%s)", seconds(probe.Timeout), probe)
	return []action{{stop: m}}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// unblocked asks for the starts of those whose wait is over, and gives up on
// those whose wait is in vain.
func (g *gang) unblocked(now time.Time) (acts []action) {
	g.giveUp(now)
	for i := range g.app.Roles {
		held := g.heldOf(&g.app.Roles[i])
		if len(held) == 0 || g.blocker(&g.app.Roles[i]) != nil {
			continue
		}
		for _, m := range held {
			m.held = false
			acts = append(acts, action{start: m})
		}
	}
	return acts
}

// giveUp cancels those that wait for what can never be. The end of one role may
// be that of the next.
func (g *gang) giveUp(now time.Time) {
	for again := true; again; {
		again = false
		for i := range g.app.Roles {
			held := g.heldOf(&g.app.Roles[i])
			if len(held) == 0 || !g.inVain(&g.app.Roles[i]) {
				continue
			}
			for _, m := range held {
				g.neverStarts(m, now)
			}
			again = true
		}
	}
}

// heldOf returns the replicas of a role that wait for another role.
func (g *gang) heldOf(role *spec.Role) (held []*member) {
	if len(g.orders[role].DependsOn) == 0 {
		return nil
	}
	for _, m := range g.membersOf(role) {
		if m.held && m.state == spec.Pending {
			held = append(held, m)
		}
	}
	return held
}

// neverStarts cancels a replica that was to be started.
func (g *gang) neverStarts(m *member, now time.Time) {
	m.state, m.finished = spec.Cancelled, &now
	if d := g.blocker(m.role); m.held && d != nil {
		m.msg = fmt.Sprintf("not started: it waited for %s", d)
	}
	m.held = false
}

// blocker returns the first thing that a role waits for, nil if it may start.
func (g *gang) blocker(role *spec.Role) *spec.Dependency {
	for _, d := range g.orders[role].DependsOn {
		if met, _ := g.look(d); !met {
			return &d
		}
	}
	return nil
}

func (g *gang) inVain(role *spec.Role) bool {
	for _, d := range g.orders[role].DependsOn {
		if _, possible := g.look(d); !possible {
			return true
		}
	}
	return false
}

// look tells whether a dependency is met, and whether it is or may be. Replicas
// that an elastic role has lost for good are not waited for.
func (g *gang) look(d spec.Dependency) (met, possible bool) {
	role := g.app.Role(d.Role)
	scoped := g.scoped()
	good, open := 0, 0
	for _, m := range g.membersOf(role) {
		switch {
		case scoped[m]: // starts over
			open++
		case m.fulfils(d.Condition):
			good++
		case !m.state.Terminal():
			open++
		}
	}
	need := needed(role)
	enough := good >= need
	if d.Condition == spec.DependsSucceeded && need > 0 {
		return enough, good+open >= need
	}
	return enough && open == 0, good+open >= need
}

// scoped are the replicas that start over once all of their scope have ended.
func (g *gang) scoped() map[*member]bool {
	var in map[*member]bool
	for _, s := range g.scopes {
		for _, m := range s.members {
			if in == nil {
				in = map[*member]bool{}
			}
			in[m] = true
		}
	}
	return in
}

// fulfils reports whether a replica is as far as the condition says. One that
// has succeeded is past everything.
func (m *member) fulfils(c spec.Condition) bool {
	runs := m.state == spec.Running && !m.stopping && m.overdue == ""
	switch {
	case m.state == spec.Succeeded:
		return true
	case c == spec.DependsStarted:
		return runs
	case c == spec.DependsReady:
		return runs && m.ready
	}
	return false
}

// waits returns what tells in a status what a replica of the role waits for.
func (g *gang) waits(role *spec.Role) func(*member) string {
	o, ok := g.orders[role]
	if !ok {
		return func(*member) string { return "" }
	}
	blocker := g.blocker(role)
	return func(m *member) string {
		switch {
		case m.state == spec.Pending && blocker != nil:
			return fmt.Sprintf("waits for %s", blocker)
		case m.state == spec.Running && o.Ready != nil && !m.ready && !m.stopping:
			return fmt.Sprintf("not ready yet (%s)", o.Ready)
		}
		return ""
	}
}
