package main

import (
	"context"
	"fmt"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// lastLines is how much of a failed replica's output is shown with the failure.
const lastLines = 20

// explainFailure says which replica failed first and how, shows the end of its
// output and what to type next.
func (t *tool) explainFailure(ctx context.Context, r *runner.Runner, ref runner.Ref, s *spec.Status) {
	first := s.FirstFailure
	if first == nil {
		reason := s.Msg
		if reason == "" {
			reason = "no reason is known"
		}
		t.sayError(fmt.Sprintf("%s FAILED: %s", ref.Handle(), reason))
		t.line("", "look closer: torchx status "+ref.Handle())
		return
	}
	name := fmt.Sprintf("%s/%d", first.Role, first.ID)
	t.sayError(fmt.Sprintf("%s FAILED: %s failed first%s: %s", ref.Handle(), name, among(s), howItEnded(first)))
	if report, ok := parseErrorFile(first.StructuredErrorMsg); ok {
		t.line("", name+" says: "+report.message)
	}
	t.showLast(ctx, r, ref, first)
	t.line("", fmt.Sprintf("see all of it: torchx log %s/%s", ref.Handle(), name))
}

// among adds how many others there are, if any.
func among(s *spec.Status) string {
	n := 0
	for _, role := range s.Roles {
		n += len(role.Replicas)
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" of %d replicas", n)
}

func howItEnded(r *spec.ReplicaStatus) string {
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

// showLast prints the last lines that a replica wrote. That they cannot be read
// is not worth a second error.
func (t *tool) showLast(ctx context.Context, r *runner.Runner, ref runner.Ref, first *spec.ReplicaStatus) {
	q := logQuery{read: backend.LogOptions{Tail: lastLines, Attempt: &first.Attempt}}
	target := logTarget{ref: ref, role: first.Role, ids: []int{first.ID}}
	out := &indented{w: t.err, title: fmt.Sprintf("torchx: the last lines of %s/%d:\n", oneLine(first.Role), first.ID)}
	if _, err := t.copyLogs(ctx, out, style{}, r, target, q, logStyle{}); err != nil && t.level == levelDebug {
		t.line("", "its output cannot be read: "+err.Error())
	}
	out.end()
}
