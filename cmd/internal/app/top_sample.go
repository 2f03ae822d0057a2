package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/procs"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// Bounds of the work of one look.
const (
	maxTopApps  = 200                    // live apps, the newest
	topRecent   = 50                     // newest apps, among which those that have just ended are sought
	topEnded    = time.Minute            // how long an ended app is shown
	maxTopLines = 200                    // replicas whose last line is read
	lineTime    = 200 * time.Millisecond // for one of them
	maxLastLine = 400                    // bytes of a line that are kept
)

// topApp is one app of `top`; its JSON form is an element of `top --json`. What
// is not known is null.
type topApp struct {
	Handle      string       `json:"handle"`
	Name        string       `json:"name"`
	State       spec.State   `json:"state"`
	NumRestarts int          `json:"num_restarts"`
	CPU         *float64     `json:"cpu_percent"` // 100 is one processor
	RSS         *int64       `json:"rss_bytes"`   // of an ended one the peak
	Elapsed     *float64     `json:"elapsed_seconds"`
	Replicas    []topReplica `json:"replicas"`

	ref       runner.Ref
	waiting   string // why it has not started yet
	submitted time.Time
}

// topReplica is one replica of a topApp.
type topReplica struct {
	Role     string     `json:"role"`
	ID       int        `json:"id"`
	State    spec.State `json:"state"`
	Attempt  int        `json:"attempt"`
	PID      *int       `json:"pid"`
	CPU      *float64   `json:"cpu_percent"`
	RSS      *int64     `json:"rss_bytes"`
	Elapsed  *float64   `json:"elapsed_seconds"`
	LastLine *string    `json:"last_line"`
}

// sampler looks at apps again and again.
type sampler struct {
	runner *runner.Runner
	seen   map[runner.Ref]bool         // live when last looked at
	ended  map[runner.Ref]*spec.Status // as they will stay
	cpu    map[int]time.Duration       // by process, when last looked at
	at     time.Time
}

func newSampler(r *runner.Runner) *sampler {
	return &sampler{runner: r, seen: map[runner.Ref]bool{}, ended: map[runner.Ref]*spec.Status{}}
}

// sample looks at the live apps and those that have just ended.
func (s *sampler) sample(ctx context.Context, now time.Time) ([]*topApp, error) {
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, err
	}
	apps := []*topApp{}
	var roots []int
	for _, row := range rows {
		status, err := s.status(ctx, row)
		if err != nil || status.State.Terminal() && (status.FinishedAt == nil || now.Sub(*status.FinishedAt) > topEnded) {
			continue
		}
		app := newTopApp(row, status, now)
		apps = append(apps, app)
		for i := range app.Replicas {
			if pid := app.Replicas[i].PID; pid != nil {
				roots = append(roots, *pid)
			}
		}
	}
	s.measure(apps, roots, now)
	return apps, ctx.Err()
}

// rows are the apps to look at: live ones, those that were live at the last look,
// and those of the newest that may just have ended.
func (s *sampler) rows(ctx context.Context) ([]runner.Row, error) {
	live, err := s.runner.List(ctx, runner.Filter{States: liveStates, Limit: maxTopApps})
	if err != nil {
		return nil, err
	}
	recent, err := s.runner.List(ctx, runner.Filter{Limit: topRecent})
	if err != nil {
		return nil, err
	}
	seen, listed := map[runner.Ref]bool{}, map[runner.Ref]bool{}
	for _, row := range live {
		ref := refOf(row)
		seen[ref], listed[ref] = true, true
	}
	rows := live
	for _, row := range recent {
		if ref := refOf(row); !listed[ref] && row.FinishedAt != nil && time.Since(*row.FinishedAt) <= topEnded {
			listed[ref] = true
			rows = append(rows, row)
		}
	}
	for ref := range s.seen {
		if !listed[ref] {
			rows = append(rows, runner.Row{Handle: ref.Handle(), AppID: ref.ID, Backend: ref.Backend})
			seen[ref] = s.ended[ref] == nil || s.ended[ref].FinishedAt != nil && time.Since(*s.ended[ref].FinishedAt) <= topEnded
		}
	}
	s.seen = seen
	return rows, nil
}

// liveStates are those of apps that have not ended.
var liveStates = []spec.State{spec.Unsubmitted, spec.Submitted, spec.Pending, spec.Running, spec.Unknown}

func refOf(row runner.Row) runner.Ref { return runner.Ref{Backend: row.Backend, ID: row.AppID} }

func (s *sampler) status(ctx context.Context, row runner.Row) (*spec.Status, error) {
	ref := refOf(row)
	if known := s.ended[ref]; known != nil {
		return known, nil
	}
	status, err := s.runner.Status(ctx, ref)
	if errors.Is(err, backend.ErrNotFound) {
		delete(s.seen, ref)
	}
	if err == nil && status.State.Terminal() {
		s.ended[ref] = status
	}
	return status, err
}

