package main

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// cell is one field of a table; color is an ANSI code or "".
type cell struct{ text, color string }

// table prints rows in columns that line up.
type table struct {
	header []string
	rows   [][]cell
}

// fit leaves columns out, in the order given, until a line has at most width
// columns: what they say is said elsewhere, a broken line says nothing.
func (t *table) fit(width int, spare ...string) {
	for _, name := range spare {
		if t.width() <= width {
			return
		}
		t.drop(slices.Index(t.header, name))
	}
}

func (t *table) drop(column int) {
	if column < 0 {
		return
	}
	t.header = slices.Delete(t.header, column, column+1)
	for i, r := range t.rows {
		if column < len(r) {
			t.rows[i] = slices.Delete(r, column, column+1)
		}
	}
}

// cut shortens the cells of the last column until a line has at most width
// columns, but for the first ten characters.
func (t *table) cut(width int) {
	last := len(t.header) - 1
	head := table{header: t.header[:last]}
	for _, r := range t.rows {
		head.rows = append(head.rows, r[:min(last, len(r))])
	}
	room := max(10, width-head.width()-2)
	for _, r := range t.rows {
		if last >= len(r) {
			continue
		}
		if text := []rune(oneLine(r[last].text)); len(text) > room {
			r[last].text = string(text[:room-1]) + "…"
		}
	}
}

// width is that of the longest line.
func (t *table) width() int {
	header := make([]cell, len(t.header))
	for i, h := range t.header {
		header[i].text = h
	}
	total := -2 // between two columns
	for _, w := range columnWidths(append([][]cell{header}, t.rows...)) {
		total += w + 2
	}
	return total
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// write prints the table; control characters in cells are escaped.
func (t *table) write(w io.Writer, s style) error {
	header := make([]cell, len(t.header))
	for i, h := range t.header {
		header[i] = cell{h, ansiBold}
	}
	rows := append([][]cell{header}, t.rows...)
	for _, r := range rows {
		for i := range r {
			r[i].text = oneLine(r[i].text)
		}
	}
	widths := columnWidths(rows)
	var b strings.Builder
	for _, r := range rows {
		writeRow(&b, r, widths, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func columnWidths(rows [][]cell) []int {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

// writeRow pads every cell but the last one, so that lines have no trailing space.
func writeRow(b *strings.Builder, r []cell, widths []int, s style) {
	last := len(r) - 1
	for last >= 0 && r[last].text == "" {
		last--
	}
	for i, c := range r[:last+1] {
		b.WriteString(s.paint(c.color, c.text))
		if i < last {
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
		}
	}
	b.WriteByte('\n')
}

// shorten cuts the texts of one column, at least columns wide, so that a line has
// at most width columns; an ellipsis stands for what is left out.
func (t *table) shorten(name string, width, least int) {
	column := slices.Index(t.header, name)
	over := t.width() - width
	if column < 0 || over <= 0 {
		return
	}
	widest := utf8.RuneCountInString(name)
	for _, r := range t.rows {
		if column < len(r) {
			widest = max(widest, utf8.RuneCountInString(r[column].text))
		}
	}
	room := max(widest-over, least)
	for _, r := range t.rows {
		if column >= len(r) {
			continue
		}
		if text := []rune(r[column].text); len(text) > room {
			r[column].text = string(text[:room-1]) + "…"
		}
	}
}
