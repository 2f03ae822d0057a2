package program

import (
	"torchx/runtime/spec"
)

// AppExit ends the program with the app's own exit code.
func AppExit(s *spec.Status) error {
	switch {
	case s.State == spec.Succeeded:
		return nil
	case s.State == spec.Cancelled:
		return QuietError(ExitInterrupted)
	case s.ExitCode != nil && *s.ExitCode != 0:
		return QuietError(*s.ExitCode)
	}
	return QuietError(ExitError)
}
