package ui

import (
	"fmt"
	"time"

	"torchx/runtime/spec"
)

func HowItEnded(r *spec.ReplicaStatus) string {
	how := "how is not known"
	switch {
	case r.Signal != "" && r.ExitCode != nil:
		how = fmt.Sprintf("killed by %s (exit code %d)", r.Signal, *r.ExitCode)
	case r.Signal != "":
		how = "killed by " + r.Signal
	case r.ExitCode != nil:
		how = fmt.Sprintf("exit code %d", *r.ExitCode)
	}
	if r.Msg != "" {
		how += ", " + r.Msg
	}
	if r.StartedAt != nil && r.FinishedAt != nil {
		how += " after " + r.FinishedAt.Sub(*r.StartedAt).Round(time.Millisecond).String()
	}
	if r.Attempt > 0 {
		how += fmt.Sprintf(" in attempt %d", r.Attempt)
	}
	return how
}
