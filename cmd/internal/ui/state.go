package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/runtime/spec"
)

// QueuedMark begins the message of a queued app.
const QueuedMark = "queued: "

// StateText returns a state for a table, which has no room for why an app waits.
func StateText(s spec.State, msg string) string {
	if s == spec.Pending && strings.HasPrefix(msg, QueuedMark) {
		return s.String() + " queued"
	}
	return s.String()
}

// After returns how long an app ran, "" if that is not known.
func After(s *spec.Status) string {
	if s.StartedAt == nil || s.FinishedAt == nil {
		return ""
	}
	return fmt.Sprintf(" after %s", s.FinishedAt.Sub(*s.StartedAt).Round(time.Millisecond))
}

// HowItEnded returns how a replica ended, after what time and in which attempt.
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

// FilterRoles removes all but the named roles from a status.
func FilterRoles(s *spec.Status, names []string) {
	s.Roles = slices.DeleteFunc(s.Roles, func(r spec.RoleStatus) bool { return !slices.Contains(names, r.Role) })
}
