package agent

import (
	"slices"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// replayResult derives an app's result from its journal, which has all events and all
// actions.
func replayResult(
	m *Manifest, starts []startRecord, exits []exitRecord, cancelled bool, deadline string,
) spec.Status {
	p := policy.New(m.App, m.FailFast)
	now := clock{last: latest(m, starts, exits)}
	replayInto(p, m.SubmittedAt, starts, exits, p.NoteBlocked)
	return m.identify(p.Abandon(cancelled && deadline == "", deadline, now.at(failpoint.Now())))
}

// replayInto brings a new policy to the state that the journal describes. It calls onActions
// with the actions that the policy requests, and when.
func replayInto(p *policy.Policy, submitted time.Time, starts []startRecord, exits []exitRecord,
	onActions func([]policy.Action, time.Time),
) {
	onActions(p.StartAll(), submitted)
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

func replayStart(p *policy.Policy, start startRecord) {
	m := p.ByKey[spec.Replica{Role: start.Role, ID: start.Replica}]
	if m != nil && p.CanStart(m, start.Attempt) {
		p.NoteStarted(m, start.Process, start.Time)
	}
}

// replayExit returns the policy's actions.
func replayExit(p *policy.Policy, e exitRecord, unread []startRecord) []policy.Action {
	m := p.ByKey[e.replica()]
	switch {
	case m == nil:
		return nil
	case e.Refused:
		return p.NoteRefused(m, e.Code, e.Msg, e.Time)
	default:
		if m.State == spec.Pending { // its start was not recorded, or the clock was set back
			start := startRecord{Role: e.Role, Replica: e.Replica, Attempt: m.NextAttempt, Time: e.Time}
			for _, r := range unread {
				if r.Role == e.Role && r.Replica == e.Replica && r.Attempt == m.NextAttempt {
					start = r
				}
			}
			replayStart(p, start)
		}
		m.Stopping, m.Usage, m.KillReason = m.Stopping || e.Stopped, e.Usage, e.Msg
		return p.NoteExited(m, e.exit())
	}
}
