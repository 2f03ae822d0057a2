package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// TrialTable is a table of trials with their parameters.
type TrialTable struct {
	Table
	metric string   // header of the metric's column, "" if there is none
	params []string // headers of the columns of parameters
}

// Columns of a TrialTable beside the metric and the parameters.
const (
	stepColumn = "STEP"
	timeColumn = "TIME"
	noteColumn = "NOTE"
)

// NewTrialTable returns a table of these trials, in their order.
func NewTrialTable(c *Console, s *sweep.Snapshot, trials []int, now time.Time) *TrialTable {
	t := &TrialTable{metric: s.Definition.Metric}
	t.Header = []string{"TRIAL", "STATE"}
	if t.metric != "" {
		t.metric = OneLine(t.metric)
		t.Header = append(t.Header, t.metric, stepColumn)
	}
	t.Header = append(t.Header, timeColumn)
	if len(s.Trials) > 0 {
		for _, p := range s.Trials[0].Params {
			t.params = append(t.params, OneLine(p.Name))
		}
	}
	t.Header = append(append(t.Header, t.params...), noteColumn)
	for _, i := range trials {
		t.add(c, s, &s.Trials[i], now)
	}
	if !slices.ContainsFunc(t.Rows, func(r []Cell) bool { return r[len(r)-1].Text != "" }) {
		t.Drop(noteColumn)
	}
	return t
}

func (t *TrialTable) add(c *Console, s *sweep.Snapshot, trial *sweep.TrialStatus, now time.Time) {
	row := []Cell{NewCell(strconv.Itoa(trial.Number), ""), NewCell(trial.State.String(), StateColor(trial.State))}
	if t.metric != "" {
		row = append(row, metricCell(s, trial), NewCell(stepText(trial), ""))
	}
	took := ""
	if d, ok := TrialDuration(trial, now); ok {
		took = Clock(int64(d.Seconds()))
	}
	row = append(row, NewCell(took, ""))
	for _, p := range trial.Params {
		row = append(row, NewCell(ParamText(c, p), ""))
	}
	t.Add(append(row, NewCell(TrialNote(trial), ""))...)
}

// metricCell returns the value of a trial; a star marks the best one.
func metricCell(s *sweep.Snapshot, trial *sweep.TrialStatus) Cell {
	switch {
	case trial.Value == nil:
		return NewCell("-", "")
	case trial.Number == s.Best:
		return NewCell(NumberText(*trial.Value)+" *", AnsiBold)
	}
	return NewCell(NumberText(*trial.Value), "")
}

func stepText(trial *sweep.TrialStatus) string {
	if trial.Step == nil {
		return ""
	}
	return strconv.FormatInt(*trial.Step, 10)
}

// TrialNote says why a trial is in its state.
func TrialNote(trial *sweep.TrialStatus) string {
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

// TrialDuration returns how long the app of a trial has run; ok is false if it has not started.
func TrialDuration(trial *sweep.TrialStatus, now time.Time) (d time.Duration, ok bool) {
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
func (t *TrialTable) Fit(width int) {
	t.Shorten(noteColumn, width, minNote)
	FitParams(&t.Table, t.params, width, stepColumn, noteColumn, timeColumn)
	t.Table.Fit(width, t.metric, "STATE")
}

// ParamText returns the value of a parameter in one line, hidden if it looks like a secret.
func ParamText(c *Console, param sweep.Param) string {
	if c.ShowSecrets {
		return FoldText(param.Value)
	}
	rules, _ := c.Rules() // commands that show values report a bad pattern
	return FoldText(rules.Value(param.Name, param.Value))
}

// ParamsText returns parameters as "lr=0.1 bs=32".
func ParamsText(c *Console, params []sweep.Param) string {
	texts := make([]string, len(params))
	for i, param := range params {
		texts[i] = param.Name + "=" + ParamText(c, param)
	}
	return strings.Join(texts, " ")
}

// paramWidth is the width that a column of parameters keeps as long as columns can be dropped.
const paramWidth = 8

// FitParams makes a table at most width columns wide: it shortens the columns of parameters, the
// widest first, then drops spare columns, then those of parameters from the last.
func FitParams(tab *Table, params []string, width int, spare ...string) {
	for range params {
		tab.Shorten(tab.Widest(params), width, paramWidth)
	}
	tab.Fit(width, spare...)
	params = slices.Clone(params)
	slices.Reverse(params)
	tab.Fit(width, params...)
}
