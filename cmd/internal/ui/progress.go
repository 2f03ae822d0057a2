package ui

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"torchx/runtime/backend"
)

const (
	redrawEvery = 100 * time.Millisecond
	reportEvery = 10 * time.Second // between lines about a step, off a terminal
	barColumns  = 20
)

// Display shows the steps before an app starts: on a terminal one line each, which is updated
// in place, elsewhere one line every ten seconds.
type Display struct {
	*Console
	width func() int // columns of the terminal; 0: not a terminal
	now   func() time.Time

	mu     sync.Mutex
	steps  []*shownStep // not ended, in the order of their start
	lines  int          // now drawn on the terminal
	redraw time.Time    // time of the last drawing
}

// shownStep is a step with the times of its start and its last report.
type shownStep struct {
	backend.Step
	began, reported time.Time
}

// NewDisplay returns a display on the console's stderr. dumb: the terminal cannot move its cursor.
func NewDisplay(c *Console, dumb bool) *Display {
	width := func() int {
		if dumb {
			return 0
		}
		return ScreenWidth(c.Err)
	}
	return &Display{Console: c, width: width, now: time.Now}
}

// Tell shows the progress of a step; it is a backend.Progress.
func (d *Display) Tell(news backend.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if news.Warning != "" {
		d.erase()
		d.Warn("%s", news.Warning) // the next news draws the bars again
		return
	}
	if d.Level > LevelInfo {
		return
	}
	s, fresh := d.find(news)
	if news.Output != "" {
		d.erase()
		fmt.Fprintf(d.Err, "  %s\n", OneLine(d.Masked(news.Output)))
	}
	if news.Ended {
		d.end(s, news.Failed)
	}
	if d.width() > 0 {
		d.draw(fresh || news.Ended || news.Output != "")
	} else {
		d.report(s, fresh)
	}
}

// Busy reports whether a step is running.
func (d *Display) Busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.steps) > 0
}

// find returns the step of the news, updated with it.
func (d *Display) find(news backend.Step) (s *shownStep, fresh bool) {
	for _, at := range d.steps {
		if at.Name == news.Name {
			if news.Text == "" {
				news.Text = at.Text
			}
			if news.Total == 0 && news.Done == 0 {
				news.Done, news.Total = at.Done, at.Total
			}
			at.Step = news
			return at, false
		}
	}
	s = &shownStep{Step: news, began: d.now()}
	d.steps = append(d.steps, s)
	return s, true
}

func (d *Display) end(s *shownStep, failed bool) {
	for i, at := range d.steps {
		if at == s {
			d.steps = append(d.steps[:i], d.steps[i+1:]...)
			break
		}
	}
	d.erase()
	if !failed { // an error explains a failure
		d.Say("%s: done after %s", s.Name, Age(d.now().Sub(s.began)))
	}
}

// report prints the progress of a step if stderr is not a terminal.
func (d *Display) report(s *shownStep, fresh bool) {
	if s.Ended || !fresh && d.now().Sub(s.reported) < reportEvery {
		return
	}
	s.reported = d.now()
	d.Say("%s", strings.Join(s.parts(false), "  "))
}

// line returns the line of a step, without its text or its bar if they do not fit.
func (d *Display) line(s *shownStep, width int) (line string) {
	forms := [][]string{s.parts(true)}
	if s.Total > 0 {
		brief := *s
		brief.Text = ""
		forms = append(forms, brief.parts(true), brief.parts(false))
	}
	for _, parts := range forms {
		line = OneLine(d.Masked("torchx: " + strings.Join(parts, "  ")))
		if CutText(line, width, "") == line {
			break
		}
	}
	return CutText(line, width, "")
}

// parts returns the parts of a step's line, with a progress bar or without.
func (s *shownStep) parts(bar bool) []string {
	parts := []string{s.Name + ":"}
	if s.Total > 0 {
		share := min(float64(s.Done)/float64(s.Total), 1)
		number := "%.0f"
		if bar {
			number = "%3.0f"
			full := int(share * barColumns)
			parts = append(parts, "["+strings.Repeat("=", full)+strings.Repeat(" ", barColumns-full)+"]")
		}
		parts = append(parts, fmt.Sprintf(number+"%% of %s", share*100, BytesText(s.Total)))
	} else if s.Done > 0 {
		parts = append(parts, BytesText(s.Done))
	}
	if s.Text != "" {
		parts = append(parts, s.Text)
	}
	return parts
}

// draw shows all steps on the terminal, unless the last drawing is recent and now is false.
func (d *Display) draw(now bool) {
	if !now && d.now().Sub(d.redraw) < redrawEvery {
		return
	}
	d.erase()
	width := d.width()
	for _, s := range d.steps {
		// A line that wraps could not be erased again.
		fmt.Fprintf(d.Err, "%s\n", d.line(s, width-1))
	}
	d.lines, d.redraw = len(d.steps), d.now()
}

// erase removes the drawn lines.
func (d *Display) erase() {
	if d.lines > 0 {
		fmt.Fprintf(d.Err, "\r\x1b[%dA\x1b[J", d.lines) // \r: Ctrl-C has moved the cursor
		d.lines = 0
	}
}
