package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/runtime/usage"
)

// sortTop sorts apps and their replicas: by amount with the largest first and ended ones last,
// or by name.
func sortTop(apps []*usage.App, order string) {
	slices.SortStableFunc(apps, func(a, b *usage.App) int {
		switch order {
		case "name":
			return cmp.Compare(a.ID, b.ID)
		case "submitted":
			return compareTimes(b.SubmittedAt, a.SubmittedAt)
		}
		return cmp.Or(compareEnded(a.State, b.State), compareAmounts(order, &b.Amounts, &a.Amounts))
	})
	if order == "name" || order == "submitted" {
		return
	}
	for _, app := range apps {
		slices.SortStableFunc(app.Replicas, func(a, b usage.Replica) int {
			return cmp.Or(compareEnded(a.State, b.State),
				compareAmounts(order, &b.Amounts, &a.Amounts))
		})
	}
}

// compareTimes puts an unknown time before all others.
func compareTimes(a, b *time.Time) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}

// compareEnded puts live states before terminal ones.
func compareEnded(a, b spec.State) int {
	switch {
	case a.Terminal() == b.Terminal():
		return 0
	case a.Terminal():
		return 1
	}
	return -1
}

// compareAmounts compares the amounts that an order names.
func compareAmounts(order string, a, b *usage.Amounts) int {
	switch order {
	case "cpu":
		return cmp.Compare(value(a.CPU), value(b.CPU))
	case "memory":
		return cmp.Compare(value(a.RSS), value(b.RSS))
	case "elapsed":
		return cmp.Compare(value(a.Elapsed), value(b.Elapsed))
	}
	return 0
}

// value returns *v; for nil, less than every known value.
func value[T int64 | float64](v *T) T {
	if v == nil {
		return -1
	}
	return *v
}

// topTable returns a row for each app and, below it, one for each of its replicas.
func topTable(apps []*usage.App) *ui.Table {
	tab := &ui.Table{Header: []string{"APP / REPLICA", "STATE", "CPU%", "MEMORY", "TIME", "ATTEMPT", "LAST LINE"}}
	for _, a := range apps {
		tab.Add(ui.NewCell(a.ID, ui.AnsiBold), ui.NewCell(a.State.String(), ui.StateColor(a.State)), ui.NewCell(percentText(a.CPU), ""),
			ui.NewCell(ui.OptionalBytes(a.RSS), ""), ui.NewCell(optionalClock(a.Elapsed), ""), ui.Cell{}, ui.NewCell(a.Waiting, ""))
		for i := range a.Replicas {
			r := &a.Replicas[i]
			line := ""
			if r.LastLine != nil {
				line = *r.LastLine
			}
			tab.Add(ui.NewCell(fmt.Sprintf("  %s/%d", r.Role, r.ID), ""), ui.NewCell(r.State.String(), ui.StateColor(r.State)), ui.NewCell(percentText(r.CPU), ""),
				ui.NewCell(ui.OptionalBytes(r.RSS), ""), ui.NewCell(optionalClock(r.Elapsed), ""), ui.NewCell(strconv.Itoa(r.Attempt), ""), ui.NewCell(line, ""))
		}
	}
	return tab
}

// maxTopLines is the number of rows whose last line is read.
const maxTopLines = 200

// cleanLines escapes control characters in last lines.
func cleanLines(apps []*usage.App) {
	for _, a := range apps {
		for i := range a.Replicas {
			if line := a.Replicas[i].LastLine; line != nil {
				*line = ui.OneLine(*line)
			}
		}
	}
}

// topName is the width that names keep as long as other columns can be dropped.
const topName = 20

// cutLines makes the table at most width columns wide: it shortens the last column, then names,
// then it drops columns.
func cutLines(tab *ui.Table, width int) {
	all := tab.Width()
	if all <= width {
		return
	}
	last := len(tab.Header) - 1
	widths := ui.ColumnWidths(append([][]ui.Cell{{}}, tab.Rows...))
	room := max(len(tab.Header[last]), width-(all-max(len(tab.Header[last]), widths[last])))
	for _, r := range tab.Rows {
		r[last].Text = ui.CutText(ui.OneLine(r[last].Text), room, "…")
	}
	const name = "APP / REPLICA"
	tab.Shorten(name, width, topName)
	tab.Fit(width, "LAST LINE", "ATTEMPT", "TIME", "CPU%", "MEMORY", "STATE")
	tab.Shorten(name, width, 1)
}

func percentText(p *float64) string {
	if p == nil {
		return "-"
	}
	return strconv.FormatFloat(*p, 'f', 1, 64)
}

func optionalClock(s *float64) string {
	if s == nil {
		return "-"
	}
	return ui.Clock(int64(*s))
}
