package policy

import (
	"time"

	"torchx/runtime/spec"
)

// AgentDied is the message of an app that ended with its agent.
const AgentDied = "agent died: its process was killed or the machine went down"

// Abandon ends an app whose agent died: replicas without a recorded exit ended with it. deadline
// is the message of an app that exceeded its time limit, or "".
func (p *Policy) Abandon(cancelled bool, deadline string, now time.Time) spec.Status {
	p.deadline = deadline
	for _, r := range p.Replicas {
		if r.retired && r.State == spec.Running {
			r.endRetired(0, now) // it ended with the agent
		}
	}
	if p.IsDone() {
		p.cancelled = cancelled
		return p.FinalStatus(now)
	}
	for _, r := range p.Replicas {
		if !r.State.Terminal() {
			p.cancelPending(r, now)
			if !cancelled && p.deadline == "" && r.hasStarted {
				r.State, r.Msg = spec.Failed, "agent died"
			}
		}
	}
	p.restartGroups = nil
	s := p.FinalStatus(now)
	code := spec.ExitNotStarted
	switch {
	case cancelled:
		code = spec.ExitCancelled
		s.State, s.Msg = spec.Cancelled, CancelledText
	case p.deadline != "":
		s.State, code = spec.Failed, spec.ExitDeadline
	case p.CannotSucceed:
		return s // the decisive failure is on record
	default:
		s.State, s.Lost = spec.Failed, true
		s.Msg = AgentDied
	}
	if s.StartedAt == nil && !cancelled && p.deadline == "" {
		s.Msg = "torchx or its agent ended while the app was being started"
	}
	s.ExitCode = &code
	return s
}
