package remote

import (
	"fmt"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// StartError returns why a container runtime did not start a program, as its message tells; nil if
// the message is about something else.
func StartError(program, message string) error {
	code, why := 0, ""
	switch {
	case strings.Contains(message, "executable file not found"), strings.Contains(message, "no such file or directory"):
		code, why = spec.ExitNotFound, "not found"
	case strings.Contains(message, "exec: ") && (strings.Contains(message, "permission denied") || strings.Contains(message, "is a directory")):
		code, why = spec.ExitNotExecutable, "is not executable"
	default:
		return nil
	}
	return &backend.StartError{Code: code, Err: fmt.Errorf("%s %s in the container", program, why)}
}
