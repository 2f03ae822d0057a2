package compare

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// Widths of cells in columns; longer texts are cut.
const (
	maxLabel = 28
	maxCell  = 24
	maxInRow = 14 // of a difference, if runs are rows
)

// line is one value of every run.
type line struct {
	label string
	cells []ui.Cell
	spare bool // may be dropped from a narrow table
}

// lines returns what a table shows: results, metrics and differences.
func (c *comparison) lines() (all []line) {
	add := func(label string, spare bool, of func(at int, r *run) ui.Cell) {
		l := line{label: label, spare: spare}
		for i, r := range c.runs {
			l.cells = append(l.cells, of(i, r))
		}
		all = append(all, l)
	}
	add("STATE", false, func(_ int, r *run) ui.Cell { return ui.NewCell(r.status.State.String(), "") })
	add("DURATION", false, func(_ int, r *run) ui.Cell {
		if d := r.duration(); d != nil {
			return ui.NewCell(ui.Took(*d), "")
		}
		return ui.NewCell("-", "")
	})
	add("RETRIES", false, func(_ int, r *run) ui.Cell { return ui.NewCell(strconv.Itoa(r.status.NumRestarts), "") })
	add("PEAK MEM", false, func(_ int, r *run) ui.Cell {
		if n := r.peakMemory(); n != nil {
			return ui.NewCell(ui.BytesText(*n), "")
		}
		return ui.NewCell("", "")
	})
	for i, m := range c.metrics {
		add("last "+m.name, false, func(_ int, r *run) ui.Cell { return ui.NewCell(numberText(r.values[i].last, r.values[i].known), "") })
		if m.goal == "" {
			continue
		}
		add(string(m.goal)+" "+m.name, false, func(_ int, r *run) ui.Cell {
			v := r.values[i]
			if v.isBest {
				return ui.NewCell(numberText(v.best, v.known)+" *", ui.AnsiGreen)
			}
			return ui.NewCell(numberText(v.best, v.known), "")
		})
	}
	for _, d := range c.differences {
		add(labelOf(d), true, func(at int, _ *run) ui.Cell {
			if d.shown[at] == nil {
				return ui.NewCell("-", "")
			}
			return ui.NewCell(ui.CutText(ui.OneLine(*d.shown[at]), maxCell, "…"), "")
		})
	}
	return slices.DeleteFunc(all, func(l line) bool { return !slices.ContainsFunc(l.cells, func(c ui.Cell) bool { return c.Text != "" }) })
}

// labelOf returns the label of a difference, in the form in which it is typed if it can be.
func labelOf(d difference) string {
	switch {
	case parts[d.key.part] == "arguments" && d.key.name != componentFact &&
		!strings.HasPrefix(d.key.name, "argument "):
		return "--" + d.key.name
	case parts[d.key.part] == "options":
		return "-cfg " + d.key.name
	case parts[d.key.part] == "environment":
		return "$" + d.key.name
	}
	return d.key.name
}

func numberText(v float64, known bool) string {
	if !known {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// print prints a table: a column for each run if the screen has room, else a row.
func (c *comparison) print(f *program.Factory) error {
	lines, width := c.lines(), ui.ScreenWidth(f.Out)
	for i := range lines {
		lines[i].label = ui.CutText(ui.OneLine(lines[i].label), maxLabel, "…")
	}
	tab := c.columns(lines)
	if width > 0 && tab.Width() > width {
		tab = c.rows(lines)
		before := len(tab.Header)
		spare := []string{}
		for _, l := range slices.Backward(lines) {
			if l.spare {
				spare = append(spare, ui.CutText(l.label, maxInRow, "…"))
			}
		}
		for _, l := range slices.Backward(lines) {
			if !l.spare && l.label != "STATE" {
				spare = append(spare, ui.CutText(l.label, maxInRow, "…"))
			}
		}
		tab.Fit(width, spare...)
		if n := before - len(tab.Header); n > 0 {
			defer f.Say("%s not shown: --json and --csv have all", ui.Counted(n, "column"))
		}
	}
	return tab.Write(f.Out, f.OutStyle)
}

func (c *comparison) columns(lines []line) *ui.Table {
	tab := &ui.Table{Header: []string{"RUN"}}
	for _, r := range c.runs {
		tab.Header = append(tab.Header, r.record.ID)
	}
	for _, l := range lines {
		tab.Add(append([]ui.Cell{ui.NewCell(l.label, "")}, l.cells...)...)
	}
	return tab
}

func (c *comparison) rows(lines []line) *ui.Table {
	tab := &ui.Table{Header: []string{"RUN"}}
	for _, l := range lines {
		tab.Header = append(tab.Header, ui.CutText(l.label, maxInRow, "…"))
		for i := range l.cells {
			l.cells[i].Text = ui.CutText(l.cells[i].Text, maxInRow, "…")
		}
	}
	for i, r := range c.runs {
		row := []ui.Cell{ui.NewCell(r.record.ID, "")}
		for _, l := range lines {
			row = append(row, l.cells[i])
		}
		tab.Add(row...)
	}
	return tab
}

// printCSV prints a row for each run: names of --json, NAME.last and NAME.best of each metric,
// and PART.NAME of each difference.
func (c *comparison) printCSV(f *program.Factory) error {
	header := []string{"handle", "state", "exit_code", "started_at", "finished_at", "duration_seconds", "num_restarts", "max_rss_bytes", "cpu_seconds"}
	for _, m := range c.metrics {
		header = append(header, m.name+".last", m.name+".best")
	}
	for _, d := range c.differences {
		header = append(header, parts[d.key.part]+"."+d.key.name)
	}
	out := &strings.Builder{}
	w := csv.NewWriter(out)
	_ = w.Write(header) // a builder cannot fail
	object := c.object()
	for i, r := range c.runs {
		o := &object.Runs[i]
		row := []string{
			o.Handle, o.State.String(), textOf(o.ExitCode), timeText(o.StartedAt), timeText(o.FinishedAt), textOf(o.DurationSeconds),
			strconv.Itoa(o.NumRestarts), textOf(o.MaxRSSBytes), textOf(o.CPUSeconds),
		}
		for at, v := range r.values {
			last, best := "", ""
			if v.known {
				last = strconv.FormatFloat(v.last, 'g', -1, 64)
			}
			if v.known && c.metrics[at].goal != "" {
				best = strconv.FormatFloat(v.best, 'g', -1, 64)
			}
			row = append(row, last, best)
		}
		for _, d := range c.differences {
			row = append(row, textOf(d.shown[i]))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return f.Print(out.String())
}

// textOf returns a value as text, "" for nil.
func textOf[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

// timeText returns a time as in --json, "" for nil.
func timeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
