package status

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/term"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// Rows of a table of trials: of what is not a terminal, and at least on one.
const (
	shownTrials    = 50
	minShownTrials = 8
)

// addSweep adds how a sweep stands and by what rules.
func (p *statusPage) addSweep(fields *ui.Fields) {
	s := p.trials
	if s == nil {
		return
	}
	fields.Add("Trials", s.Progress())
	if s.Best >= 0 {
		best := &s.Trials[s.Best]
		fields.Add("Best", fmt.Sprintf("%s %s, trial %d, %s", p.clean(s.Definition.Metric), ui.NumberText(*best.Value), best.Number, best.App.Handle()))
	}
	addRules(&p.screen, fields, s.Definition)
}

// addRules adds how a sweep runs its trials.
func addRules(p *screen, fields *ui.Fields, d *sweep.Definition) {
	at := "as many as there is room"
	if d.Parallel > 0 {
		at = strconv.Itoa(d.Parallel)
	}
	fields.Add("At a time", at+" on "+d.Backend)
	if d.Metric != "" {
		fields.Add("Metric", p.clean(d.Metric)+", "+map[metrics.Goal]string{metrics.Min: "lower", metrics.Max: "higher"}[cmp.Or(d.Goal, metrics.Min)]+" is better")
	}
	fields.Add("Early stop", p.clean(d.EarlyStop))
	fields.Add("Stop when", p.clean(d.StopWhen))
}

// trialTable returns the table of trials, and how many of them it does not have.
func (p *statusPage) trialTable(rows int) string {
	shown := selectTrials(p.trials, rows)
	tab := ui.NewTrialTable(p.console, p.trials, shown, p.now)
	if p.width > 0 {
		tab.Fit(p.width)
	}
	var text bytes.Buffer
	_ = tab.Write(&text, p.style) // a buffer cannot fail
	if more := len(p.trials.Trials) - len(shown); more > 0 {
		fmt.Fprintf(&text, "%s: torchx status --json %s\n", ui.Counted(more, "more trial"),
			p.clean(p.status.Handle))
	}
	return text.String()
}

// selectTrials returns at most rows trials: the best, those that run, those that failed, then
// others. If there are more, each kind has some.
func selectTrials(s *sweep.Snapshot, rows int) []int {
	ranked := sweep.Ranked(s)
	if len(ranked) <= rows {
		return ranked
	}
	taken := map[int]bool{}
	take := func(limit int, ok func(*sweep.TrialStatus) bool) {
		for _, i := range ranked {
			if limit > 0 && !taken[i] && ok(&s.Trials[i]) {
				taken[i] = true
				limit--
			}
		}
	}
	take(rows/2, func(t *sweep.TrialStatus) bool { return t.Value != nil && t.State != spec.Failed })
	take(rows/4, func(t *sweep.TrialStatus) bool { return t.State == spec.Running })
	take(rows/4, func(t *sweep.TrialStatus) bool { return t.State == spec.Failed })
	take(rows-len(taken), func(t *sweep.TrialStatus) bool { return t.App.ID != "" })
	take(rows-len(taken), func(*sweep.TrialStatus) bool { return true })
	return slices.DeleteFunc(ranked, func(i int) bool { return !taken[i] })
}

// tableRows returns how many trials fit below the other lines of a page.
func tableRows(f *program.Factory, others int) int {
	screen, ok := f.Out.(interface{ Fd() uintptr })
	if !ok || !ui.IsTerminal(f.Out) {
		return shownTrials
	}
	_, height, err := term.GetSize(int(screen.Fd()))
	if err != nil {
		return shownTrials
	}
	return max(minShownTrials, height-others-3) // the header, the line below and the prompt
}

// sweepObject is a sweep in `status --json`.
type sweepObject struct {
	Backend   string        `json:"backend"`
	Parallel  *int          `json:"parallel"`
	Metric    ui.NullString `json:"metric"`
	Goal      ui.NullString `json:"goal"`
	EarlyStop ui.NullString `json:"early_stop"`
	StopWhen  ui.NullString `json:"stop_when"`
	LogScaled []string      `json:"log_scaled"`
	Waiting   int           `json:"waiting"`
	Running   int           `json:"running"`
	Done      int           `json:"done"`
	Failed    int           `json:"failed"`
	Stopped   int           `json:"stopped"`
	Halted    ui.NullString `json:"halted"`
	BestTrial *int          `json:"best_trial"`
	Trials    []trialObject `json:"trials"`
}

type trialObject struct {
	Trial      int              `json:"trial"`
	Handle     ui.NullString    `json:"trial_handle"`
	Params     spec.Map[string] `json:"params"`
	Seed       int64            `json:"seed"`
	State      spec.State       `json:"state"`
	ExitCode   *int             `json:"exit_code"`
	Value      *metrics.Number  `json:"value"`
	Step       *int64           `json:"step"`
	Stopped    ui.NullString    `json:"stopped"`
	Msg        ui.NullString    `json:"msg"`
	StartedAt  *time.Time       `json:"started_at"`
	FinishedAt *time.Time       `json:"finished_at"`
	DurationS  *float64         `json:"duration_s"`
}

func newSweepObject(s *sweep.Snapshot, now time.Time) *sweepObject {
	d := s.Definition
	o := &sweepObject{
		Backend: d.Backend, Metric: ui.NullString(d.Metric), EarlyStop: ui.NullString(d.EarlyStop), StopWhen: ui.NullString(d.StopWhen),
		Waiting: s.Waiting, Running: s.Alive, Done: s.Done, Failed: s.Failed, Stopped: s.Stopped, Halted: ui.NullString(s.Reason),
		LogScaled: append([]string{}, d.LogScaled...), Trials: []trialObject{},
	}
	if d.Parallel > 0 {
		o.Parallel = &d.Parallel
	}
	if d.Metric != "" {
		o.Goal = ui.NullString(cmp.Or(d.Goal, metrics.Min))
	}
	if s.Best >= 0 {
		o.BestTrial = &s.Trials[s.Best].Number
	}
	for i := range s.Trials {
		o.Trials = append(o.Trials, newTrialObject(&s.Trials[i], now))
	}
	return o
}

func newTrialObject(t *sweep.TrialStatus, now time.Time) trialObject {
	o := trialObject{
		Trial: t.Number, Params: spec.Map[string]{}, Seed: t.Seed, State: t.State, ExitCode: t.ExitCode, Step: t.Step,
		Stopped: ui.NullString(t.Stopped), Msg: ui.NullString(t.Msg), StartedAt: ui.UTC(t.StartedAt), FinishedAt: ui.UTC(t.FinishedAt),
	}
	if t.App.ID != "" {
		o.Handle = ui.NullString(t.App.Handle())
	}
	for _, p := range t.Params {
		o.Params.Set(p.Name, p.Value)
	}
	if t.Value != nil {
		o.Value = new(metrics.Number(*t.Value))
	}
	if t.StartedAt != nil && (t.FinishedAt != nil || t.State == spec.Running) {
		o.DurationS = new(max(0, cmp.Or(t.FinishedAt, &now).Sub(*t.StartedAt).Seconds()))
	}
	return o
}

// trialsOf returns how a sweep stands; nil for other apps, and if nothing is known.
func trialsOf(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
) *sweep.Snapshot {
	if !r.IsSweep(ref) {
		return nil
	}
	s, err := r.Trials(ctx, ref)
	if err != nil {
		if !errors.Is(err, backend.ErrNotFound) { // it was deleted
			f.Warn("the trials of %s are not known: %v", ref.Handle(), err)
		}
		return nil
	}
	return s
}
