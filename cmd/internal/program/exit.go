package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"torchx/cmd/internal/grammar"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

// Exit codes of this program beside those of spec. `run` and `wait` otherwise end with
// the code of the app itself: that of the replica that failed first.
const (
	ExitOK     = 0
	ExitError  = 1                                      // any other error
	ExitUsage  = 2                                      // flags, component arguments, a bad pattern
	ExitHangup = spec.ExitSignal + int(syscall.SIGHUP)  // the terminal closed; the app goes on
	ExitPipe   = spec.ExitSignal + int(syscall.SIGPIPE) // `run`: the reader of the output has gone; the app goes on
)

// ErrInterrupted is the cause of a context that Ctrl-C or SIGTERM ended.
var ErrInterrupted = errors.New("interrupted")

// Usagef returns an error about the command line of a command, "" for the program itself.
func Usagef(command, format string, args ...any) error {
	return &grammar.UsageError{Command: command, Text: fmt.Sprintf(format, args...)}
}

// QuietError ends the program with an exit code and no message: it was printed already.
type QuietError int

func (e QuietError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// ExitCode is the one place where an error becomes the program's exit code.
func ExitCode(ctx context.Context, err error) int {
	var quiet QuietError
	var usage *grammar.UsageError
	var args *component.UsageError
	var start *backend.StartError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &quiet):
		return int(quiet)
	case errors.As(err, &usage), errors.As(err, &args):
		return ExitUsage
	case errors.As(err, &start):
		return startCode(start.Code)
	case Interrupted(ctx, err):
		return spec.ExitCancelled
	}
	return ExitError
}

// startCode keeps to the codes that a start can fail with.
func startCode(code int) int {
	switch code {
	case spec.ExitNotFound, spec.ExitNotExecutable:
		return code
	}
	return spec.ExitNotStarted
}

// Interrupted reports whether Ctrl-C or SIGTERM is the reason of err.
func Interrupted(ctx context.Context, err error) bool {
	return errors.Is(err, ErrInterrupted) ||
		errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), ErrInterrupted)
}

// AppExit ends the program with the app's own exit code.
func AppExit(s *spec.Status) error {
	switch {
	case s.State == spec.Succeeded:
		return nil
	case s.State == spec.Cancelled:
		return QuietError(spec.ExitCancelled)
	case s.ExitCode != nil && *s.ExitCode != 0:
		return QuietError(*s.ExitCode)
	}
	return QuietError(ExitError)
}

// IsBrokenPipe reports whether the reader of the output has gone.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
