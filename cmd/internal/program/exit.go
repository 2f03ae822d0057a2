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

// Exit codes of this program in addition to those of spec. `run` and `wait` otherwise exit
// with the app's exit code, which is that of the replica that failed first.
const (
	ExitOK     = 0
	ExitError  = 1                                      // any other error
	ExitUsage  = 2                                      // flags, component arguments, a bad pattern
	ExitHangup = spec.ExitSignal + int(syscall.SIGHUP)  // the terminal closed; the app goes on
	ExitPipe   = spec.ExitSignal + int(syscall.SIGPIPE) // `run`: the reader of the output is gone; the app goes on
)

// ErrInterrupted is the cause of a context that Ctrl-C or SIGTERM canceled.
var ErrInterrupted = errors.New("interrupted")

// Usagef returns a usage error of a command, "" for the program itself.
func Usagef(command, format string, args ...any) error {
	return &grammar.UsageError{Command: command, Text: fmt.Sprintf(format, args...)}
}

// QuietError ends the program with an exit code and without a message, because the message
// was printed already.
type QuietError int

func (e QuietError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// ExitCode returns the program's exit code for the error that ended it.
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

// startCode returns the exit code for a failed start.
func startCode(code int) int {
	switch code {
	case spec.ExitNotFound, spec.ExitNotExecutable, spec.ExitCancelled:
		return code
	}
	return spec.ExitNotStarted
}

// Interrupted reports whether Ctrl-C or SIGTERM caused err.
func Interrupted(ctx context.Context, err error) bool {
	return errors.Is(err, ErrInterrupted) ||
		errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), ErrInterrupted)
}

// AppExit returns the error that ends the program with the app's exit code, nil for 0.
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

// IsBrokenPipe reports whether the reader of the output is gone.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
