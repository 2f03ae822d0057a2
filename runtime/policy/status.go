package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// Status returns the app's current status; it is not final before the logs are complete.
func (p *Policy) Status() spec.Status {
	s := spec.Status{State: p.state(), NumRestarts: p.restarts, Msg: p.describe()}
	if p.CannotSucceed && p.deadline == "" {
		s.FirstFailure = p.firstFailure
	}
	s.StartedAt = p.startedAt
	s.Past = outcome.Newest(p.pastAttempts)
	s.Restarts = outcome.Newest(p.announced)
	s.LeftRunning = p.leftRunning()
	for i := range p.App.Roles {
		role := spec.RoleStatus{Role: p.App.Roles[i].Name, Replicas: []spec.ReplicaStatus{}}
		waits := p.waitReason(&p.App.Roles[i])
		for _, r := range p.byRole[&p.App.Roles[i]] {
			one := r.status()
			one.Msg = cmp.Or(one.Msg, joined(waits(r), r.note()))
			role.Replicas = append(role.Replicas, one)
		}
		s.Roles = append(s.Roles, role)
	}
	s.StructuredErrorMsg = outcome.ErrorFile(&s)
	return s
}

// state returns the app's state while it is not done.
func (p *Policy) state() spec.State {
	if slices.ContainsFunc(p.Replicas, func(r *Replica) bool { return r.StartedAt != nil }) {
		return spec.Running
	}
	return spec.Pending
}

// CancelledText is the message of a canceled app.
const CancelledText = "cancelled"

// FinalStatus returns the status with the result of an app that is done.
func (p *Policy) FinalStatus(now time.Time) spec.Status {
	s := p.Status()
	state, code := p.conclusion()
	s.State, s.ExitCode, s.FinishedAt = state, &code, &now
	switch state {
	case spec.Succeeded:
		s.FirstFailure = nil // an elastic app may succeed although replicas failed
	case spec.Cancelled:
		s.Msg = CancelledText
	}
	return s
}

// conclusion returns the state and exit code of an app that is done.
func (p *Policy) conclusion() (spec.State, int) {
	ok := !p.sidecarFailed
	for i := range p.App.Roles {
		role := &p.App.Roles[i]
		if p.Orders[role].Sidecar {
			continue
		}
		n := count(p.byRole[role], func(r *Replica) bool { return r.State == spec.Succeeded })
		ok = ok && n >= requiredReplicas(role)
	}
	switch f := p.firstFailure; {
	case ok:
		return spec.Succeeded, 0
	case p.deadline != "":
		return spec.Failed, spec.ExitDeadline
	case p.cancelled && (!p.CannotSucceed || !p.failFast):
		return spec.Cancelled, spec.ExitCancelled
	case f != nil && f.ExitCode != nil && *f.ExitCode != 0:
		return spec.Failed, *f.ExitCode
	}
	return spec.Failed, spec.ExitNotStarted
}

// describe returns one line on why the app failed, or why nothing has started yet.
func (p *Policy) describe() string {
	switch {
	case p.deadline != "":
		return p.deadline
	case p.firstFailure == nil:
		return cmp.Or(p.QueueReason, p.noted())
	}
	return outcome.Message(p.firstFailure)
}

// noted returns what the launcher noticed about the first such replica; "" for nothing.
func (p *Policy) noted() string {
	for _, r := range p.Replicas {
		if note := r.note(); note != "" {
			return fmt.Sprintf("replica %s/%d: %s", r.Key.Role, r.Key.ID, note)
		}
	}
	return ""
}

// note returns what the launcher noticed about a replica that runs.
func (r *Replica) note() string {
	if r.State != spec.Running {
		return ""
	}
	return r.Note
}

// joined returns two messages as one; each may be "".
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
