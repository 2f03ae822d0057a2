package plot

import (
	"strings"

	"torchx/cmd/internal/ui"
)

// glyphs are the characters of axes and marks.
type glyphs struct {
	vertical, yTick, corner, horizontal, xTick rune
	segment                                    rune // a segment begins here
	above, below, gap                          rune // infinite, negative infinite, NaN
	point                                      rune // a single one
	sample                                     string
}

func (p *Plot) glyphs() glyphs {
	if p.ASCII {
		return glyphs{'|', '+', '+', '-', '+', '|', '^', 'v', 'x', '*', "--"}
	}
	return glyphs{'│', '┤', '└', '─', '┬', '┊', '▲', '▼', '×', '•', "──"}
}

// palette are the colors of series. Red is last: elsewhere it means failure.
var palette = []string{ui.AnsiBlue, ui.AnsiYellow, ui.AnsiGreen, ui.AnsiMagenta, ui.AnsiCyan, ui.AnsiRed}

func (p *Plot) color(series int) string { return palette[series%len(palette)] }

// letters reports whether series are told apart by letters instead of colors.
func (p *Plot) letters() bool {
	return len(p.Series) > len(palette) || len(p.Series) > 1 && !p.Style.Color
}

// head returns the lines above the area: the title with its note, and the names of series beside
// or below it.
func (p *Plot) head() []string {
	title := ui.CutText(ui.OneLine(p.Title), p.Width, "…")
	h := header{width: p.Width}
	h.add(p.Style.Paint(ui.AnsiBold, title), ui.TextWidth(title), 0)
	h.add(p.Style.Paint(ui.AnsiDim, p.Note), ui.TextWidth(p.Note), 1)
	for i := range p.Series {
		text, columns := p.entry(i)
		h.add(text, columns, 3)
	}
	return h.lines
}

// header fills lines with parts.
type header struct {
	width int
	lines []string
	used  int // columns of the last line
}

// add appends a part after some columns of space, or on a new line if it does not fit.
func (h *header) add(text string, columns, space int) {
	switch {
	case columns == 0:
	case len(h.lines) == 0 || h.used+space+columns > h.width:
		h.lines, h.used = append(h.lines, text), columns
	default:
		h.lines[len(h.lines)-1] += strings.Repeat(" ", space) + text
		h.used += space + columns
	}
}

// entry returns the name of a series with its mark, and the columns that it takes. A single
// series needs no mark.
func (p *Plot) entry(series int) (text string, columns int) {
	if p.Series[series].Name == "" {
		return "", 0
	}
	mark := p.glyphs().sample + " "
	switch {
	case len(p.Series) == 1:
		mark = ""
	case p.letters():
		mark = string(letter(series)) + " "
	}
	name := ui.CutText(ui.OneLine(p.Series[series].Name), max(p.Width-ui.TextWidth(mark), 1), "…")
	return p.Style.Paint(p.color(series), mark) + name, ui.TextWidth(mark + name)
}

// write writes the rows of the area with the y axis, whose labels take margin columns.
func (c *canvas) write(b *strings.Builder, labels []string, margin int) {
	g := c.plot.glyphs()
	for row, label := range labels {
		axis := g.vertical
		if label != "" {
			axis = g.yTick
		}
		b.WriteString(strings.Repeat(" ", margin-len(label)) + c.plot.Style.Paint(ui.AnsiDim, label+" "+string(axis)))
		c.writeRow(b, row)
		b.WriteByte('\n')
	}
}

// writeRow writes one row of cells, with one escape sequence for neighbors of the same color.
func (c *canvas) writeRow(b *strings.Builder, row int) {
	var run []rune
	color := ""
	flush := func(next string) {
		b.WriteString(c.plot.Style.Paint(color, string(run)))
		run, color = run[:0], next
	}
	last := c.columns - 1
	for ; last >= 0; last-- {
		if r, _ := c.text(row, last); r != ' ' {
			break
		}
	}
	for column := range last + 1 {
		r, paint := c.text(row, column)
		if paint != color && r != ' ' {
			flush(paint)
		}
		run = append(run, r)
	}
	flush("")
}

// writeXAxis writes the x axis and its labels.
func (c *canvas) writeXAxis(b *strings.Builder, x *scale, margin int) {
	g, style := c.plot.glyphs(), c.plot.Style
	labels := places(x.ticks(float64(c.columns)/columnsOfTick), c.columns)
	axis := []rune{g.corner}
	for column, label := range labels {
		switch {
		case c.gaps[column]:
			axis = append(axis, g.gap)
		case label != "":
			axis = append(axis, g.xTick)
		default:
			axis = append(axis, g.horizontal)
		}
	}
	b.WriteString(strings.Repeat(" ", margin+1) + style.Paint(ui.AnsiDim, string(axis)) + "\n")
	b.WriteString(style.Paint(ui.AnsiDim, xLabels(labels, margin+2)) + "\n")
}

// xLabels returns the line of labels, each centered below its tick if there is room. The axis
// begins at a column.
func xLabels(labels []string, begin int) string {
	line := []byte(strings.Repeat(" ", begin+len(labels)))
	free := 0
	for column, label := range labels {
		at := max(min(begin+column-len(label)/2, len(line)-len(label)), 0)
		if label == "" || at < free {
			continue
		}
		copy(line[at:], label)
		free = at + len(label) + 1
	}
	return strings.TrimRight(string(line), " ")
}
