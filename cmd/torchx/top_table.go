package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// sortTop puts apps, and the replicas of each, in the order asked for: the
// largest first, but for names.
func sortTop(apps []*topApp, order string) {
	slices.SortStableFunc(apps, func(a, b *topApp) int {
		switch order {
		case "cpu":
			return cmp.Compare(value(b.CPU), value(a.CPU))
		case "memory":
			return cmp.Compare(value(b.RSS), value(a.RSS))
		case "elapsed":
			return cmp.Compare(value(b.Elapsed), value(a.Elapsed))
		case "name":
			return cmp.Compare(a.Name, b.Name)
		}
		return b.submitted.Compare(a.submitted)
	})
	for _, app := range apps {
		slices.SortStableFunc(app.Replicas, func(a, b topReplica) int {
			switch order {
			case "cpu":
				return cmp.Compare(value(b.CPU), value(a.CPU))
			case "memory":
				return cmp.Compare(value(b.RSS), value(a.RSS))
			case "elapsed":
				return cmp.Compare(value(b.Elapsed), value(a.Elapsed))
			}
			return 0 // as in the app
		})
	}
}

// value of what may not be known: less than everything that is.
func value[T int64 | float64](v *T) T {
	if v == nil {
		return -1
	}
	return *v
}

// topTable has a row for each app and, below it, one for each of its replicas.
func topTable(apps []*topApp) *table {
	tab := &table{header: []string{"APP / REPLICA", "STATE", "CPU%", "MEMORY", "TIME", "TRY", "LAST LINE"}}
	for _, a := range apps {
		tab.add(cell{a.Name, ansiBold}, cell{a.State.String(), stateColor(a.State)}, cell{percentText(a.CPU), ""},
			cell{optionalBytes(a.RSS), ""}, cell{optionalClock(a.Elapsed), ""}, cell{}, cell{a.waiting, ""})
		for i := range a.Replicas {
			r := &a.Replicas[i]
			line := ""
			if r.LastLine != nil {
				line = *r.LastLine
			}
			tab.add(cell{fmt.Sprintf("  %s/%d", r.Role, r.ID), ""}, cell{r.State.String(), stateColor(r.State)}, cell{percentText(r.CPU), ""},
				cell{optionalBytes(r.RSS), ""}, cell{optionalClock(r.Elapsed), ""}, cell{strconv.Itoa(r.Attempt), ""}, cell{line, ""})
		}
	}
	return tab
}

// topName is how much of an app's name is left while other columns give way for it.
const topName = 20

// cutLines makes the table at most width wide: the last column gives way, then names,
// then others.
func cutLines(tab *table, width int) {
	all := tab.width()
	if all <= width {
		return
	}
	last := len(tab.header) - 1
	widths := columnWidths(append([][]cell{{}}, tab.rows...))
	room := max(len(tab.header[last]), width-(all-max(len(tab.header[last]), widths[last])))
	for _, r := range tab.rows {
		if text := []rune(oneLine(r[last].text)); len(text) > room {
			r[last].text = string(text[:room])
		}
	}
	const name = "APP / REPLICA"
	tab.shorten(name, width, topName)
	tab.fit(width, "LAST LINE", "TRY", "TIME", "CPU%", "MEMORY", "STATE")
	tab.shorten(name, width, 1)
}

func percentText(p *float64) string {
	if p == nil {
		return "-"
	}
	return strconv.FormatFloat(*p, 'f', 1, 64)
}

func optionalBytes(n *int64) string {
	if n == nil {
		return "-"
	}
	return bytesText(*n)
}

func optionalClock(s *float64) string {
	if s == nil {
		return "-"
	}
	return clock(int64(*s))
}
