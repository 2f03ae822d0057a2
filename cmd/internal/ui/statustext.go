package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/spec"
)

// Widths of the text form of a status, as TorchX users know it.
const (
	errorIndent  = "        "
	errorColumns = 80
)

// StatusText is the readable form of a status: TorchX's layout, to which exit
// codes and attempts are added where they are known. Times are shown in loc.
func StatusText(s *spec.Status, loc *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "AppStatus:\n    State: %s\n    Num Restarts: %d\n    Roles: ", s.State, s.NumRestarts)
	for _, role := range s.Roles {
		for i := range role.Replicas {
			b.WriteString("\n" + replicaText(&role.Replicas[i], loc))
		}
	}
	fmt.Fprintf(&b, "\n    Msg: %s\n    Structured Error Msg: %s\n    UI URL: %s\n",
		OneLine(cmp.Or(s.Msg, LeftRunning(s))), orNone(string(s.StructuredErrorMsg)), deref(s.UIURL, "None"))
	b.WriteString(restartsText(s, loc))
	return b.String()
}

// shownRestarts is how many restarts a status text has.
const shownRestarts = 10

// restartsText lists the latest restarts; it is empty without one.
func restartsText(s *spec.Status, loc *time.Location) string {
	if len(s.Restarts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("    Restarts:\n")
	if more := len(s.Restarts) - shownRestarts; more > 0 {
		fmt.Fprintf(&b, "%s%d before these: torchx events %s\n", errorIndent, more, OneLine(s.Handle))
	}
	for _, r := range s.Restarts[max(0, len(s.Restarts)-shownRestarts):] {
		fmt.Fprintf(&b, "%s%s %s\n", errorIndent, r.Time.In(loc).Format(time.DateTime), OneLine(r.String()))
	}
	return b.String()
}

func orNone(s string) string {
	if s == "" || s == "null" {
		return spec.None
	}
	return OneLine(s)
}

func deref(s *string, otherwise string) string {
	if s == nil {
		return otherwise
	}
	return OneLine(*s)
}

// replicaText is one replica's line, the first of a role starred, and what its
// error file says below it.
func replicaText(r *spec.ReplicaStatus, loc *time.Location) string {
	star := " "
	if r.ID == 0 {
		star = "*"
	}
	head := fmt.Sprintf(" %s%s[%d]:%s", star, OneLine(r.Role), r.ID, r.State)
	report, ok := spec.ParseErrorReport(r.StructuredErrorMsg)
	switch {
	case ok:
		return head + reportText(report, replicaNotes(r, report.ExitCode), r.Hostname, loc)
	case len(r.StructuredErrorMsg) > 0 && string(r.StructuredErrorMsg) != "null":
		return head + replicaNotes(r, "") + "\n" + errorIndent + Clean(spec.ErrorText(r.StructuredErrorMsg), true)
	case r.State == spec.Failed || r.State == spec.Cancelled:
		head += " (no reply file)"
	}
	return head + replicaNotes(r, "")
}

// replicaNotes tells what the layout of TorchX has no place for; said is the
// exit code that stands there already.
func replicaNotes(r *spec.ReplicaStatus, said string) string {
	var notes []string
	if r.Signal != "" {
		notes = append(notes, OneLine(r.Signal))
	} else if r.ExitCode != nil && *r.ExitCode != 0 && strconv.Itoa(*r.ExitCode) != said {
		notes = append(notes, fmt.Sprintf("exit code %d", *r.ExitCode))
	}
	if r.Attempt > 0 {
		notes = append(notes, fmt.Sprintf("attempt %d", r.Attempt))
	}
	if len(r.Devices) > 0 {
		notes = append(notes, "GPU "+OneLine(strings.Join(r.Devices, ",")))
	}
	if r.Msg != "" {
		notes = append(notes, OneLine(r.Msg))
	}
	notes = append(notes, usageNotes(r)...)
	if len(notes) == 0 {
		return ""
	}
	return " " + strings.Join(notes, ", ")
}

// reportText is the report behind and below a replica's line; notes end that line.
func reportText(r spec.ErrorReport, notes, hostname string, loc *time.Location) string {
	var b strings.Builder
	if r.ExitCode != "" {
		fmt.Fprintf(&b, " (exitcode: %s)", r.ExitCode)
	}
	b.WriteString(notes)
	if !r.Timestamp.IsZero() {
		b.WriteString("\n" + errorIndent + "timestamp: " + r.Timestamp.In(loc).Format(time.DateTime))
	}
	if hostname != "" {
		b.WriteString("\n" + errorIndent + "hostname: " + OneLine(hostname))
	}
	lines := breakLines(Clean(r.Message, true), errorColumns)
	b.WriteString("\n" + errorIndent + "error_msg: " + strings.Join(lines, "\n"+errorIndent+errorIndent))
	return b.String()
}

// breakLines breaks text at the first space once a line has reached (nearly)
// the given width, which keeps words whole and white space otherwise as it is.
func breakLines(text string, width int) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		for {
			i := breakAt(line, width-1)
			if i < 0 || i == len(line)-1 {
				break
			}
			out, line = append(out, line[:i]), line[i+1:]
		}
		out = append(out, line)
	}
	return out
}

// breakAt returns the byte offset of the first space at or after column, or -1.
func breakAt(line string, column int) int {
	if TextWidth(line) <= column {
		return -1
	}
	for i, r := range line {
		if r == ' ' && TextWidth(line[:i]) >= column {
			return i
		}
	}
	return -1
}
