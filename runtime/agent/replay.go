package agent

import (
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// replay works out the result of an app from its journal: the gang is told what
// happened in the order in which it did. What it wants done is on record, too, if
// it was done.
func replayResult(m *Manifest, starts []startRecord, exits []exitRecord, cancelled bool) spec.Status {
	p := newPolicy(m.App, m.FailFast)
	now := clock{last: latest(m, starts, exits)}
	replayInto(p, m.SubmittedAt, starts, exits, p.noteBlocked)
	return concludeReplay(p, m, cancelled, now.at(failpoint.Now()))
}

// replayInto brings a new gang to the state that its journal tells of; wanted is
// told what the policy wants, and when.
func replayInto(p *policy, submitted time.Time, starts []startRecord, exits []exitRecord, wanted func([]action, time.Time)) {
	wanted(p.startAll(), submitted)
	for len(starts)+len(exits) > 0 {
		if len(exits) == 0 || len(starts) > 0 && starts[0].before(exits[0]) {
			replayStart(p, starts[0])
			starts = starts[1:]
			continue
		}
		wanted(replayExit(p, exits[0], starts), exits[0].Time)
		exits = exits[1:]
	}
}

// latest is the newest time on record: the clock may have been set back since.
func latest(m *Manifest, starts []startRecord, exits []exitRecord) time.Time {
	t := m.SubmittedAt
	for _, r := range starts {
		t = laterOf(t, r.Time)
	}
	for _, r := range exits {
		t = laterOf(t, r.Time)
	}
	return t
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// before tells which of two records is older; those of an older agent have times only.
func (r startRecord) before(e exitRecord) bool {
	if r.Seq > 0 && e.Seq > 0 {
		return r.Seq < e.Seq
	}
	return !r.Time.After(e.Time)
}

func replayStart(p *policy, r startRecord) {
	m := p.byKey[spec.Replica{Role: r.Role, ID: r.Replica}]
	if m != nil && p.canStart(m, r.Attempt) {
		p.noteStarted(m, r.process(), r.Time)
	}
}

// replayExit answers what the policy wants done.
func replayExit(p *policy, e exitRecord, unread []startRecord) []action {
	m := p.byKey[e.replica()]
	switch {
	case m == nil:
		return nil
	case e.Refused:
		return p.noteRefused(m, e.Code, e.Msg, e.Time)
	default:
		if m.state == spec.Pending { // its start was not recorded, or the clock was set back
			start := startRecord{Role: e.Role, Replica: e.Replica, Attempt: m.nextAttempt, Time: e.Time}
			for _, r := range unread {
				if r.Role == e.Role && r.Replica == e.Replica && r.Attempt == m.nextAttempt {
					start = r
				}
			}
			replayStart(p, start)
		}
		m.stopping, m.usage, m.killReason = m.stopping || e.Stopped, e.Usage, e.Msg
		return p.noteExited(m, e.exit())
	}
}

// hold notes who was to start and had to wait for another role.
func (p *policy) noteBlocked(acts []action, now time.Time) {
	for _, act := range acts {
		if act.start != nil {
			p.dependenciesMet(act.start, now)
		}
	}
}

// conclude is the end of a replay: what is not on record ended with the agent.
func concludeReplay(p *policy, m *Manifest, cancelled bool, now time.Time) spec.Status {
	if p.isDone() {
		p.cancelled = cancelled
		return p.finalStatus(m, now)
	}
	for _, r := range p.replicas {
		if !r.state.Terminal() {
			p.cancelPending(r, now)
			if !cancelled && r.hasStarted {
				r.state, r.msg = spec.Failed, "agent died"
			}
		}
	}
	p.restartGroups = nil
	s := p.finalStatus(m, now)
	code := 125
	switch {
	case cancelled:
		code = 130
		s.State, s.Msg = spec.Cancelled, "cancelled"
	case p.cannotSucceed:
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
