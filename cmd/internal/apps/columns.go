package apps

import (
	"slices"
	"strconv"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/pattern"
)

// csvColumns are names of --json.
var csvColumns = []string{
	"handle", "app_id", "name", "backend", "state", "component", "submitted_at", "started_at", "finished_at", "duration_s", "exit_code",
	"tags", "note", "parent_run_id", "rerun_of",
}

// parseColumns parses --columns.
func parseColumns(text string) ([]string, error) {
	names := backend.SplitCSV(text)
	for _, name := range names {
		if _, of := history.ParseStat(name); !slices.Contains(csvColumns, name) && !pattern.ValidName(of) {
			return nil, program.Usagef("list", "--columns: %s is neither one of %s nor a metric or an argument",
				ui.QuoteWord(name), strings.Join(csvColumns, ", "))
		}
	}
	return names, nil
}

// columnTexts returns the values of columns, "" for what an app does not have.
func columnTexts(a *history.View, names []string) []string {
	fixed := map[string]string{}
	for i, text := range fixedTexts(a) {
		fixed[csvColumns[i]] = text
	}
	arguments, texts := history.ArgumentValues(a.Args), make([]string, len(names))
	for i, name := range names {
		text, ok := fixed[name]
		if !ok {
			text = valueText(a, arguments, name)
		}
		texts[i] = ui.Clean(text, true)
	}
	return texts
}

// fixedTexts returns the values of csvColumns.
func fixedTexts(a *history.View) []string {
	o, exit, took := newListObject(a), "", ""
	if o.ExitCode != nil {
		exit = strconv.Itoa(*o.ExitCode)
	}
	if o.DurationS != nil {
		took = strconv.FormatFloat(*o.DurationS, 'f', -1, 64)
	}
	return []string{
		o.Handle, o.AppID, a.Name, o.Backend, o.State.String(), a.Component, TimeText(o.SubmittedAt), TimeText(o.StartedAt), TimeText(o.FinishedAt),
		took, exit, history.FormatTags(o.Tags, ","), a.Note, a.ParentRunID, a.RerunOf,
	}
}

// valueText returns the value of a metric, or of an argument if the app has no such metric.
func valueText(a *history.View, arguments map[string]string, column string) string {
	stat, name := history.ParseStat(column)
	metric, isMetric := a.Metrics[name]
	if at := slices.Index([]history.Stat{history.StatLast, history.StatMin, history.StatMax}, stat); isMetric && at >= 0 {
		if metric[at] == nil {
			return ""
		}
		return strconv.FormatFloat(*metric[at], 'g', -1, 64)
	}
	if stat == history.StatMin || stat == history.StatMax {
		return ""
	}
	return arguments[name]
}

// columnsTable returns a table of the chosen columns.
func columnsTable(apps []history.View, names []string) *ui.Table {
	tab := &ui.Table{Header: names}
	for i := range apps {
		var row []ui.Cell
		for at, text := range columnTexts(&apps[i], names) {
			color := ""
			if names[at] == "state" {
				color = ui.StateColor(apps[i].State)
			}
			row = append(row, ui.NewCell(text, color))
		}
		tab.Add(row...)
	}
	return tab
}
