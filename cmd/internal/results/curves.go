package results

import (
	"fmt"
	"math"
	"strings"
	"time"

	"torchx/cmd/internal/ui/plot"
	"torchx/runtime/metrics"
)

// curves are the buckets of series by app.
type curves map[*app]map[metrics.Key][]metrics.Bucket

// readCurves reads the buckets of all selected series.
func (v *view) readCurves() curves {
	all := curves{}
	for _, a := range v.apps {
		var keys []metrics.Key
		for _, s := range v.selected(a) {
			keys = append(keys, s.Key)
		}
		read, err := metrics.Curves(a.dir, keys...)
		if err != nil {
			v.WarnOnce(err.Error()) // what precedes the damage is shown
		}
		all[a] = read
	}
	return all
}

// spread returns the largest values of a curve in columns of equal numbers of points.
func spread(buckets []metrics.Bucket, columns int) []float64 {
	total := int64(0)
	for i := range buckets {
		total += buckets[i].Count
	}
	out := make([]float64, min(int64(columns), total))
	for i := range out {
		out[i] = math.NaN()
	}
	before := int64(0)
	for i := range buckets {
		b := &buckets[i]
		from := before * int64(len(out)) / total
		before += b.Count
		for c := from; c <= (before-1)*int64(len(out))/total; c++ {
			out[c] = -lesser(-out[c], -b.Max)
		}
	}
	return out
}

// line is a series of a plot.
type line struct {
	app     *app
	summary metrics.Summary
	buckets []metrics.Bucket
}

// maxLines is the number of series in a plot: more cannot be told apart.
const maxLines = 8

// lines returns the series with a name, and how many there are.
func (v *view) lines(name string, curves curves) (lines []line, all int) {
	for _, a := range v.apps {
		for _, s := range a.series {
			if s.Name != name {
				continue
			}
			if all++; len(lines) < maxLines {
				lines = append(lines, line{a, s, curves[a][s.Key]})
			}
		}
	}
	return lines, all
}

// plotOf returns the plot of a name. Errors: --x step, and there are no steps.
func (v *view) plotOf(name string, curves curves) (*plot.Plot, error) {
	lines, all := v.lines(name, curves)
	byStep := v.x != xTime
	for i := range lines {
		byStep = byStep && hasSteps(lines[i].buckets)
	}
	if v.x == xStep && !byStep {
		return nil, fmt.Errorf("cannot plot %s by step: some of its values have none (use --x time)", name)
	}
	p := &plot.Plot{Title: name, Note: "by step", X: plot.Steps, Style: v.OutStyle, ASCII: v.ascii()}
	if !byStep {
		p.Note, p.X = "by time", plot.Seconds
	}
	if v.log {
		p.Y = plot.Log
		p.Note += ", log scale"
		if hidden(lines) {
			p.Note += ", values up to 0 not shown"
		}
	}
	if all > len(lines) {
		p.Note += fmt.Sprintf(", %d of %d series", len(lines), all)
	}
	for i := range lines {
		p.Series = append(p.Series, plot.Series{Name: v.lineName(lines, i), Samples: lines[i].samples(byStep)})
	}
	return p, nil
}

func hasSteps(buckets []metrics.Bucket) bool {
	for i := range buckets {
		if !buckets[i].HasStep {
			return false
		}
	}
	return true
}

// hidden reports whether a logarithmic scale cannot show a value.
func hidden(lines []line) bool {
	for i := range lines {
		if lines[i].summary.Min <= 0 {
			return true
		}
	}
	return false
}

// lineName tells the lines of a plot apart: by app, by replica, or by both.
func (v *view) lineName(lines []line, i int) string {
	l := &lines[i]
	replica := fmt.Sprintf("%s/%d", l.summary.Role, l.summary.Replica)
	several := false
	for j := range lines {
		several = several || j != i && lines[j].app == l.app
	}
	switch {
	case len(v.apps) == 1:
		return replica
	case several:
		return l.app.name() + " " + replica
	}
	return l.app.name()
}

// samples returns the curve of a line by step or by seconds since the app's first value.
func (l *line) samples(byStep bool) []plot.Sample {
	out := make([]plot.Sample, len(l.buckets))
	begin := l.app.begin().UnixNano()
	for i := range l.buckets {
		b := &l.buckets[i]
		s := plot.Sample{First: b.First, Last: b.Last, Min: b.Min, Max: b.Max, Segment: b.Segment}
		s.FirstX, s.LastX = float64(b.FirstStep), float64(b.LastStep)
		if !byStep {
			s.FirstX, s.LastX = seconds(b.FirstTime-begin), seconds(b.LastTime-begin)
		}
		if b.NonFinite > 0 {
			s.PosInf = math.IsInf(b.First, 1) || math.IsInf(b.Last, 1)
			s.NegInf = math.IsInf(b.First, -1) || math.IsInf(b.Last, -1)
			s.NaN = math.IsNaN(b.First) || math.IsNaN(b.Last) || !s.PosInf && !s.NegInf
		}
		out[i] = s
	}
	return out
}

func seconds(nanoseconds int64) float64 { return float64(nanoseconds) / float64(time.Second) }

// begin returns the time of the first value of an app.
func (a *app) begin() time.Time {
	var first time.Time
	for i := range a.series {
		if t := a.series[i].FirstTime; first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// sourceName splits a source such as tensorboard:train into its kind and folder.
func sourceName(source string) (kind, folder string) {
	kind, folder, _ = strings.Cut(source, ":")
	return kind, folder
}
