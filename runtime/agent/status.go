package agent

import (
	"cmp"
	"slices"
	"time"

	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

func (r *replica) status() spec.ReplicaStatus {
	s := spec.ReplicaStatus{
		ID: r.key.ID, Role: r.key.Role, State: r.state, ExitCode: r.exitCode, Signal: r.signal,
		Attempt: r.attempt, Hostname: r.process.Hostname, StartedAt: r.startedAt, FinishedAt: r.finishedAt,
		Msg: r.msg, StructuredErrorMsg: r.errorFile, PID: r.process.PID,
		Devices: r.devices,
	}
	if u := r.usage; u != nil {
		s.CPUSeconds = u.CPU
		if u.MaxRSS > 0 {
			s.MaxRSSBytes, s.MaxRSSSource = &u.MaxRSS, u.Source
		}
	}
	return s
}

// initialStatus returns the status of a bundle before its agent has started.
func initialStatus(m *Manifest) spec.Status {
	if m.Controls {
		url := "file://" + BundleAt(m.Home, m.ID).Dir
		return spec.Status{Handle: m.Handle, State: spec.Pending, UIURL: &url, SubmittedAt: &m.SubmittedAt, Roles: []spec.RoleStatus{}}
	}
	return newPolicy(m.App, m.FailFast).status(m)
}

// status returns the app's current status; it is not final before the logs are complete.
func (p *policy) status(m *Manifest) spec.Status {
	url := "file://" + BundleAt(m.Home, m.ID).Dir
	s := spec.Status{
		Handle: m.Handle, State: p.state(), NumRestarts: p.restarts, Msg: p.describe(),
		UIURL: &url, SubmittedAt: &m.SubmittedAt,
	}
	if p.cannotSucceed && p.deadline == "" {
		s.FirstFailure = p.firstFailure
	}
	s.StartedAt = p.startedAt
	s.Past = outcome.Newest(p.pastAttempts)
	s.Restarts = outcome.Newest(p.announced)
	s.LeftRunning = p.leftRunning()
	for i := range p.app.Roles {
		role := spec.RoleStatus{Role: p.app.Roles[i].Name, Replicas: []spec.ReplicaStatus{}}
		waits := p.waitReason(&p.app.Roles[i])
		for _, r := range p.byRole[&p.app.Roles[i]] {
			one := r.status()
			one.Msg = cmp.Or(one.Msg, waits(r))
			role.Replicas = append(role.Replicas, one)
		}
		s.Roles = append(s.Roles, role)
	}
	s.StructuredErrorMsg = outcome.ErrorFile(&s)
	return s
}

// state returns the app's state while it is not done.
func (p *policy) state() spec.State {
	if slices.ContainsFunc(p.replicas, func(r *replica) bool { return r.startedAt != nil }) {
		return spec.Running
	}
	return spec.Pending
}

// finalStatus returns the status with the result of an app that is done.
func (p *policy) finalStatus(m *Manifest, now time.Time) spec.Status {
	s := p.status(m)
	state, code := p.conclusion()
	s.State, s.ExitCode, s.FinishedAt = state, &code, &now
	switch state {
	case spec.Succeeded:
		s.FirstFailure = nil // an elastic app may succeed although replicas failed
	case spec.Cancelled:
		s.Msg = cancelledText
	}
	return s
}

// conclusion returns the state and exit code of an app that is done.
func (p *policy) conclusion() (spec.State, int) {
	ok := !p.sidecarFailed
	for i := range p.app.Roles {
		role := &p.app.Roles[i]
		if p.orders[role].Sidecar {
			continue
		}
		n := count(p.byRole[role], func(r *replica) bool { return r.state == spec.Succeeded })
		ok = ok && n >= requiredReplicas(role)
	}
	switch f := p.firstFailure; {
	case ok:
		return spec.Succeeded, 0
	case p.deadline != "":
		return spec.Failed, spec.ExitDeadline
	case p.cancelled && (!p.cannotSucceed || !p.failFast):
		return spec.Cancelled, spec.ExitCancelled
	case f != nil && f.ExitCode != nil && *f.ExitCode != 0:
		return spec.Failed, *f.ExitCode
	}
	return spec.Failed, spec.ExitNotStarted
}

// describe returns one line on why the app failed, or why nothing has started yet.
func (p *policy) describe() string {
	switch {
	case p.deadline != "":
		return p.deadline
	case p.firstFailure == nil:
		return p.queueReason
	}
	return outcome.Message(p.firstFailure)
}
