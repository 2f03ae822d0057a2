package policy

import (
	"time"

	"torchx/runtime/spec"
)

// isEnding reports whether the app was told to end, so that nothing starts any more.
func (p *Policy) isEnding() bool { return p.cancelled || p.deadline != "" }

// CanExceed reports whether a time limit would still change how the app ends.
func (p *Policy) CanExceed() bool {
	return !p.isEnding() && !p.IsDone() && (!p.CannotSucceed || !p.failFast)
}

// ExceedDeadline ends an app that exceeded its time limit.
func (p *Policy) ExceedDeadline(msg string, now time.Time) []Action {
	p.deadline = msg
	return p.stopAll(now)
}

// ExceedTimeout ends an attempt that exceeded the timeout of its role, which counts as a
// failure.
func (p *Policy) ExceedTimeout(r *Replica, attempt int) []Action {
	if r.State != spec.Running || r.Attempt != attempt || r.Stopping || r.KillReason != "" {
		return nil
	}
	r.KillReason, r.Overran = spec.DeadlineText(p.Orders[r.Role].Timeout), true
	return []Action{{Stop: r}}
}
