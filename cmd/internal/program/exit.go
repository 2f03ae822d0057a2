package program

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/starlark/component"
)

// The exit codes of this program. `run` and `wait` otherwise end with the code
// of the app itself: that of the replica that failed first, 128+n for signal n.
const (
	ExitOK            = 0
	ExitError         = 1   // any other error
	ExitUsage         = 2   // flags, component arguments, a bad pattern
	ExitSupervise     = 125 // a planned app could not be started or supervised
	exitNotExecutable = 126 // the entry point is not executable
	ExitNotFound      = 127 // the entry point was not found
	ExitHangup        = 129 // the terminal went away; the app goes on
	ExitInterrupted   = 130 // cancelled, or Ctrl-C
	ExitPipe          = 141 // `run`: nobody reads the output any more; the app goes on
)

// ErrInterrupted is the cause of a context that Ctrl-C or SIGTERM ended.
var ErrInterrupted = errors.New("interrupted")

// usageError is a command line that cannot be understood.
type usageError struct {
	command string // "" for the program itself
	msg     string
}

func (e *usageError) Error() string {
	if e.command == "" {
		return e.msg
	}
	return e.command + ": " + e.msg
}

func Usagef(command, format string, args ...any) error {
	return &usageError{command, fmt.Sprintf(format, args...)}
}

// QuietError ends the program with a code and says no more: what there was to
// say has been said.
type QuietError int

func (e QuietError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// ExitCode is the one place where an error becomes the program's exit code.
func ExitCode(ctx context.Context, err error) int {
	var quiet QuietError
	var usage *usageError
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
		return ExitInterrupted
	}
	return ExitError
}

// startCode keeps to the codes that a start can fail with.
func startCode(code int) int {
	switch code {
	case ExitNotFound, exitNotExecutable:
		return code
	}
	return ExitSupervise
}

func Interrupted(ctx context.Context, err error) bool {
	return errors.Is(err, ErrInterrupted) ||
		errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), ErrInterrupted)
}
