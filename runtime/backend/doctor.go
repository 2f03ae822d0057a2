package backend

import (
	"context"
	"fmt"
	"time"
)

// Level is how a check came out.
type Level string

// The levels: with a warning apps run, but something is slow, missing or about
// to break; with a failure apps do not run.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning"
	LevelFailure Level = "failure"
)

// Check is one thing that `torchx doctor` looked at.
type Check struct {
	Name  string // a word or two
	Level Level
	Text  string // what was found, one line
	Fix   string // what to do about it, one line; "" if ok
}

// Doctor is a Backend that diagnoses itself in more detail than a Prober.
type Doctor interface {
	// Doctor makes one check for each thing that apps need and changes nothing.
	// RunDiagnostics bounds its time.
	Doctor(ctx context.Context) []Check
}

// PassedCheck is a check that found nothing wrong.
func PassedCheck(name, format string, args ...any) Check {
	return Check{Name: name, Level: LevelOK, Text: fmt.Sprintf(format, args...)}
}

// WarningCheck is a check that found something that apps can run with.
func WarningCheck(name, fix, format string, args ...any) Check {
	return Check{Name: name, Level: LevelWarning, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// FailedCheck is a check that found why apps cannot run.
func FailedCheck(name, fix, format string, args ...any) Check {
	return Check{Name: name, Level: LevelFailure, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// Diagnostic makes one check.
type Diagnostic struct {
	Name  string // of the check
	Run   func(ctx context.Context) Check
	Minor bool // apps run without what is checked: a missing answer is only a warning
}

// timedOut is the check of a diagnostic that gave no answer.
func (e Diagnostic) timedOut(limit time.Duration) Check {
	c := FailedCheck(e.Name, "see what hangs: a network file system, a driver or a server", "no answer within %v", limit)
	if e.Minor {
		c.Level = LevelWarning
	}
	return c
}

// RunDiagnostics runs diagnostics concurrently and returns their checks in order. One
// that gives no answer in time, even if it ignores its context (a dead network file
// system blocks for ever), is abandoned and counts as a failure.
func RunDiagnostics(ctx context.Context, limit time.Duration, diagnostics []Diagnostic) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A diagnostic that heeds its context gives a better reason than that it is late.
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

// graceTime is what a diagnostic may take beyond its limit to give its reason.
const graceTime = 500 * time.Millisecond

// Diagnose returns what a backend finds about its own condition: the checks of a
// Doctor, the one check of a Prober, or none.
func Diagnose(ctx context.Context, b Backend) []Check {
	switch b := b.(type) {
	case Doctor:
		return b.Doctor(ctx)
	case Prober:
		if err := b.Probe(ctx); err != nil {
			return []Check{FailedCheck("reachable", "", "%v", err)}
		}
		return []Check{PassedCheck("reachable", "it answers")}
	}
	return nil
}
