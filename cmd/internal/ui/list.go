package ui

import (
	"fmt"
	"time"

	"torchx/runtime/spec"
)

// After says how long an app ran, if that is known.
func After(s *spec.Status) string {
	if s.StartedAt == nil || s.FinishedAt == nil {
		return ""
	}
	return fmt.Sprintf(" after %s", s.FinishedAt.Sub(*s.StartedAt).Round(time.Millisecond))
}
