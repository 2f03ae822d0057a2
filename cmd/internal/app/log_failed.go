package app

import (
	"context"
	"slices"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// copyFailed is copyLogs for those replicas of the target alone that failed, one
// after the other, the one that failed first at the top.
func copyFailed(ctx context.Context, t *program.Factory, r *runner.Runner, target follow.LogTarget, q follow.LogQuery, ls follow.LogStyle) (logview.Stats, error) {
	var all logview.Stats
	s, err := r.Status(ctx, target.Ref)
	if err != nil {
		return all, err
	}
	failed := failedReplicas(s, target)
	if len(failed) == 0 {
		t.Say("no replica of %s has failed", target)
	}
	var unread error
	for _, f := range failed {
		one := follow.LogTarget{Ref: target.Ref, Role: f.Role, Ids: []int{f.ID}}
		stats, err := follow.CopyLogs(ctx, t, t.Out, t.OutStyle, r, one, q, ls)
		if err != nil {
			if ctx.Err() != nil || program.IsBrokenPipe(err) || len(failed) == 1 {
				return all, err
			}
			t.Explain(err) // the others are all the more wanted
			unread = program.QuietError(program.ExitError)
		}
		all.Shown = all.Shown || stats.Shown
		all.Bytes += stats.Bytes
		all.Notices = append(all.Notices, stats.Notices...)
	}
	return all, unread
}

// failedReplicas returns the failed replicas of a target, the first to fail first.
func failedReplicas(s *spec.Status, target follow.LogTarget) []spec.ReplicaStatus {
	return slices.DeleteFunc(s.FailedReplicas(), func(r spec.ReplicaStatus) bool {
		return target.Role != "" && target.Role != r.Role || len(target.Ids) > 0 && !slices.Contains(target.Ids, r.ID)
	})
}
