// Package plot draws curves on a terminal: Plot has axes and several series of braille dots,
// Blocks is one line of blocks.
package plot

import (
	"math"
	"slices"
	"strings"

	"torchx/cmd/internal/ui"
)

// Sample is one point of a series, or summarizes successive points of one segment. Min and Max are
// of the finite values, NaN if there are none.
type Sample struct {
	FirstX, LastX       float64
	First, Last         float64
	Min, Max            float64
	NaN, PosInf, NegInf bool // some values are
	Segment             int  // samples of different segments are not connected
}

// Series is a curve.
type Series struct {
	Name    string
	Samples []Sample
}

// Axis is how the values of an axis are scaled and labeled.
type Axis int

// Kinds of axes.
const (
	Linear Axis = iota
	Log         // of values above zero
	Steps       // of whole numbers
	Seconds
)

// Plot is a picture of some series.
type Plot struct {
	Title, Note   string // the note is dim
	Series        []Series
	X, Y          Axis
	Width, Height int // in columns and lines, all included
	Style         ui.Style
	ASCII         bool // no braille and box characters
}

// Least size of the area of the dots.
const (
	minColumns = 10
	minRows    = 4
)

// Text returns the picture, lines that end with newlines: the title and the names of the series,
// the area with the y axis, the x axis and its labels.
func (p *Plot) Text() string {
	head := p.head()
	rows := max(p.Height-len(head)-2, minRows)
	x, y := p.scale(p.X, true), p.scale(p.Y, false)
	count := float64(rows) / rowsOfTick
	y.widen(count)
	ticks := y.ticks(count)
	margin := 0
	for _, t := range ticks {
		margin = max(margin, len(t.label))
	}
	c := newCanvas(max(p.Width-margin-2, minColumns), rows, p)
	c.draw(x, y)
	var b strings.Builder
	for _, line := range head {
		b.WriteString(line + "\n")
	}
	labels := places(ticks, rows)
	slices.Reverse(labels)
	c.write(&b, labels, margin)
	c.writeXAxis(&b, x, margin)
	return b.String()
}

// scale returns the scale of an axis for the finite values of all series.
func (p *Plot) scale(axis Axis, x bool) *scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range p.Series {
		for _, s := range p.Series[i].Samples {
			values := [2]float64{s.Min, s.Max}
			if x {
				values = [2]float64{s.FirstX, s.LastX}
			}
			for _, v := range values {
				if isFinite(v) && (axis != Log || v > 0) {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	return newScale(axis, lo, hi)
}
