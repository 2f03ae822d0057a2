package follow

import (
	"context"
	"io"
	"strconv"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/logview/position"
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

// copyNew is CopyLogs for the lines added since the previous `--new`.
func copyNew(ctx context.Context, t *program.Factory, w io.Writer, s ui.Style, r *runner.Runner, target LogTarget, q LogQuery, ls LogStyle) (logview.Stats, error) {
	status, _ := r.Status(ctx, target.Ref) // LogsOf reports the error
	tracker := position.NewTracker(position.Config{
		History: r.History, App: target.Ref, Stream: q.Read.Stream, Follow: q.Read.Follow, Status: status, Warn: t.Warn,
		Lines: position.Lines{Whole: ls.JSON || q.Regex != nil, Prefixed: ls.Prefix || ls.Timestamps},
	})
	options := func(replica spec.Replica) backend.LogOptions { return tracker.Options(ctx, replica, q.Read) }
	open, err := r.LogsOf(ctx, target.Ref, target.Role, target.Ids, options)
	if err != nil {
		return logview.Stats{}, err
	}
	for i, in := range open {
		open[i].Reader = tracker.Reader(spec.Replica{Role: in.Role, ID: in.ID}, in.Reader)
	}
	stop := tracker.KeepSaving()
	stats, err := copyOpen(ctx, w, s, open, q, ls, tracker.Written)
	stop()
	if !program.IsBrokenPipe(err) { // what a closed pipe held is lost, so all of it is printed again
		tracker.Save(ctx)
	}
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
