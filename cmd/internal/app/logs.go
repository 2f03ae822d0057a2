package app

import (
	"context"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/program"
	"torchx/runtime/failpoint"
	"torchx/runtime/logview"
)

// log is the command `log`.
func log(ctx context.Context, t *program.Factory, o logOptions) error {
	q, err := o.query(failpoint.Now())
	if err != nil {
		return err
	}
	r, err := t.Runner(ctx)
	if err != nil {
		return err
	}
	target := follow.LogTarget{}
	if target.Ref, target.Role, target.Ids, err = r.ResolveLog(ctx, o.target); err != nil {
		return err
	}
	// A single replica's lines need no name, and what it writes without a newline
	// (a progress bar, a prompt) is shown as it comes.
	single := len(target.Ids) == 1
	q.Read.Partial = q.Read.Follow && single && q.Regex == nil
	ls := follow.LogStyle{Prefix: !single, Timestamps: o.timestamps, JSON: o.json}
	var stats logview.Stats
	if o.failed {
		stats, err = copyFailed(ctx, t, r, target, q, ls)
	} else {
		stats, err = follow.CopyLogs(ctx, t, t.Out, t.OutStyle, r, target, q, ls)
	}
	if err != nil {
		return err
	}
	if o.json { // else they stand where the lines are missing
		for _, n := range stats.Notices {
			t.Warn("%s", n)
		}
	}
	if !stats.Shown && len(stats.Notices) > 0 {
		return program.QuietError(program.ExitError)
	}
	return nil
}
