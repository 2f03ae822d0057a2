package main

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
	exitOK            = 0
	exitError         = 1   // any other error
	exitUsage         = 2   // flags, component arguments, a bad pattern
	exitSupervise     = 125 // a planned app could not be started or supervised
	exitNotExecutable = 126 // the entry point is not executable
	exitNotFound      = 127 // the entry point was not found
	exitHangup        = 129 // the terminal went away; the app goes on
	exitInterrupted   = 130 // cancelled, or Ctrl-C
	exitPipe          = 141 // `run`: nobody reads the output any more; the app goes on
)

// errInterrupted is the cause of a context that Ctrl-C or SIGTERM ended.
var errInterrupted = errors.New("interrupted")

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

func usagef(command, format string, args ...any) error {
	return &usageError{command, fmt.Sprintf(format, args...)}
}

// quietError ends the program with a code and says no more: what there was to
// say has been said.
type quietError struct{ code int }

func (e quietError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// exitCode is the one place where an error becomes the program's exit code.
func exitCode(ctx context.Context, err error) int {
	var quiet quietError
	var usage *usageError
	var args *component.UsageError
	var start *backend.StartError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &usage), errors.As(err, &args):
		return exitUsage
	case errors.As(err, &start):
		return startCode(start.Code)
	case interrupted(ctx, err):
		return exitInterrupted
	}
	return exitError
}

// startCode keeps to the codes that a start can fail with.
func startCode(code int) int {
	switch code {
	case exitNotFound, exitNotExecutable:
		return code
	}
	return exitSupervise
}

func interrupted(ctx context.Context, err error) bool {
	return errors.Is(err, errInterrupted) ||
		errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errInterrupted)
}
