package agent

import (
	"cmp"
	"errors"
	"io/fs"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// deadlineFile records that the app exceeded its time limit. It is written before anything
// is stopped, so that a kill of the agent cannot turn the result into another one.
const deadlineFile = "deadline.json"

// exceededDeadline is the content of deadlineFile.
type exceededDeadline struct {
	Time time.Time `json:"time"`
	Msg  string    `json:"msg"`
}

// recordedDeadline returns the message of an app that exceeded its time limit, "" if it did
// not. A damaged record still counts.
func (b Bundle) recordedDeadline(m *Manifest) string {
	d := exceededDeadline{}
	err := readJSON(b.path(deadlineFile), &d)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	limits, _ := m.App.Limits()
	return cmp.Or(d.Msg, spec.DeadlineText(limits.Timeout))
}

// watchDeadlines starts the timers of an attempt that has just started, and with the first
// one that of the app.
func (a *agent) watchDeadlines(r *policy.Replica, start startRecord) {
	if limit := a.policy.Orders[r.Role].Timeout; limit > 0 {
		a.after(limit-a.elapsed(start), func() { a.attemptExceeds(r, start.Attempt) })
	}
	limits, err := a.manifest.App.Limits()
	if a.ending.hasAppTimer || err != nil || limits.Timeout == 0 {
		return
	}
	a.ending.hasAppTimer = true
	a.after(limits.Timeout-a.elapsed(start), func() { a.appExceeds(limits.Timeout) })
}

// resumeDeadlines starts the timers again for an app that a former agent started.
func (a *agent) resumeDeadlines(starts []startRecord) {
	for i, start := range starts {
		r := a.policy.ByKey[spec.Replica{Role: start.Role, ID: start.Replica}]
		if r != nil && (i == 0 || r.State == spec.Running && r.Attempt == start.Attempt) {
			a.watchDeadlines(r, start)
		}
	}
}

// elapsed returns how long ago an attempt started. Within one boot of the machine, the time
// that it sleeps and changes of its clock do not count.
func (a *agent) elapsed(start startRecord) time.Duration {
	if now := uptime(); start.Uptime > 0 && start.BootID == a.record.bootID && now >= start.Uptime {
		return time.Duration(now - start.Uptime)
	}
	return max(0, failpoint.Now().Sub(start.Time))
}

// appExceeds ends the app, gracefully.
func (a *agent) appExceeds(limit time.Duration) {
	if !a.policy.CanExceed() {
		return
	}
	d := exceededDeadline{a.now(), spec.DeadlineText(limit)}
	if !a.ending.bundleDeleted {
		a.logError(WriteJSON(a.bundle.path(deadlineFile), d, true))
	}
	failpoint.Hit(failpoint.DeadlineRecorded)
	a.perform(a.policy.ExceedDeadline(d.Msg, d.Time))
	a.reports.dirty = true
}

// attemptExceeds ends an attempt that exceeds the timeout of its role.
func (a *agent) attemptExceeds(r *policy.Replica, attempt int) {
	a.perform(a.policy.ExceedTimeout(r, attempt))
	a.reports.dirty = true
}
