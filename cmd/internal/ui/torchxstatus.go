package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// Widths of TorchX's layout.
const (
	errorIndent  = "        "
	errorColumns = 80
)

// TorchXStatus returns a status in TorchX's layout, with exit codes and attempts added where
// they are known. Times are shown in loc.
func TorchXStatus(s *spec.Status, loc *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "AppStatus:\n    State: %s\n    Num Restarts: %d\n    Roles: ",
		s.State, s.NumRestarts)
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

// shownRestarts is the number of restarts that are listed.
const shownRestarts = 10

// restartsText lists the latest restarts.
func restartsText(s *spec.Status, loc *time.Location) string {
	if len(s.Restarts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("    Restarts:\n")
	if more := len(s.Restarts) - shownRestarts; more > 0 {
		fmt.Fprintf(&b, "%s%d earlier: torchx events %s\n", errorIndent, more, OneLine(s.Handle))
	}
	for _, r := range s.Restarts[max(0, len(s.Restarts)-shownRestarts):] {
		fmt.Fprintf(&b, "%s%s %s\n", errorIndent, r.Time.In(loc).Format(time.DateTime),
			OneLine(r.String()))
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

// replicaText returns a replica's line, starred for the first replica of a role, and below it
// the contents of its error file.
func replicaText(r *spec.ReplicaStatus, loc *time.Location) string {
	star := " "
	if r.ID == 0 {
		star = "*"
	}
	head := fmt.Sprintf(" %s%s[%d]:%s", star, OneLine(r.Role), r.ID, r.State)
	report, ok := spec.ParseErrorReport(r.StructuredErrorMsg)
	switch {
	case ok:
		if r.ExitCode != nil && *r.ExitCode != 0 {
			report.ExitCode = cmp.Or(report.ExitCode, strconv.Itoa(*r.ExitCode))
		}
		return head + reportText(report, replicaNotes(r, report.ExitCode), r.Hostname, loc)
	case len(r.StructuredErrorMsg) > 0 && string(r.StructuredErrorMsg) != "null":
		return head + replicaNotes(r, "") + "\n" + errorIndent + Clean(spec.ErrorText(r.StructuredErrorMsg), true)
	case r.State == spec.Failed || r.State == spec.Cancelled:
		head += " (no reply file)"
	}
	return head + replicaNotes(r, "")
}

// replicaNotes returns what TorchX's layout has no field for. shownCode is the exit code that
// the line already has, "" for none.
func replicaNotes(r *spec.ReplicaStatus, shownCode string) string {
	var notes []string
	if r.Signal != "" {
		notes = append(notes, OneLine(r.Signal))
	} else if r.ExitCode != nil && *r.ExitCode != 0 && strconv.Itoa(*r.ExitCode) != shownCode {
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

// reportText returns an error report: the end of a replica's line, closed by notes, and the
// lines below it.
func reportText(r spec.ErrorReport, notes, hostname string, loc *time.Location) string {
	at := notAvailable
	if !r.Timestamp.IsZero() {
		at = r.Timestamp.In(loc).Format(time.DateTime)
	}
	return fmt.Sprintf(" (exitcode: %s)%s\n%stimestamp: %s\n%shostname: %s\n%s%s", OneLine(cmp.Or(r.ExitCode, notAvailable)), notes,
		errorIndent, at, errorIndent, OneLine(hostname), errorIndent, messageText(Clean(innerMessage(r.Message), true)))
}

// notAvailable stands for a value that an error file does not have.
const notAvailable = "<N/A>"

// messageText returns the message of a report. As in TorchX, a line breaks at the first space
// after 80 characters, and the message's own newlines are kept.
func messageText(text string) string {
	const head = "error_msg: "
	var b strings.Builder
	b.WriteString(head)
	n := 0 // characters of the line
	for _, r := range text {
		if r == ' ' && n >= errorColumns {
			b.WriteString("\n" + errorIndent[4:] + strings.Repeat(" ", len(head)))
			n = 0
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

var (
	// rpcError matches another worker's error, as torch.distributed.rpc wraps it.
	rpcError = pattern.Lazy(`\w*\('On WorkerInfo\(.+\):\n(?:.*\n)*'\)`)
	// embedded matches a message that contains an exception, such as those of c10::Error.
	embedded = pattern.Lazy(`(.+)\nException.*`)
)

// innerMessage returns the part of a message that TorchX shows.
func innerMessage(text string) string {
	if m := rpcError().FindString(text); m != "" {
		text = m
	}
	if m := embedded().FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return text
}
