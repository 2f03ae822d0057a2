package agent

import (
	"slices"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// replayResult derives an app's result from its journal, which has all events and all
// actions.
func replayResult(m *Manifest, starts []startRecord, exits []exitRecord, cancelled bool, deadline string) spec.Status {
	p := newPolicy(m.App, m.FailFast)
	now := clock{last: latest(m, starts, exits)}
	replayInto(p, m.SubmittedAt, starts, exits, p.noteBlocked)
	p.deadline = deadline
	return concludeReplay(p, m, cancelled && deadline == "", now.at(failpoint.Now()))
}

// replayInto brings a new policy to the state that the journal describes. It calls onActions
// with the actions that the policy requests, and when.
func replayInto(p *policy, submitted time.Time, starts []startRecord, exits []exitRecord, onActions func([]action, time.Time)) {
	onActions(p.startAll(), submitted)
	for len(starts)+len(exits) > 0 {
		if len(exits) == 0 || len(starts) > 0 && starts[0].before(exits[0]) {
			replayStart(p, starts[0])
			starts = starts[1:]
			continue
		}
		onActions(replayExit(p, exits[0], starts), exits[0].Time)
		exits = exits[1:]
	}
}

// latest returns the newest recorded time: the clock may have been set back since.
func latest(m *Manifest, starts []startRecord, exits []exitRecord) time.Time {
	times := []time.Time{m.SubmittedAt}
	for _, start := range starts {
		times = append(times, start.Time)
	}
	for _, exit := range exits {
		times = append(times, exit.Time)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

// before reports whether a start precedes an exit; records of older versions have only
// times.
func (start startRecord) before(e exitRecord) bool {
	if start.Seq > 0 && e.Seq > 0 {
		return start.Seq < e.Seq
	}
	return !start.Time.After(e.Time)
}

func replayStart(p *policy, start startRecord) {
	m := p.byKey[spec.Replica{Role: start.Role, ID: start.Replica}]
	if m != nil && p.canStart(m, start.Attempt) {
		p.noteStarted(m, start.Process, start.Time)
	}
}

// replayExit returns the policy's actions.
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

// noteBlocked marks the starts among acts that have to wait for another role.
func (p *policy) noteBlocked(acts []action, now time.Time) {
	for _, act := range acts {
		if act.start != nil {
			p.dependenciesMet(act.start, now)
		}
	}
}

// agentDied is the message of an app without a recorded result; the outcome of endRemains
// follows.
const agentDied = "agent died: its process was killed or the machine went down"

// concludeReplay ends a replay: replicas without a recorded exit ended with the agent.
func concludeReplay(p *policy, m *Manifest, cancelled bool, now time.Time) spec.Status {
	for _, r := range p.replicas {
		if r.retired && r.state == spec.Running {
			r.endRetired(0, now) // it ended with the agent
		}
	}
	if p.isDone() {
		p.cancelled = cancelled
		return p.finalStatus(m, now)
	}
	for _, r := range p.replicas {
		if !r.state.Terminal() {
			p.cancelPending(r, now)
			if !cancelled && p.deadline == "" && r.hasStarted {
				r.state, r.msg = spec.Failed, "agent died"
			}
		}
	}
	p.restartGroups = nil
	s := p.finalStatus(m, now)
	code := spec.ExitNotStarted
	switch {
	case cancelled:
		code = spec.ExitCancelled
		s.State, s.Msg = spec.Cancelled, cancelledText
	case p.deadline != "":
		s.State, code = spec.Failed, spec.ExitDeadline
	case p.cannotSucceed:
		return s // the decisive failure is on record
	default:
		s.State, s.Lost = spec.Failed, true
		s.Msg = agentDied
	}
	if s.StartedAt == nil && !cancelled && p.deadline == "" {
		s.Msg = "torchx or its agent ended while the app was being started"
	}
	s.ExitCode = &code
	return s
}
