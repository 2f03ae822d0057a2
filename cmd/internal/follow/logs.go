package follow

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/logview/position"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// LogTarget selects replicas.
type LogTarget struct {
	Ref  runner.Ref
	Role string // "" selects all
	IDs  []int  // empty selects all
}

// String returns the target as users type it.
func (t LogTarget) String() string {
	text := t.Ref.Handle()
	if t.Role == "" {
		return text
	}
	text += "/" + t.Role
	for i, id := range t.IDs {
		text += string("/,"[min(i, 1)]) + strconv.Itoa(id)
	}
	return text
}

// LogRequest selects lines of replicas and how they are printed.
type LogRequest struct {
	Target LogTarget
	Seen   *runner.Seen // the app, if it was just read; nil: Print reads it
	Read   backend.LogOptions
	Regex  *regexp.Regexp
	New    bool // only lines added since the previous request with New

	Prefix, Timestamps, JSON bool
}

// LogPrinter prints logs.
type LogPrinter struct {
	Console *ui.Console // for warnings
	Runner  *runner.Runner
	Out     io.Writer
	Color   bool
	// Restarts announces restarts between the lines; nil: Print makes one if it follows.
	Restarts *Announcer
}

// Print writes the requested lines.
func (p LogPrinter) Print(ctx context.Context, q LogRequest) (logview.Stats, error) {
	if q.Read.Follow && p.Restarts == nil {
		p.Restarts = Announce(p.Console, p.Runner, q.Target, true)
		defer p.Restarts.Stop()
	}
	if p.Restarts != nil {
		defer p.Restarts.notes.Close() // if Copy was not called
	}
	if q.New {
		return p.printNew(ctx, q)
	}
	q.Read.Untimed = !q.Timestamps && !q.JSON
	open, err := p.open(ctx, q, func(*spec.Status, spec.Replica) backend.LogOptions { return q.Read })
	if err != nil {
		return logview.Stats{}, err
	}
	if text := hint(q, open); text != "" {
		p.Console.Say("%s", text)
	}
	return p.copy(ctx, open, q, nil)
}

// open opens the logs of the selected replicas.
func (p LogPrinter) open(
	ctx context.Context, q LogRequest, options runner.ReplicaOptions,
) ([]runner.LogInput, error) {
	t := q.Target
	if q.Seen == nil {
		return p.Runner.LogsOf(ctx, t.Ref, t.Role, t.IDs, options)
	}
	replicas, err := p.Runner.Replicas(ctx, t.Ref, q.Seen.Status, t.Role, t.IDs)
	if err != nil {
		return nil, err
	}
	return p.Runner.LogsAt(ctx, t.Ref, *q.Seen, replicas, len(t.IDs) > 0, options)
}

// manyLogs is the number of logs from which Print suggests to name replicas.
const manyLogs = 1000

// hint returns which of many replicas are not shown yet, and how to name some; "" if all are
// shown soon.
func hint(q LogRequest, open []runner.LogInput) string {
	named := q.Target
	if !q.Read.Follow {
		if len(open) < manyLogs {
			return ""
		}
		named.Role, named.IDs = open[0].Role, []int{open[0].ID, open[1].ID}
		return fmt.Sprintf("reading the logs of %d replicas: name those that you need, as in torchx log %s", len(open), named)
	}
	var waiting []runner.LogInput
	for _, in := range open {
		if w, ok := in.Reader.(backend.WaitingLog); ok && w.Waits() {
			waiting = append(waiting, in)
		}
	}
	if len(waiting) == 0 {
		return ""
	}
	first := waiting[0]
	named.Role, named.IDs = first.Role, []int{first.ID}
	return fmt.Sprintf("the logs of %d of %d replicas can be followed at the same time, by the limit of open files: those from %s/%d on follow "+
		"when others end; name the replicas that you need, as in torchx log -t %s", len(open)-len(waiting), len(open), first.Role, first.ID, named)
}

// printNew writes the lines added since the previous request with New.
func (p LogPrinter) printNew(ctx context.Context, q LogRequest) (logview.Stats, error) {
	var tracker *position.Tracker
	open, err := p.open(ctx, q, func(s *spec.Status, r spec.Replica) backend.LogOptions {
		if tracker == nil {
			tracker = position.NewTracker(position.Config{
				History: p.Runner.History, App: q.Target.Ref, Stream: q.Read.Stream, Follow: q.Read.Follow, Status: s, Warn: p.Console.Warn,
				Lines: position.Lines{Whole: q.JSON || q.Regex != nil, Prefixed: q.Prefix || q.Timestamps},
			})
		}
		return tracker.Options(ctx, r, q.Read)
	})
	if err != nil {
		return logview.Stats{}, err
	}
	if text := hint(q, open); text != "" {
		p.Console.Say("%s", text)
	}
	for i, in := range open {
		open[i].Reader = tracker.Reader(spec.Replica{Role: in.Role, ID: in.ID}, in.Reader)
	}
	stop := tracker.KeepSaving()
	stats, err := p.copy(ctx, open, q, tracker.Written)
	stop()
	if !program.IsBrokenPipe(err) { // what was in a closed pipe is lost, so it is printed again
		tracker.Save(ctx)
	}
	return stats, err
}

// copy writes open logs and closes them; written is as in logview.Options.
func (p LogPrinter) copy(
	ctx context.Context, open []runner.LogInput, q LogRequest, written func([]int64),
) (logview.Stats, error) {
	defer runner.CloseLogs(open)
	inputs := make([]logview.Input, len(open))
	for i, in := range open {
		inputs[i] = logview.Input{Role: in.Role, ID: in.ID, Reader: in.Reader}
		if !q.JSON {
			inputs[i].Role = ui.OneLine(in.Role) // it becomes a prefix on the screen
		}
	}
	o := logview.Options{
		Prefix: q.Prefix, Color: p.Color, Timestamps: q.Timestamps, JSON: q.JSON,
		Regex: q.Regex, Follow: q.Read.Follow, Written: written,
	}
	if p.Restarts != nil {
		o.Notes = p.Restarts.notes
	}
	return logview.Copy(ctx, p.Out, inputs, o)
}
