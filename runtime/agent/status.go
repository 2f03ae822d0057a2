package agent

import (
	"cmp"
	"time"

	"torchx/runtime/spec"
)

// maxPast bounds the attempts that a status remembers: the history has them all
// by then.
const maxPast = 1000

func (m *member) status() spec.ReplicaStatus {
	s := spec.ReplicaStatus{
		ID: m.key.ID, Role: m.key.Role, State: m.state, ExitCode: m.code, Signal: m.signal,
		Attempt: m.attempt, Hostname: m.process.Hostname, StartedAt: m.started, FinishedAt: m.finished,
		Msg: m.msg, StructuredErrorMsg: m.errFile, PID: m.process.PID,
		Devices: m.devices,
	}
	if m.usage != nil {
		s.MaxRSSBytes, s.CPUSeconds = &m.usage.MaxRSS, &m.usage.CPU
	}
	return s
}

// initialStatus is what a bundle says before its agent has begun.
func initialStatus(m *Manifest) spec.Status {
	return newGang(m.App, m.FailFast).status(m)
}

// status is the app's status as of now; it is not final before the logs are.
func (g *gang) status(m *Manifest) spec.Status {
	url := "file://" + BundleAt(m.Home, m.ID).Dir
	s := spec.Status{
		Handle: m.Handle, State: g.state(), NumRestarts: g.restarts, Msg: g.describe(),
		UIURL: &url, SubmittedAt: &m.SubmittedAt, StructuredErrorMsg: g.firstErrorFile(),
	}
	if g.doomed {
		f := g.firstStatus
		s.FirstFailure = &f
	}
	s.StartedAt = g.began
	s.Past = g.past[max(0, len(g.past)-maxPast):]
	for i := range g.app.Roles {
		role := spec.RoleStatus{Role: g.app.Roles[i].Name, Replicas: []spec.ReplicaStatus{}}
		waits := g.waits(&g.app.Roles[i])
		for _, r := range g.membersOf(&g.app.Roles[i]) {
			one := r.status()
			one.Msg = cmp.Or(one.Msg, waits(r))
			role.Replicas = append(role.Replicas, one)
		}
		s.Roles = append(s.Roles, role)
	}
	return s
}

// state is the app's state while it is not done.
func (g *gang) state() spec.State {
	for _, m := range g.replicas {
		if m.started != nil {
			return spec.Running
		}
	}
	return spec.Pending
}

// finalStatus adds the result of a gang that is done.
func (g *gang) finalStatus(m *Manifest, now time.Time) spec.Status {
	s := g.status(m)
	state, code := g.result()
	s.State, s.ExitCode, s.FinishedAt = state, &code, &now
	switch state {
	case spec.Succeeded:
		s.FirstFailure = nil // an elastic app may succeed although replicas failed
	case spec.Cancelled:
		s.Msg = "cancelled"
	}
	return s
}

// firstErrorFile is the error file of the replica that ended first with one.
func (g *gang) firstErrorFile() []byte {
	var first *member
	for _, m := range g.replicas {
		if m.errFile == nil || m.finished == nil {
			continue
		}
		if first == nil || m.finished.Before(*first.finished) {
			first = m
		}
	}
	if first == nil {
		return nil
	}
	return first.errFile
}

func earliest(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}
