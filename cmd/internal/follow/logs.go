package follow

import (
	"context"
	"io"
	"strconv"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// LogTarget is whose logs are read.
type LogTarget struct {
	Ref  runner.Ref
	Role string // "" is all
	Ids  []int  // none is all
}

// String writes the target as it is typed.
func (t LogTarget) String() string {
	text := t.Ref.Handle()
	if t.Role == "" {
		return text
	}
	text += "/" + t.Role
	for i, id := range t.Ids {
		text += string("/,"[min(i, 1)]) + strconv.Itoa(id)
	}
	return text
}

// LogStyle is how lines are shown.
type LogStyle struct{ Prefix, Timestamps, JSON bool }

// CopyLogs writes the selected lines of the target to w.
func CopyLogs(ctx context.Context, t *program.Factory, w io.Writer, s ui.Style, r *runner.Runner, target LogTarget, q LogQuery, ls LogStyle) (logview.Stats, error) {
	if q.Fresh {
		return copyNew(ctx, t, w, s, r, target, q, ls)
	}
	q.Read.Untimed = !ls.Timestamps && !ls.JSON
	open, err := r.Logs(ctx, target.Ref, target.Role, target.Ids, q.Read)
	if err != nil {
		return logview.Stats{}, err
	}
	return copyOpen(ctx, w, s, open, q, ls, nil)
}

// copyNew is copyLogs for what came since the last look.
func copyNew(ctx context.Context, t *program.Factory, w io.Writer, s ui.Style, r *runner.Runner, target LogTarget, q LogQuery, ls LogStyle) (logview.Stats, error) {
	l := newLookout(ctx, t, r, target, q, ls)
	options := func(replica spec.Replica) backend.LogOptions { return l.options(ctx, replica, q.Read) }
	open, err := r.LogsOf(ctx, target.Ref, target.Role, target.Ids, options)
	if err != nil {
		return logview.Stats{}, err
	}
	for i := range open {
		open[i].Reader = l.reader(open[i])
	}
	stop := l.keepSaving()
	stats, err := copyOpen(ctx, w, s, open, q, ls, l.written)
	stop()
	l.end(ctx, err)
	return stats, err
}

// copyOpen writes open logs to w and closes them; written is as in logmux.Options.
func copyOpen(ctx context.Context, w io.Writer, s ui.Style, open []runner.LogInput, q LogQuery, ls LogStyle, written func([]int64)) (logview.Stats, error) {
	defer runner.CloseLogs(open)
	inputs := make([]logview.Input, len(open))
	for i, in := range open {
		inputs[i] = logview.Input{Role: in.Role, ID: in.ID, Reader: in.Reader}
		if !ls.JSON {
			inputs[i].Role = ui.OneLine(in.Role) // it becomes a prefix on the screen
		}
	}
	return logview.Copy(ctx, w, inputs, logview.Options{
		Prefix: ls.Prefix, Color: s.Color, Timestamps: ls.Timestamps, JSON: ls.JSON,
		Regex: q.Regex, Follow: q.Read.Follow, Written: written,
	})
}
