package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// StateColor returns the color of a state, "" for none.
func StateColor(s spec.State) string {
	switch s {
	case spec.Succeeded:
		return AnsiGreen
	case spec.Failed:
		return AnsiRed
	case spec.Cancelled:
		return AnsiYellow
	case spec.Running:
		return AnsiBlue
	}
	return ""
}

// StateText returns a state for a table, without the reason.
func StateText(s spec.State, msg string) string {
	if s == spec.Pending && strings.HasPrefix(msg, spec.QueuedMark) {
		return s.String() + " queued"
	}
	if spec.IsQueued(s, msg) {
		return s.String() + " waiting"
	}
	if step, ok := strings.CutPrefix(msg, spec.PreparingMark); ok && s == spec.Submitted {
		verb, _, _ := strings.Cut(step, " ")
		return s.String() + " " + verb
	}
	return s.String()
}

// StateLine returns the state of an app with its reason and how long it took, as `status`,
// `run`, `wait` and `attach` show it: "SUCCEEDED after 3.2s and 1 restart".
func StateLine(s *spec.Status, now time.Time) string {
	text := s.State.String()
	if s.State == spec.Failed {
		return text + ": " + Failure(s)
	}
	if s.StartedAt != nil && s.FinishedAt != nil {
		text += " after " + Took(s.FinishedAt.Sub(*s.StartedAt))
	} else if s.StartedAt != nil && s.State == spec.Running {
		text += " for " + Took(now.Sub(*s.StartedAt).Truncate(time.Second))
	}
	if s.NumRestarts > 0 {
		text += " and " + Counted(s.NumRestarts, "restart")
	}
	if why := cmp.Or(s.Msg, LeftRunning(s)); why != "" && why != canceledMsg {
		text += ": " + why
	}
	return text
}

// canceledMsg is the message of a canceled app, which says no more than its state.
const canceledMsg = "cancelled"

// Failure returns why an app failed: which replica failed first, and how.
func Failure(s *spec.Status) string {
	first := s.FirstFailure
	if first == nil {
		return cmp.Or(s.Msg, "the reason is not known")
	}
	n := 0
	for _, role := range s.Roles {
		n += len(role.Replicas)
	}
	of := ""
	if n > 1 {
		of = fmt.Sprintf(" of %d replicas", n)
	}
	if strings.HasPrefix(s.Msg, nameOfPart(first)) {
		return s.Msg
	}
	if first.StartedAt == nil && first.ExitCode != nil && first.Msg != "" {
		return fmt.Sprintf("%s/%d could not start: %s", first.Role, first.ID, first.Msg)
	}
	return fmt.Sprintf("%s/%d failed first%s: %s", first.Role, first.ID, of, HowItEnded(first))
}

// IsAboutFirst reports whether the message of a failed app is about the replica that failed first.
func IsAboutFirst(s *spec.Status) bool {
	first := s.FirstFailure
	return first != nil && (strings.HasPrefix(s.Msg, outcome.Name(first)+" ") || strings.HasPrefix(s.Msg, nameOfPart(first)))
}

// nameOfPart begins the message of an app whose replicas are apps, too, and so have a name of
// their own: "trial 7 ".
func nameOfPart(r *spec.ReplicaStatus) string { return fmt.Sprintf("%s %d ", r.Role, r.ID) }

// LeftRunning names the roles that keep an app from ending and says what to do, "" if the
// app has none.
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
	how := ""
	switch {
	case r.Signal != "" && r.ExitCode != nil:
		how = fmt.Sprintf("killed by %s (exit code %d)", r.Signal, *r.ExitCode)
	case r.Signal != "":
		how = "killed by " + r.Signal
	case r.ExitCode != nil:
		how = fmt.Sprintf("exit code %d", *r.ExitCode)
	case r.Msg == "":
		how = "exit code not known"
	}
	if how != "" && r.Msg != "" {
		how += ", "
	}
	how += r.Msg
	if r.StartedAt != nil && r.FinishedAt != nil {
		how += " after " + Took(r.FinishedAt.Sub(*r.StartedAt))
	}
	if r.Attempt > 0 {
		how += fmt.Sprintf(" in the last of %d attempts", r.Attempt+1)
	}
	return how
}

// FilterRoles leaves only the named roles in a status.
func FilterRoles(s *spec.Status, names []string) {
	s.Roles = slices.DeleteFunc(s.Roles, func(r spec.RoleStatus) bool { return !slices.Contains(names, r.Role) })
}
