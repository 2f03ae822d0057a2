package plot

// draw draws all series, the first on top.
func (c *canvas) draw(x, y *scale) {
	for i := len(c.plot.Series) - 1; i >= 0; i-- {
		d := drawing{canvas: c, x: x, y: y, series: i}
		for j := range c.plot.Series[i].Samples {
			d.sample(&c.plot.Series[i].Samples[j], j > 0)
		}
		d.flags()
	}
	if c.letters && !c.plot.ASCII {
		c.placeLetters()
	}
}

// drawing is one series while it is drawn.
type drawing struct {
	*canvas
	x, y         *scale
	series       int
	segment      int
	atX, atY     int  // last dot
	connected    bool // the next point is connected with the last dot
	above, below []int
}

func (d *drawing) sample(s *Sample, follows bool) {
	firstX, okFirst := d.dotX(d.x, s.FirstX)
	lastX, okLast := d.dotX(d.x, s.LastX)
	if !okFirst || !okLast {
		return
	}
	column := (firstX + lastX) / 2 / dotColumns
	if follows && s.Segment != d.segment {
		d.breaks[firstX/dotColumns] = true
		d.connected = false
	}
	d.segment = s.Segment
	d.gaps[column] = d.gaps[column] || s.NaN
	if s.PosInf {
		d.above = append(d.above, column)
	}
	if s.NegInf {
		d.below = append(d.below, column)
	}
	d.curve(s, firstX, lastX)
}

// curve connects a sample with the one before and draws its own points.
func (d *drawing) curve(s *Sample, firstX, lastX int) {
	lowest, okMin := d.dotY(d.y, s.Min)
	highest, okMax := d.dotY(d.y, s.Max)
	if !okMax {
		d.connected = false
		return
	}
	if !okMin {
		lowest = highest // a logarithmic scale cannot show the rest
	}
	firstY, okFirst := d.dotY(d.y, s.First)
	lastY, okLast := d.dotY(d.y, s.Last)
	if okFirst && d.connected {
		d.line(d.series, d.atX, d.atY, firstX, firstY)
	}
	middle := (firstX + lastX) / 2
	if okFirst && okLast {
		d.line(d.series, firstX, firstY, lastX, lastY)
		if firstX/dotColumns != lastX/dotColumns { // on a wide sample, only values beyond its line
			across := (firstY + lastY) / 2
			lowest, highest = beyond(lowest, max(firstY, lastY), across), beyond(highest,
				min(firstY, lastY), across)
		}
	}
	d.line(d.series, middle, highest, middle, lowest)
	d.atX, d.atY, d.connected = lastX, lastY, okLast
}

// beyond returns the dot y if it differs from the end of a line, else the line's middle.
func beyond(y, end, middle int) int {
	if y == end {
		return middle
	}
	return y
}

// flags marks infinite values at the upper and lower edge, and the point of a series that has only
// one.
func (d *drawing) flags() {
	g := d.plot.glyphs()
	if samples := d.plot.Series[d.series].Samples; len(samples) == 1 && d.connected && !d.letters {
		d.cells[d.atY/dotRows*d.columns+d.atX/dotColumns] = cell{mark: g.point, series: d.series}
	}
	for _, column := range d.above {
		d.cells[column] = cell{mark: g.above, series: d.series}
	}
	for _, column := range d.below {
		d.cells[(d.rows-1)*d.columns+column] = cell{mark: g.below, series: d.series}
	}
}

// letterEvery is the number of columns between two letters of a series.
const letterEvery = 16

// placeLetters puts the letter of each series onto its curve, where no other series is drawn.
func (c *canvas) placeLetters() {
	for i, path := range c.paths {
		next, fallback := i*letterEvery/len(c.paths), -1
		placed := false
		for column, row := range path {
			if row < 0 {
				continue
			}
			at := &c.cells[row*c.columns+column]
			if fallback < 0 || at.mark == 0 {
				fallback = row*c.columns + column
			}
			if column >= next && !at.shared && at.mark == 0 && at.series == i {
				at.mark, placed = letter(i), true
				next = column + letterEvery
			}
		}
		if !placed && fallback >= 0 {
			c.cells[fallback].mark, c.cells[fallback].series = letter(i), i
		}
	}
}

// letter returns the mark of a series: a to z, A to Z, then #.
func letter(series int) rune {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if series < len(letters) {
		return rune(letters[series])
	}
	return '#'
}
