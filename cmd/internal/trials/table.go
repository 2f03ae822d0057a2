// Package trials shows trials of sweeps.
package trials

import (
	"slices"
	"strconv"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// Table is a table of trials with their parameters.
type Table struct {
	ui.Table
	metric string   // header of the metric's column, "" if there is none
	params []string // headers of the columns of parameters
}

// Columns of a Table beside the metric and the parameters.
const (
	stepColumn = "STEP"
	timeColumn = "TIME"
	noteColumn = "NOTE"
)

// NewTable returns a table of these trials, in their order.
func NewTable(c *ui.Console, s *sweep.Snapshot, trials []int, now time.Time) *Table {
	t := &Table{metric: s.Definition.Metric}
	t.Header = []string{"TRIAL", "STATE"}
	if t.metric != "" {
		t.metric = ui.OneLine(t.metric)
		t.Header = append(t.Header, t.metric, stepColumn)
	}
	t.Header = append(t.Header, timeColumn)
	if len(s.Trials) > 0 {
		for _, p := range s.Trials[0].Params {
			t.params = append(t.params, ui.OneLine(p.Name))
		}
	}
	t.Header = append(append(t.Header, t.params...), noteColumn)
	for _, i := range trials {
		t.add(c, s, &s.Trials[i], now)
	}
	if !slices.ContainsFunc(t.Rows, func(r []ui.Cell) bool { return r[len(r)-1].Text != "" }) {
		t.Drop(noteColumn)
	}
	return t
}

func (t *Table) add(c *ui.Console, s *sweep.Snapshot, trial *sweep.TrialStatus, now time.Time) {
	row := []ui.Cell{ui.NewCell(strconv.Itoa(trial.Number), ""), ui.NewCell(trial.State.String(), ui.StateColor(trial.State))}
	if t.metric != "" {
		row = append(row, metricCell(s, trial), ui.NewCell(stepText(trial), ""))
	}
	took := ""
	if d, ok := Duration(trial, now); ok {
		took = ui.Clock(int64(d.Seconds()))
	}
	row = append(row, ui.NewCell(took, ""))
	for _, p := range trial.Params {
		row = append(row, ui.NewCell(ParamText(c, p), ""))
	}
	t.Add(append(row, ui.NewCell(NoteText(trial), ""))...)
}

// metricCell returns the value of a trial; a star marks the best one.
func metricCell(s *sweep.Snapshot, trial *sweep.TrialStatus) ui.Cell {
	switch {
	case trial.Value == nil:
		return ui.NewCell("-", "")
	case trial.Number == s.Best:
		return ui.NewCell(ui.NumberText(*trial.Value)+" *", ui.AnsiBold)
	}
	return ui.NewCell(ui.NumberText(*trial.Value), "")
}

func stepText(trial *sweep.TrialStatus) string {
	if trial.Step == nil {
		return ""
	}
	return strconv.FormatInt(*trial.Step, 10)
}

// NoteText says why a trial is in its state.
func NoteText(trial *sweep.TrialStatus) string {
	switch {
	case trial.Stopped != "":
		return trial.Stopped
	case trial.State == spec.Failed && trial.ExitCode != nil && *trial.ExitCode != 0:
		return "exit code " + strconv.Itoa(*trial.ExitCode)
	case trial.State != spec.Succeeded:
		return trial.Msg
	}
	return ""
}

// Duration returns how long the app of a trial has run; ok is false if it has not started.
func Duration(trial *sweep.TrialStatus, now time.Time) (d time.Duration, ok bool) {
	if trial.StartedAt == nil {
		return 0, false
	}
	if trial.FinishedAt != nil {
		now = *trial.FinishedAt
	}
	return max(0, now.Sub(*trial.StartedAt)), true
}

// minNote is the width that the last column keeps as long as others can be shortened.
const minNote = 12

// Fit makes the table at most width columns wide: it shortens notes, then parameters, the widest
// first, then it drops columns.
func (t *Table) Fit(width int) {
	t.Shorten(noteColumn, width, minNote)
	FitParams(&t.Table, t.params, width, stepColumn, noteColumn, timeColumn)
	t.Table.Fit(width, t.metric, "STATE")
}