func newTopApp(row runner.Row, s *spec.Status, now time.Time) *topApp {
	app := &topApp{
		Handle: row.Handle, Name: row.AppID, State: s.State, NumRestarts: s.NumRestarts, ref: refOf(row),
		Elapsed: elapsed(s.StartedAt, s.FinishedAt, now), Replicas: []topReplica{},
	}
	if s.State == spec.Pending {
		app.waiting = ui.OneLine(s.Msg)
	}
	if s.SubmittedAt != nil {
		app.submitted = *s.SubmittedAt
	}
	for _, role := range s.Roles {
		for i := range role.Replicas {
			app.Replicas = append(app.Replicas, newTopReplica(role.Role, &role.Replicas[i], now))
		}
	}
	return app
}

func newTopReplica(role string, r *spec.ReplicaStatus, now time.Time) topReplica {
	out := topReplica{
		Role: role, ID: r.ID, State: r.State, Attempt: r.Attempt, RSS: r.MaxRSSBytes,
		Elapsed: elapsed(r.StartedAt, r.FinishedAt, now),
	}
	if r.State == spec.Running && r.PID > 0 {
		out.PID = &r.PID
	}
	if r.CPUSeconds != nil && out.Elapsed != nil && *out.Elapsed > 0 {
		percent := 100 * *r.CPUSeconds / *out.Elapsed
		out.CPU = &percent
	}
	return out
}

func elapsed(from, to *time.Time, now time.Time) *float64 {
	if from == nil {
		return nil
	}
	if to == nil {
		to = &now
	}
	seconds := max(0, to.Sub(*from).Seconds())
	return &seconds
}

// measure fills in what processes use and adds it up for each app.
func (s *sampler) measure(apps []*topApp, roots []int, now time.Time) {
	cpu := map[int]time.Duration{}
	var used map[int]procs.Usage
	if len(roots) > 0 {
		used = procs.Trees(roots)
	}
	for _, app := range apps {
		for i := range app.Replicas {
			r := &app.Replicas[i]
			if r.PID == nil {
				continue
			}
			u, ok := used[*r.PID]
			if !ok {
				continue
			}
			cpu[*r.PID] = u.CPU
			r.RSS = &u.RSS
			r.CPU = s.percent(*r.PID, u.CPU, r.Elapsed, now)
		}
		app.sum()
	}
	s.cpu, s.at = cpu, now
}

// percent is the average since the last look, else since the start.
func (s *sampler) percent(pid int, cpu time.Duration, elapsed *float64, now time.Time) *float64 {
	before, known := s.cpu[pid]
	over := now.Sub(s.at).Seconds()
	if !known || cpu < before {
		if elapsed == nil {
			return nil
		}
		before, over = 0, *elapsed
	}
	if over <= 0 {
		return nil
	}
	percent := 100 * (cpu - before).Seconds() / over
	return &percent
}

// sum adds up the replicas; of a live app those that run.
func (a *topApp) sum() {
	for i := range a.Replicas {
		r := &a.Replicas[i]
		if !a.State.Terminal() && r.State != spec.Running {
			continue
		}
		a.CPU, a.RSS = plus(a.CPU, r.CPU), plus(a.RSS, r.RSS)
	}
}

func plus[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	total := *a + *b
	return &total
}

// lastLines reads the last line of the replicas whose rows are shown: as many as
// limit from the row first on, rows counted as in the table.
func (s *sampler) lastLines(ctx context.Context, apps []*topApp, first, limit int) {
	row := 0
	for _, a := range apps {
		row++ // the app's own
		for i := range a.Replicas {
			if row >= first && row < first+limit && follow.StaysBy(a.ref.Backend) && ctx.Err() == nil {
				a.Replicas[i].LastLine = s.lastLine(ctx, a.ref, &a.Replicas[i])
			}
			row++
		}
	}
}

// lastLine is nil where there is none to be had in time.
func (s *sampler) lastLine(ctx context.Context, ref runner.Ref, r *topReplica) *string {
	ctx, cancel := context.WithTimeout(ctx, lineTime)
	defer cancel()
	b, err := s.runner.Backends.Get(ref.Backend)
	if err != nil {
		return nil
	}
	reader, err := b.Logs(ctx, ref.ID, spec.Replica{Role: r.Role, ID: r.ID}, backend.LogOptions{Tail: 1})
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
			line = lastPart(string(block.Data[max(0, len(block.Data)-16*maxLastLine):]))
		}
	}
	if line == "" {
		return nil
	}
	return &line
}

// lastPart is what a terminal would show of a line: what follows its last
// carriage return, as far as it is kept.
func lastPart(data string) string {
	line := strings.TrimRight(data, "\r\n")
	line = line[strings.LastIndexAny(line, "\r\n")+1:]
	if len(line) > maxLastLine {
		line = strings.ToValidUTF8(line[:maxLastLine], "")
	}
	return ui.OneLine(line)
}
