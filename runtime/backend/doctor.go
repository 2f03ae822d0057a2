package backend

import (
	"context"
	"fmt"
	"time"
)

// Level is the result of a check.
type Level string

// The levels: with a warning, apps run, but something is slow, missing or about to break;
// with a failure, apps do not run.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning"
	LevelFailure Level = "failure"
)

// Check is one finding of `torchx doctor`.
type Check struct {
	Name  string // one or two words
	Level Level
	Text  string // finding, one line
	Fix   string // remedy, one line; "" if ok
	// Manifest is a text of several lines that the remedy needs, such as a Role for an admin.
	Manifest string
}

// Doctor diagnoses a backend.
type Doctor interface {
	// Doctor checks each requirement of apps and changes nothing. RunDiagnostics bounds
	// its time.
	Doctor(ctx context.Context) []Check
}

// PassedCheck returns a check without a problem.
func PassedCheck(name, format string, args ...any) Check {
	return Check{Name: name, Level: LevelOK, Text: fmt.Sprintf(format, args...)}
}

// WarningCheck returns a check with a problem that does not stop apps.
func WarningCheck(name, fix, format string, args ...any) Check {
	return Check{Name: name, Level: LevelWarning, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// FailedCheck returns a check with a problem that stops apps.
func FailedCheck(name, fix, format string, args ...any) Check {
	return Check{Name: name, Level: LevelFailure, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// Diagnostic is a check to be run.
type Diagnostic struct {
	Name  string // of its Check
	Run   func(ctx context.Context) Check
	Minor bool // apps do not need it: a missing answer is only a warning
}

// timedOut returns the check of a diagnostic that did not answer.
func (e Diagnostic) timedOut(limit time.Duration) Check {
	c := FailedCheck(e.Name, "find out what hangs: a network file system, a driver or a server",
		"no answer within %v", limit)
	if e.Minor {
		c.Level = LevelWarning
	}
	return c
}

// RunDiagnostics runs diagnostics concurrently and returns their checks in order. A diagnostic
// that does not answer in time, even if it ignores its context (a dead network file system
// blocks forever), is abandoned and counts as failed.
func RunDiagnostics(ctx context.Context, limit time.Duration, diagnostics []Diagnostic) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A diagnostic that obeys its context gives a better reason than a timeout.
	hardLimit, stop := context.WithTimeout(context.WithoutCancel(ctx), limit+graceTime)
	defer stop()
	results := make([]chan Check, len(diagnostics))
	for i, d := range diagnostics {
		results[i] = make(chan Check, 1)
		go func() { results[i] <- d.Run(ctx) }()
	}
	checks := make([]Check, len(diagnostics))
	for i, d := range diagnostics {
		select {
		case checks[i] = <-results[i]:
			continue
		case <-hardLimit.Done():
		}
		select {
		case checks[i] = <-results[i]:
		default:
			checks[i] = d.timedOut(limit)
		}
	}
	return checks
}

// graceTime is how long a diagnostic may exceed its limit to give its reason.
const graceTime = 500 * time.Millisecond
