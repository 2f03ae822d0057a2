package status

import (
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/history"
	"torchx/runtime/humanize"
	"torchx/runtime/spec"
)

// timeoutOf returns the time limit of an app, 0 if it has none or is not known.
func timeoutOf(d *history.View) time.Duration {
	app, err := decodeApp(d.Spec)
	if err != nil {
		return 0
	}
	limits, _ := app.Limits() // validated at its submission
	return limits.Timeout
}

// hideSecretEnv hides the values of variables that came from files.
func hideSecretEnv(f *program.Factory, d *history.View) {
	if app, err := decodeApp(d.Spec); err == nil {
		limits, _ := app.Limits() // validated at its submission
		f.HideVariables(limits.SecretEnv)
	}
}

// deadlineAt returns when a time limit ends an app, nil before its start.
func deadlineAt(s *spec.Status, limit time.Duration) *time.Time {
	if s.StartedAt == nil {
		return nil
	}
	return new(s.StartedAt.Add(limit))
}

// deadline returns when the time limit ends the app; "" without one or after the end.
func (p *statusPage) deadline() string {
	limit := humanize.FormatDuration(p.timeout)
	at := deadlineAt(p.status, p.timeout)
	switch {
	case p.timeout == 0 || p.status.State.Terminal():
		return ""
	case at == nil:
		return limit + " after the start"
	}
	return at.In(p.now.Location()).Format(time.DateTime) + ", " + limit + " after the start"
}

// timeoutText describes the time limit of an app, "" if it has none.
func timeoutText(app *spec.App) string {
	limits, err := app.Limits()
	if err != nil || limits.Timeout == 0 {
		return ""
	}
	return humanize.FormatDuration(limits.Timeout) + " after the first start, retries included"
}

// attemptTimeoutText describes the time limit of a role's attempts, "" if it has none.
func attemptTimeoutText(o spec.Order) string {
	switch {
	case o.Timeout == 0:
		return ""
	case o.RetryOnTimeout:
		return humanize.FormatDuration(o.Timeout) + " for each attempt, then it is retried"
	}
	return humanize.FormatDuration(o.Timeout) + " for each attempt"
}
