package results

import (
	"fmt"
	"strconv"

	"torchx/cmd/internal/ui"
	"torchx/cmd/internal/ui/plot"
	"torchx/runtime/metrics"
)

// row is a line of the table: one series, or those of many replicas of a role.
type row struct {
	app    *app
	series []metrics.Summary
}

// maxReplicas is the number of replicas of a role that have lines of their own.
const maxReplicas = 4

// rows returns the lines of the table: by app, role and name.
func (v *view) rows() []row {
	var rows []row
	for _, a := range v.apps {
		type group struct{ role, name string }
		at := map[group]int{}
		var groups []row
		for _, s := range v.selected(a) {
			g := group{s.Role, s.Name}
			if _, ok := at[g]; !ok {
				at[g] = len(groups)
				groups = append(groups, row{app: a})
			}
			groups[at[g]].series = append(groups[at[g]].series, s)
		}
		for _, g := range groups {
			if len(g.series) > maxReplicas && len(a.ids) == 0 {
				rows = append(rows, g)
				continue
			}
			for i := range g.series {
				rows = append(rows, row{a, g.series[i : i+1]})
			}
		}
	}
	return rows
}

// replicas returns the role and the numbers of the replicas: trainer/0, trainer/0-7.
func (r *row) replicas() string {
	first, last := r.series[0].Replica, r.series[len(r.series)-1].Replica
	switch {
	case len(r.series) == 1:
		return fmt.Sprintf("%s/%d", r.series[0].Role, first)
	case last-first == len(r.series)-1:
		return fmt.Sprintf("%s/%d-%d", r.series[0].Role, first, last)
	}
	return fmt.Sprintf("%s (%d)", r.series[0].Role, len(r.series))
}

// total returns the sums and extremes of all series of a row.
func (r *row) total() metrics.Summary {
	t := r.series[0]
	for i := range r.series[1:] {
		s := &r.series[1+i]
		t.Count += s.Count
		t.NonFinite += s.NonFinite
		t.Broken += s.Broken
		t.Segments = max(t.Segments, s.Segments)
		t.LastStep, t.HasStep = max(t.LastStep, s.LastStep), t.HasStep || s.HasStep
		t.Min, t.Max = lesser(t.Min, s.Min), -lesser(-t.Max, -s.Max)
	}
	return t
}

// lesser returns the lesser value; NaN means none.
func lesser(a, b float64) float64 {
	if !(a <= b) && b == b { //nolint:gocritic // NaN is not equal to itself
		return b
	}
	return a
}

// last returns the last value, or the least and largest of many replicas.
func (r *row) last() string {
	if len(r.series) == 1 {
		return ui.NumberText(r.series[0].Last)
	}
	lo, hi := r.series[0].Last, r.series[0].Last
	for i := range r.series {
		lo, hi = lesser(lo, r.series[i].Last), -lesser(-hi, -r.series[i].Last)
	}
	if lo == hi {
		return ui.NumberText(lo)
	}
	return ui.NumberText(lo) + ".." + ui.NumberText(hi)
}

// curveHeader is the column with lines of blocks.
const curveHeader = "CURVE"

// table returns the table for a width; 0 is not a terminal, and has no curves.
func (v *view) table(rows []row, curves curves, width int) *ui.Table {
	t := &ui.Table{Header: []string{"APP", "METRIC", "REPLICA", "LAST", "MIN", "MAX", "COUNT", "STEP", "NON-FINITE", "SEGMENTS", "BROKEN", "SOURCE"}}
	for i := range rows {
		r := &rows[i]
		s := r.total()
		source, _ := sourceName(s.Source)
		t.Add(ui.NewCell(r.app.name(), ""), ui.NewCell(s.Name, ui.AnsiBold), ui.NewCell(r.replicas(), ""), ui.NewCell(r.last(), ""),
			ui.NewCell(extreme(s.Min), ""), ui.NewCell(extreme(s.Max), ""), ui.NewCell(strconv.FormatInt(s.Count, 10), ""), ui.NewCell(stepText(&s), ""),
			ui.NewCell(some(s.NonFinite, 0), ui.AnsiYellow), ui.NewCell(some(int64(s.Segments), 1), ui.AnsiYellow), ui.NewCell(some(s.Broken, 0), ui.AnsiYellow),
			ui.NewCell(source, ui.AnsiDim))
	}
	if len(v.apps) == 1 {
		t.Drop("APP")
	}
	t.DropEmpty()
	if width > 0 {
		t.Fit(width, "SOURCE")
		v.addCurves(t, rows, curves, width)
		t.Shorten("METRIC", width, 12)
		t.Shorten("APP", width, 12)
		t.Fit(width, "BROKEN", "SEGMENTS", "COUNT", "STEP", "REPLICA", "MIN", "MAX")
		t.Shorten("APP", width, 4)
		t.Shorten("METRIC", width, 4)
	}
	return t
}

// addCurves adds a line of blocks to each row if there is room.
func (v *view) addCurves(t *ui.Table, rows []row, curves curves, width int) {
	const least, most = 8, 24
	if width-t.Width()-2 < least {
		t.Drop("SOURCE")
	}
	room := min(width-t.Width()-2, most)
	if room < least {
		return
	}
	t.Header = append(t.Header, curveHeader)
	for i := range rows {
		s := &rows[i].series[0]
		values := spread(curves[rows[i].app][s.Key], room)
		t.Rows[i] = append(t.Rows[i], ui.NewCell(plot.Blocks(values, room, s.Min, s.Max, v.ascii()), ui.AnsiBlue))
	}
}

// extreme returns a least or largest value, - if no value was finite.
func extreme(v float64) string {
	if finite(v) == nil {
		return "-"
	}
	return ui.NumberText(v)
}

// some returns a number, "" if it is usual.
func some(n, usual int64) string {
	if n == usual {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func stepText(s *metrics.Summary) string {
	if !s.HasStep {
		return ""
	}
	return strconv.FormatInt(s.LastStep, 10)
}
