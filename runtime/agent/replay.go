package agent

import (
	"time"

	"torchx/runtime/spec"
)

// replay works out the result of an app from its journal.
func replay(m *Manifest, starts []startRecord, exits []exitRecord, cancelled bool) spec.Status {
	g := newGang(m.App, m.FailFast)
	replayInto(g, starts, exits, func(action, time.Time) {})
	return conclude(g, m, cancelled)
}

// replayInto brings a new gang to the state that its journal tells of. What the
// policy wants and is not on record goes to wanted, with the time it was wanted
// at; it may be overtaken by what follows.
func replayInto(g *gang, starts []startRecord, exits []exitRecord, wanted func(action, time.Time)) {
	begun := map[spec.Replica]map[int]startRecord{}
	for _, r := range starts {
		k := spec.Replica{Role: r.Role, ID: r.Replica}
		if begun[k] == nil {
			begun[k] = map[int]startRecord{}
		}
		begun[k][r.Attempt] = r
	}
	perform := func(acts []action, at time.Time) {
		for _, act := range acts {
			if act.start == nil || !replayStart(g, act.start, begun[act.start.key]) {
				wanted(act, at)
			}
		}
	}
	perform(g.begin(), time.Time{})
	for _, e := range exits {
		member := g.byKey[e.replica()]
		switch {
		case member == nil:
		case e.Refused:
			perform(g.refused(member, e.Code, e.Msg, e.Time), e.Time)
		default:
			if member.state == spec.Pending { // its start was not recorded
				replayStart(g, member, map[int]startRecord{member.next: {Time: e.Time}})
			}
			member.stopping, member.usage = member.stopping || e.Stopped, e.Usage
			perform(g.exited(member, e.exit()), e.Time)
		}
	}
}

// replayStart reports whether the start is on record.
func replayStart(g *gang, m *member, begun map[int]startRecord) bool {
	r, ok := begun[m.next]
	if ok && g.canStart(m, m.next) {
		g.running(m, r.process(), r.Time)
	}
	return ok
}

// conclude is the end of a replay: what is not on record ended with the agent.
func conclude(g *gang, m *Manifest, cancelled bool) spec.Status {
	now := time.Now()
	if g.done() {
		g.cancelled = cancelled
		return g.finalStatus(m, now)
	}
	for _, r := range g.replicas {
		if !r.state.Terminal() {
			r.state, r.finished = spec.Cancelled, &now
			if !cancelled && r.begun {
				r.state, r.msg = spec.Failed, "agent died"
			}
		}
	}
	g.scopes = nil
	s := g.finalStatus(m, now)
	code := 125
	switch {
	case cancelled:
		code = 130
		s.State, s.Msg = spec.Cancelled, "cancelled"
	case g.doomed:
		return s // the failure that decided is on record
	default:
		s.State = spec.Failed
		s.Msg = "agent died: its process was killed or the machine went down; what it ran has been ended"
	}
	if s.StartedAt == nil && !cancelled {
		s.Msg = "torchx or its agent ended while the app was being started"
	}
	s.ExitCode = &code
	return s
}
