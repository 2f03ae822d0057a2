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

// After returns how long an app ran, if that is known, and how often it was restarted.
func After(s *spec.Status) (text string) {
	if s.StartedAt != nil && s.FinishedAt != nil {
		text = fmt.Sprintf(" after %s", s.FinishedAt.Sub(*s.StartedAt).Round(time.Millisecond))
	}
	if s.NumRestarts > 0 {
		text += " and " + Counted(s.NumRestarts, "restart")
	}
	return text
}

// LeftRunning says which roles keep an app from ending and what to do about it, "" if
// there are none.
func LeftRunning(s *spec.Status) string {
	if len(s.LeftRunning) == 0 {
		return ""
	}
	verb := "runs, which others waited for"
	if len(s.LeftRunning) > 1 {
		verb = "run, which others waited for"
	}
	return fmt.Sprintf("only %s still %s: make it a sidecar (specs.Role(sidecar=True)) to end it with them, or type torchx cancel %s",
		strings.Join(s.LeftRunning, ", "), verb, s.Handle)
}

// HowItEnded returns how the last attempt of a replica ended, and after what time.
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
		how += fmt.Sprintf(" in the last of %d attempts", r.Attempt+1)
	}
	return how
}

// FilterRoles removes all but the named roles from a status.
func FilterRoles(s *spec.Status, names []string) {
	s.Roles = slices.DeleteFunc(s.Roles, func(r spec.RoleStatus) bool { return !slices.Contains(names, r.Role) })
}
