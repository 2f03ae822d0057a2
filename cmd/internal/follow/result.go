package follow

import (
	"context"
	"fmt"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// app is an app that is followed.
type app struct {
	*ui.Console
	runner *runner.Runner
	ref    runner.Ref
}

// result waits until the app has ended, prints how and returns its exit code as an error. For
// a failed app it also prints the last output, unless that was shown on the terminal.
func (a app) result(ctx context.Context, interrupted func() bool, onTerminal bool) error {
	stop := a.SayIfSlow("waiting for %s to end", a.ref.Handle())
	s, err := a.runner.Wait(ctx, a.ref)
	stop()
	if err != nil {
		return err
	}
	a.printEnd(ctx, s, onTerminal)
	if interrupted() && s.State != spec.Succeeded {
		return program.QuietError(spec.ExitCancelled)
	}
	return program.AppExit(s)
}

// printEnd prints how the app ended.
func (a app) printEnd(ctx context.Context, s *spec.Status, onTerminal bool) {
	switch {
	case s.State != spec.Failed:
		a.Say("%s: %s", a.ref.Handle(), ui.StateLine(s, time.Now()))
	case onTerminal:
		why := s.Msg
		if s.FirstFailure != nil {
			why = ui.HowItEnded(s.FirstFailure)
		}
		a.SayError(fmt.Sprintf("%s FAILED: %s", a.ref.Handle(), why))
	default:
		a.explainFailure(ctx, s)
	}
}

// explainFailure prints which replica failed first and how, the end of its output, and what
// to type next.
func (a app) explainFailure(ctx context.Context, s *spec.Status) {
	a.SayError(fmt.Sprintf("%s FAILED: %s", a.ref.Handle(), ui.Failure(s)))
	first := s.FirstFailure
	if first == nil {
		a.Line("", "look closer: torchx status "+a.ref.Handle())
		return
	}
	name := fmt.Sprintf("%s/%d", first.Role, first.ID)
	if report, ok := spec.ParseErrorReport(first.StructuredErrorMsg); ok {
		a.Line("", name+" error: "+report.Message)
	}
	a.printLastLines(ctx, s)
	a.Line("", fmt.Sprintf("see all of it: torchx log %s/%s", a.ref.Handle(), name))
}

// printLastLines prints the end of a replica's output, or nothing if that cannot be read.
func (a app) printLastLines(ctx context.Context, s *spec.Status) {
	lines, err := a.runner.LastLines(ctx, a.ref, s)
	if err != nil && a.Level == ui.LevelDebug {
		a.Line("", "the output cannot be read: "+err.Error())
	}
	if len(lines) > 0 {
		a.Line("", fmt.Sprintf("the last lines of %s/%d:", ui.OneLine(s.FirstFailure.Role), s.FirstFailure.ID))
	}
	for _, line := range lines {
		fmt.Fprintln(a.Err, "  "+line)
	}
}
