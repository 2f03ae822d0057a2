package agent

import (
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// initialStatus returns the status of a bundle before its agent has started.
func initialStatus(m *Manifest) spec.Status {
	if m.Controls {
		return m.identify(spec.Status{State: spec.Pending, Roles: []spec.RoleStatus{}})
	}
	return m.identify(policy.New(m.App, m.FailFast).Status())
}

// identify says which app a status is of.
func (m *Manifest) identify(s spec.Status) spec.Status {
	url := "file://" + BundleAt(m.Home, m.ID).Dir
	s.Handle, s.UIURL, s.SubmittedAt = m.Handle, &url, &m.SubmittedAt
	return s
}
