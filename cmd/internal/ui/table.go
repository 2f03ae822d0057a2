package ui

import (
	"io"
	"slices"
	"strings"
)

// Cell is one field of a table; color is an ANSI code or "".
type Cell struct{ Text, Color string }

// NewCell returns a cell with a color, "" for none.
func NewCell(text, color string) Cell { return Cell{text, color} }

// Table prints rows in aligned columns.
type Table struct {
	Header []string
	Rows   [][]Cell
}

// Fit drops the columns in spare, in that order, until a line has at most width columns: a
// wrapped line is hard to read, and other commands show the dropped values.
func (t *Table) Fit(width int, spare ...string) {
	for _, name := range spare {
		if t.Width() <= width {
			return
		}
		t.Drop(name)
	}
}

// Drop removes a column, if the table has it.
func (t *Table) Drop(name string) { t.drop(slices.Index(t.Header, name)) }

// DropEmpty removes the columns that have no text in any row.
func (t *Table) DropEmpty() {
	for column := len(t.Header) - 1; column >= 0; column-- {
		if !slices.ContainsFunc(t.Rows, func(r []Cell) bool { return column < len(r) && r[column].Text != "" }) {
			t.drop(column)
		}
	}
}

func (t *Table) drop(column int) {
	if column < 0 {
		return
	}
	t.Header = slices.Delete(t.Header, column, column+1)
	for i, r := range t.Rows {
		if column < len(r) {
			t.Rows[i] = slices.Delete(r, column, column+1)
		}
	}
}

// Cut shortens the cells of the last column, to ten columns at least, so that a line has at
// most width columns.
func (t *Table) Cut(width int) {
	last := len(t.Header) - 1
	head := Table{Header: t.Header[:last]}
	for _, r := range t.Rows {
		head.Rows = append(head.Rows, r[:min(last, len(r))])
	}
	t.cutColumn(last, max(10, width-head.Width()-2))
}

// Shorten cuts the texts of one column, to least columns at least, so that a line has at most
// width columns. An ellipsis marks a cut.
func (t *Table) Shorten(name string, width, least int) {
	column := slices.Index(t.Header, name)
	over := t.Width() - width
	if column < 0 || over <= 0 {
		return
	}
	t.cutColumn(column, max(t.columnWidths()[column]-over, least))
}

// Widest returns the name of the widest of some columns, "" if the table has none of them.
func (t *Table) Widest(names []string) (widest string) {
	most := -1
	for i, w := range t.columnWidths() {
		if i < len(t.Header) && w > most && slices.Contains(names, t.Header[i]) {
			widest, most = t.Header[i], w
		}
	}
	return widest
}

func (t *Table) cutColumn(column, room int) {
	for _, r := range t.Rows {
		if column < len(r) {
			r[column].Text = CutText(OneLine(r[column].Text), room, "…")
		}
	}
}

// Width returns the width of the longest line in columns.
func (t *Table) Width() int {
	total := -2 // between two columns
	for _, w := range t.columnWidths() {
		total += w + 2
	}
	return total
}

// columnWidths returns the width of each column, with its header.
func (t *Table) columnWidths() []int {
	header := make([]Cell, len(t.Header))
	for i, h := range t.Header {
		header[i].Text = h
	}
	return ColumnWidths(append([][]Cell{header}, t.Rows...))
}

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Write prints the table; control characters in cells are escaped.
func (t *Table) Write(w io.Writer, s Style) error {
	header := make([]Cell, len(t.Header))
	for i, h := range t.Header {
		header[i] = Cell{h, AnsiBold}
	}
	rows := append([][]Cell{header}, t.Rows...)
	for _, r := range rows {
		for i := range r {
			r[i].Text = OneLine(r[i].Text)
		}
	}
	widths := ColumnWidths(rows)
	var b strings.Builder
	for _, r := range rows {
		writeRow(&b, r, widths, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ColumnWidths returns the width of the widest cell of each column.
func ColumnWidths(rows [][]Cell) []int {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], TextWidth(c.Text))
		}
	}
	return widths
}

// writeRow pads every cell but the last one, so that lines have no trailing space.
func writeRow(b *strings.Builder, r []Cell, widths []int, s Style) {
	last := len(r) - 1
	for last >= 0 && r[last].Text == "" {
		last--
	}
	for i, c := range r[:last+1] {
		b.WriteString(s.Paint(c.Color, c.Text))
		if i < last {
			b.WriteString(strings.Repeat(" ", widths[i]-TextWidth(c.Text)+2))
		}
	}
	b.WriteByte('\n')
}
