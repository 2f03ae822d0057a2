package follow

import (
	"context"
	"fmt"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// lastLines is how much of a failed replica's output is shown with the failure.
const lastLines = 20

// explainFailure says which replica failed first and how, shows the end of its
// output and what to type next.
func explainFailure(ctx context.Context, t *program.Factory, r *runner.Runner, ref runner.Ref, s *spec.Status) {
	first := s.FirstFailure
	if first == nil {
		reason := s.Msg
		if reason == "" {
			reason = "no reason is known"
		}
		t.SayError(fmt.Sprintf("%s FAILED: %s", ref.Handle(), reason))
		t.Line("", "look closer: torchx status "+ref.Handle())
		return
	}
	name := fmt.Sprintf("%s/%d", first.Role, first.ID)
	t.SayError(fmt.Sprintf("%s FAILED: %s failed first%s: %s", ref.Handle(), name, among(s), ui.HowItEnded(first)))
	if report, ok := spec.ParseErrorReport(first.StructuredErrorMsg); ok {
		t.Line("", name+" says: "+report.Message)
	}
	showLast(ctx, t, r, ref, first)
	t.Line("", fmt.Sprintf("see all of it: torchx log %s/%s", ref.Handle(), name))
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

// showLast prints the last lines that a replica wrote. That they cannot be read
// is not worth a second error.
func showLast(ctx context.Context, t *program.Factory, r *runner.Runner, ref runner.Ref, first *spec.ReplicaStatus) {
	q := LogQuery{Read: backend.LogOptions{Tail: lastLines, Attempt: &first.Attempt}}
	target := LogTarget{Ref: ref, Role: first.Role, Ids: []int{first.ID}}
	out := &ui.Indented{W: t.Err, Title: fmt.Sprintf("torchx: the last lines of %s/%d:\n", ui.OneLine(first.Role), first.ID)}
	if _, err := CopyLogs(ctx, t, out, ui.Style{}, r, target, q, LogStyle{}); err != nil && t.Level == ui.LevelDebug {
		t.Line("", "its output cannot be read: "+err.Error())
	}
	out.End()
}
