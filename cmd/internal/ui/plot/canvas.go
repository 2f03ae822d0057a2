package plot

import (
	"math"

	"torchx/cmd/internal/ui"
)

// Dots of a cell.
const (
	dotColumns = 2
	dotRows    = 4
)

// brailleDots are the bits of U+2800 by row and column.
var brailleDots = [dotRows][dotColumns]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// cell is a character of the area: dots, or a mark.
type cell struct {
	dots   uint8
	series int // drawn last
	shared bool
	mark   rune
}

// canvas is the area of a plot.
type canvas struct {
	plot          *Plot
	columns, rows int
	cells         []cell
	breaks        []bool  // columns where a segment begins
	gaps          []bool  // columns with NaN
	paths         [][]int // row of each series in each column, -1 for none
	letters       bool    // series are marked by letters
}

func newCanvas(columns, rows int, p *Plot) *canvas {
	c := &canvas{plot: p, columns: columns, rows: rows, letters: p.letters()}
	c.cells = make([]cell, columns*rows)
	c.breaks, c.gaps = make([]bool, columns), make([]bool, columns)
	c.paths = make([][]int, len(p.Series))
	for i := range c.paths {
		c.paths[i] = make([]int, columns)
		for x := range c.paths[i] {
			c.paths[i][x] = -1
		}
	}
	return c
}

// set draws a dot of a series.
func (c *canvas) set(series, x, y int) {
	column, row := x/dotColumns, y/dotRows
	at := &c.cells[row*c.columns+column]
	at.shared = at.shared || at.dots != 0 && at.series != series
	at.dots |= brailleDots[y%dotRows][x%dotColumns]
	at.series = series
	c.paths[series][column] = row
}

// line draws a straight line between two dots, by Bresenham's algorithm.
func (c *canvas) line(series, x0, y0, x1, y1 int) {
	dx, dy := abs(x1-x0), -abs(y1-y0)
	stepX, stepY := sign(x1-x0), sign(y1-y0)
	for off := dx + dy; ; {
		c.set(series, x0, y0)
		if x0 == x1 && y0 == y1 {
			return
		}
		twice := 2 * off
		if twice >= dy {
			off += dy
			x0 += stepX
		}
		if twice <= dx {
			off += dx
			y0 += stepY
		}
	}
}

func abs(n int) int { return max(n, -n) }

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// dotX and dotY return the dot of a value; ok is false if the scale cannot show it.
func (c *canvas) dotX(s *scale, v float64) (int, bool) {
	at, ok := s.position(v)
	return int(math.Round(at * float64(c.columns*dotColumns-1))), ok
}

func (c *canvas) dotY(s *scale, v float64) (int, bool) {
	at, ok := s.position(v)
	return int(math.Round((1 - at) * float64(c.rows*dotRows-1))), ok
}

// text returns the character of a cell and its color.
func (c *canvas) text(row, column int) (r rune, color string) {
	at := &c.cells[row*c.columns+column]
	switch {
	case at.mark != 0:
		return at.mark, c.plot.color(at.series)
	case at.dots == 0 && c.breaks[column]:
		return c.plot.glyphs().segment, ui.AnsiDim
	case at.dots == 0:
		return ' ', ""
	case !c.plot.ASCII:
		return 0x2800 + rune(at.dots), c.plot.color(at.series)
	case c.letters:
		return letter(at.series), c.plot.color(at.series)
	}
	const upper = 0x01 | 0x08 | 0x02 | 0x10
	switch {
	case at.dots&upper == 0:
		r = '.'
	case at.dots&^upper == 0:
		r = '\''
	default:
		r = ':'
	}
	return r, c.plot.color(at.series)
}
