package main

import (
	"context"
	"io"
	"strconv"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// logTarget is whose logs are read.
type logTarget struct {
	ref  runner.Ref
	role string // "" is all
	ids  []int  // none is all
}

// String writes the target as it is typed.
func (t logTarget) String() string {
	text := t.ref.Handle()
	if t.role == "" {
		return text
	}
	text += "/" + t.role
	for i, id := range t.ids {
		text += string("/,"[min(i, 1)]) + strconv.Itoa(id)
	}
	return text
}

// logStyle is how lines are shown.
type logStyle struct{ prefix, timestamps, json bool }

// copyLogs writes the selected lines of the target to w.
func (t *tool) copyLogs(ctx context.Context, w io.Writer, s style, r *runner.Runner, target logTarget, q logQuery, ls logStyle) (logview.Stats, error) {
	if q.fresh {
		return t.copyNew(ctx, w, s, r, target, q, ls)
	}
	q.read.Untimed = !ls.timestamps && !ls.json
	open, err := r.Logs(ctx, target.ref, target.role, target.ids, q.read)
	if err != nil {
		return logview.Stats{}, err
	}
	return copyOpen(ctx, w, s, open, q, ls, nil)
}

// copyNew is copyLogs for what came since the last look.
func (t *tool) copyNew(ctx context.Context, w io.Writer, s style, r *runner.Runner, target logTarget, q logQuery, ls logStyle) (logview.Stats, error) {
	l := t.newLookout(ctx, r, target, q, ls)
	options := func(replica spec.Replica) backend.LogOptions { return l.options(ctx, replica, q.read) }
	open, err := r.LogsOf(ctx, target.ref, target.role, target.ids, options)
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
func copyOpen(ctx context.Context, w io.Writer, s style, open []runner.LogInput, q logQuery, ls logStyle, written func([]int64)) (logview.Stats, error) {
	defer runner.CloseLogs(open)
	inputs := make([]logview.Input, len(open))
	for i, in := range open {
		inputs[i] = logview.Input{Role: in.Role, ID: in.ID, Reader: in.Reader}
		if !ls.json {
			inputs[i].Role = oneLine(in.Role) // it becomes a prefix on the screen
		}
	}
	return logview.Copy(ctx, w, inputs, logview.Options{
		Prefix: ls.prefix, Color: s.color, Timestamps: ls.timestamps, JSON: ls.json,
		Regex: q.regex, Follow: q.read.Follow, Written: written,
	})
}

// log is the command `log`.
func (t *tool) log(ctx context.Context, o logOptions) error {
	q, err := o.query(failpoint.Now())
	if err != nil {
		return err
	}
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	target := logTarget{}
	if target.ref, target.role, target.ids, err = r.ResolveLog(ctx, o.target); err != nil {
		return err
	}
	// A single replica's lines need no name, and what it writes without a newline
	// (a progress bar, a prompt) is shown as it comes.
	single := len(target.ids) == 1
	q.read.Partial = q.read.Follow && single && q.regex == nil
	ls := logStyle{!single, o.timestamps, o.json}
	var stats logview.Stats
	if o.failed {
		stats, err = t.copyFailed(ctx, r, target, q, ls)
	} else {
		stats, err = t.copyLogs(ctx, t.out, t.outStyle, r, target, q, ls)
	}
	if err != nil {
		return err
	}
	if o.json { // else they stand where the lines are missing
		for _, n := range stats.Notices {
			t.warn("%s", n)
		}
	}
	if !stats.Shown && len(stats.Notices) > 0 {
		return quietError{exitError}
	}
	return nil
}
