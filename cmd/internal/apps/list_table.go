package apps

import (
	"slices"
	"strconv"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
)

// tableWriter prints a table for people: one that fits the screen, or a wide one.
type tableWriter struct {
	f    *program.Factory
	wide bool
	// columns are those of the table; empty: the default ones.
	columns []string
	rows    []history.View
}

func (w *tableWriter) add(a *history.View) error {
	w.rows = append(w.rows, *a)
	return nil
}

func (w *tableWriter) end() error {
	if len(w.columns) > 0 {
		return w.f.PrintTable(columnsTable(w.rows, w.columns), nil)
	}
	if w.wide {
		return w.f.PrintTable(wideTable(w.rows, failpoint.Now()), nil)
	}
	tab := listTable(w.rows, failpoint.Now())
	return w.f.PrintTable(tab, func(width int) { fitList(tab, width) })
}

// listTable returns a row for each app; RESTARTS and TAGS only if an app has some.
func listTable(apps []history.View, now time.Time) *ui.Table {
	tab := wideTable(apps, now)
	for _, column := range []string{"SUBMITTED", "PARENT", "RERUN OF", "NOTE"} {
		tab.Drop(column)
	}
	if !slices.ContainsFunc(apps, func(a history.View) bool { return a.NumRestarts > 0 }) {
		tab.Drop("RESTARTS")
	}
	if !slices.ContainsFunc(apps, func(a history.View) bool { return len(a.Tags) > 0 }) {
		tab.Drop("TAGS")
	}
	return tab
}

// wideTable returns all columns, USER only with apps that others may have submitted: lists of the
// history do not read it.
func wideTable(apps []history.View, now time.Time) *ui.Table {
	tab := &ui.Table{Header: []string{
		"APP HANDLE", "APP NAME", "STATE", "COMPONENT", "SUBMITTED", "AGE", "DURATION", "EXIT", "RESTARTS", "TAGS", "USER", "PARENT", "RERUN OF", "NOTE",
	}}
	for i := range apps {
		a := &apps[i]
		submitted, age, exit, restarts := "", "", "", ""
		if a.SubmittedAt != nil {
			submitted, age = a.SubmittedAt.Local().Format(time.DateTime), ui.Age(now.Sub(*a.SubmittedAt))
		}
		if a.ExitCode != nil {
			exit = strconv.Itoa(*a.ExitCode)
		}
		if a.NumRestarts > 0 {
			restarts = strconv.Itoa(a.NumRestarts)
		}
		row := []ui.Cell{ui.NewCell(a.Handle(), ""), ui.NewCell(a.Name, ""), ui.NewCell(ui.StateText(a.State, a.Msg), ui.StateColor(a.State))}
		for _, text := range []string{
			a.Component, submitted, age, durationText(a, now), exit, restarts, history.FormatTags(a.Tags, " "), a.User, a.ParentRunID, a.RerunOf, a.Note,
		} {
			row = append(row, ui.NewCell(text, ""))
		}
		tab.Add(row...)
	}
	if !slices.ContainsFunc(apps, func(a history.View) bool { return a.Foreign && a.User != "" }) {
		tab.Drop("USER")
	}
	return tab
}

// durationText returns how long an app took, or has been running, "" if that is not known.
func durationText(a *history.View, now time.Time) string {
	took := a.Duration(now)
	switch {
	case took == nil:
		return ""
	case a.FinishedAt == nil:
		return ui.Took(took.Truncate(time.Second))
	}
	return ui.Took(*took)
}

// Widths that columns keep as long as others fit.
const (
	leastComponent = 8
	leastTags      = 12
)

// fitList makes the table at most width columns wide, if handles and states fit.
func fitList(tab *ui.Table, width int) {
	tab.Fit(width, "APP NAME")
	tab.Shorten("TAGS", width, leastTags)
	tab.Shorten("COMPONENT", width, leastComponent)
	tab.Fit(width, "COMPONENT", "TAGS", "USER", "RESTARTS", "AGE", "DURATION")
}
