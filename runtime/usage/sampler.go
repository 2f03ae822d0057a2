package usage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/procs"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// Limits of one sample.
const (
	maxApps      = 200                    // live apps, newest first
	maxRecent    = 50                     // newest apps, checked for recently ended ones
	maxEndedAge  = time.Minute            // how long ended apps are included
	lineTimeout  = 200 * time.Millisecond // for reading one last line
	maxLineBytes = 400                    // of a last line
	maxLineRead  = 16 * maxLineBytes      // progress bars overwrite a line many times
)

// liveStates are the states of apps that have not ended.
var liveStates = []spec.State{spec.Unsubmitted, spec.Submitted, spec.Pending, spec.Running, spec.Unknown}

// Sampler samples apps repeatedly. It is not safe for concurrent use.
type Sampler struct {
	runner *runner.Runner
	live   map[runner.Ref]bool         // at the previous sample
	ended  map[runner.Ref]*spec.Status // final statuses
	cpu    map[int]time.Duration       // by process, at the previous sample
	at     time.Time                   // of the previous sample
	meters meters
}

// NewSampler returns a sampler of the apps of a runner.
func NewSampler(r *runner.Runner) *Sampler {
	return &Sampler{runner: r, live: map[runner.Ref]bool{}, ended: map[runner.Ref]*spec.Status{}, meters: meters{}}
}

// Sample returns the live apps and those that ended within the last minute.
func (s *Sampler) Sample(ctx context.Context, now time.Time) ([]*App, error) {
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, err
	}
	apps := []*App{}
	for _, row := range rows {
		status, err := s.status(ctx, row)
		if err != nil || status.State.Terminal() &&
			(status.FinishedAt == nil || now.Sub(*status.FinishedAt) > maxEndedAge) {
			continue
		}
		apps = append(apps, newApp(row, status, now))
	}
	s.meters.read(ctx, s.runner, apps, now)
	s.measure(apps, now)
	return apps, ctx.Err()
}

// rows returns the live apps, those that were live at the previous sample, and the newest apps if
// they ended recently.
func (s *Sampler) rows(ctx context.Context) ([]history.View, error) {
	rows, err := s.runner.List(ctx, runner.Filter{States: liveStates, Limit: maxApps})
	if err != nil {
		return nil, err
	}
	recent, err := s.runner.List(ctx, runner.Filter{Limit: maxRecent})
	if err != nil {
		return nil, err
	}
	isImported := func(v history.View) bool { return v.Backend == history.Imported }
	rows, recent = slices.DeleteFunc(rows, isImported), slices.DeleteFunc(recent, isImported)
	live, listed := map[runner.Ref]bool{}, map[runner.Ref]bool{}
	for _, row := range rows {
		live[row.AppKey], listed[row.AppKey] = true, true
	}
	for _, row := range recent {
		if ref := row.AppKey; !listed[ref] && row.FinishedAt != nil &&
			time.Since(*row.FinishedAt) <= maxEndedAge {
			listed[ref] = true
			rows = append(rows, row)
		}
	}
	for ref := range s.live {
		if !listed[ref] {
			rows = append(rows, history.View{App: history.App{AppKey: ref}})
		}
	}
	s.live = live
	return rows, nil
}

func (s *Sampler) status(ctx context.Context, row history.View) (*spec.Status, error) {
	ref := row.AppKey
	if known := s.ended[ref]; known != nil {
		return known, nil
	}
	status, err := s.runner.Status(ctx, ref)
	if errors.Is(err, backend.ErrNotFound) {
		delete(s.live, ref)
	}
	if err == nil && status.State.Terminal() {
		s.ended[ref] = status
	}
	return status, err
}

// measure sets the resource usage of processes and the sums of each app.
func (s *Sampler) measure(apps []*App, now time.Time) {
	cpu := map[int]time.Duration{}
	used := processUsage(apps)
	for _, app := range apps {
		for i := range app.Replicas {
			r := &app.Replicas[i]
			if r.PID == nil {
				continue
			}
			if u, ok := used[*r.PID]; ok {
				cpu[*r.PID] = u.CPU
				r.RSS, r.CPU = &u.RSS, s.percent(*r.PID, u.CPU, r.Elapsed, now)
			}
		}
		app.sum()
	}
	s.cpu, s.at = cpu, now
}

func processUsage(apps []*App) map[int]procs.Usage {
	var roots []int
	for _, app := range apps {
		for i := range app.Replicas {
			if pid := app.Replicas[i].PID; pid != nil {
				roots = append(roots, *pid)
			}
		}
	}
	if len(roots) == 0 {
		return nil
	}
	return procs.Trees(roots)
}

// percent returns the average CPU usage since the previous sample, else since the start.
func (s *Sampler) percent(pid int, cpu time.Duration, elapsed *float64, now time.Time) *float64 {
	before, known := s.cpu[pid]
	seconds := now.Sub(s.at).Seconds()
	if !known || cpu < before {
		if elapsed == nil {
			return nil
		}
		before, seconds = 0, *elapsed
	}
	if seconds <= 0 {
		return nil
	}
	percent := 100 * (cpu - before).Seconds() / seconds
	return &percent
}

// ReadLastLines sets the last lines of the replicas in limit rows from row first on, where each app
// and each replica is a row. It reads only logs on this machine.
func (s *Sampler) ReadLastLines(ctx context.Context, apps []*App, first, limit int) {
	row := 0
	for _, a := range apps {
		b, err := s.runner.Backends.Get(a.Backend)
		readable := err == nil && b.Capabilities().RunsHere
		row++
		for i := range a.Replicas {
			if r := &a.Replicas[i]; readable && row >= first &&
				row < first+limit && ctx.Err() == nil {
				r.LastLine = lastLine(ctx, b, a.ID, spec.Replica{Role: r.Role, ID: r.ID})
			}
			row++
		}
	}
}

// lastLine returns the last line of a replica; nil if it has none or reading takes too long.
func lastLine(ctx context.Context, b backend.Backend, id string, r spec.Replica) *string {
	ctx, cancel := context.WithTimeout(ctx, lineTimeout)
	defer cancel()
	reader, err := b.Logs(ctx, id, r, backend.LogOptions{Tail: 1})
	if err != nil {
		return nil
	}
	defer reader.Close()
	var line string
	for {
		block, err := reader.Next(ctx)
		if err != nil {
			break
		}
		if len(block.Data) > 0 {
			line = visiblePart(string(block.Data[max(0, len(block.Data)-maxLineRead):]))
		}
	}
	if line == "" {
		return nil
	}
	return &line
}

// visiblePart returns the part of a line that a terminal would show: the text after its last
// carriage return, up to maxLineBytes.
func visiblePart(data string) string {
	line := strings.TrimRight(data, "\r\n")
	line = line[strings.LastIndexAny(line, "\r\n")+1:]
	if len(line) > maxLineBytes {
		line = strings.ToValidUTF8(line[:maxLineBytes], "")
	}
	return line
}
