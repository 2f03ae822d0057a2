package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Sizes of the drawing in pixels.
const (
	drawingWidth = 960
	margin       = 16
	bandGap      = 40 // between rows of bands: room for the arrows
	boxHeight    = 24
	boxGap       = 8
	charWidth    = 7.2 // of 12 px monospace
	titleHeight  = 26
)

// drawing is an SVG that grows downwards.
type drawing struct {
	g    graph
	body strings.Builder
}

// svg draws the bands. Each box has the name of its package, and a tooltip with its
// purpose and imports.
func (g graph) svg() string {
	d := &drawing{g: g}
	y := margin
	for i, row := range bands {
		bottom := y
		width := (drawingWidth - margin*(len(row)+1)) / len(row)
		var boxes strings.Builder
		for n, name := range row {
			bottom = max(bottom, d.boxes(&boxes, name, margin+n*(width+margin), y, width))
		}
		for n, name := range row {
			x := margin + n*(width+margin)
			fmt.Fprintf(&d.body, `<rect class="band" x="%d" y="%d" width="%d" height="%d" rx="6"/><text class="title" x="%d" y="%d">%s</text>`+"\n",
				x, y, width, bottom-y, x+boxGap, y+18, name)
		}
		d.body.WriteString(boxes.String())
		y = bottom
		if i+1 < len(bands) {
			d.arrows(row, bands[i+1], y)
			y += bandGap
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="12" role="img" aria-label="packages by folder; imports go down">
<style>rect.band{fill:#f6f8fa;stroke:#8c959f}rect.box{fill:#ddf4ff;stroke:#54aeff}text{fill:#1f2328}text.title{font-weight:bold;font-size:14px}line{stroke:#57606a;stroke-width:2}path{fill:#57606a}</style>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, drawingWidth, y+margin, d.body.String())
}

// boxes draws the packages of a folder and returns the y of their bottom.
func (d *drawing) boxes(b *strings.Builder, name string, x, y, width int) int {
	at := y + titleHeight
	for _, level := range d.g.levels(name) {
		left := x + boxGap
		for _, p := range level {
			label := strings.TrimPrefix(strings.TrimPrefix(p.path, name+"/"), "internal/")
			w := int(float64(utf8.RuneCountInString(label))*charWidth) + 2*boxGap
			if left+w > x+width-boxGap && left > x+boxGap {
				left, at = x+boxGap, at+boxHeight+boxGap/2
			}
			title := p.path + ": " + p.doc
			if len(p.imports) > 0 {
				title += "\nimports " + strings.Join(p.imports, ", ")
			}
			fmt.Fprintf(b, `<g><title>%s</title><rect class="box" x="%d" y="%d" width="%d" height="%d" rx="4"/><text x="%d" y="%d">%s</text></g>`+"\n",
				html.EscapeString(title), left, at, w, boxHeight, left+boxGap, at+16, html.EscapeString(label))
			left += w + boxGap
		}
		at += boxHeight + boxGap
	}
	return at
}

// arrows draws the number of imports between two rows of bands. The text of the page has
// that from the first row to the last.
func (d *drawing) arrows(from, to []string, y int) {
	n := max(len(from), len(to))
	width := (drawingWidth - margin*(n+1)) / n
	for i := range n {
		x := margin + i*(width+margin) + width/2
		f, t := from[min(i, len(from)-1)], to[min(i, len(to)-1)]
		count := d.g.crossings(f, t)
		if count == 0 {
			continue
		}
		fmt.Fprintf(&d.body, `<line x1="%d" y1="%d" x2="%d" y2="%d"/><path d="M%d %d l-5 -8 h10 z"/><text x="%d" y="%d">%d imports</text>`+"\n",
			x, y, x, y+bandGap-8, x, y+bandGap, x+10, y+bandGap/2+4, count)
	}
}
