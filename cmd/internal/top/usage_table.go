package top

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/cmd/internal/ui/plot"
	"torchx/runtime/sample"
	"torchx/runtime/usage"
)

// text returns a row for each attempt and below it a line of blocks; width 0 means that lines may
// be long.
func (v *usageView) text(rec *usage.Record, width int) string {
	tab := &ui.Table{Header: []string{"REPLICA", "ATTEMPT", "CPU AVG", "CPU PEAK", "MEM AVG", "PEAK MEM", "READ", "WRITTEN", "THREADS", "GPU AVG", "GPU PEAK", "GPU MEM"}}
	retried := false
	for i := range rec.Attempts {
		retried = retried || rec.Attempts[i].Attempt > 0
	}
	for i := range rec.Attempts {
		a := &rec.Attempts[i]
		s, source := a.Summary()
		attempt := ""
		if retried {
			attempt = strconv.Itoa(a.Attempt)
		}
		var cells []ui.Cell
		for _, text := range []string{
			fmt.Sprintf("%s/%d", a.Role, a.ID), attempt, percentUsed(s.CPUMean), percentUsed(s.CPUPeak), bytesUsed(s.MemoryMean),
			ui.PeakText(s.MemoryPeak, source), bytesUsed(s.Read), bytesUsed(s.Written), threadsUsed(s.ThreadsPeak), percentUsed(s.GPUMean), percentUsed(s.GPUPeak), bytesUsed(s.GPUMemoryPeak),
		} {
			cells = append(cells, ui.NewCell(v.f.Masked(text), ""))
		}
		tab.Add(cells...)
	}
	tab.DropEmpty()
	if width > 0 {
		tab.Fit(width, "THREADS", "GPU PEAK", "MEM AVG", "CPU PEAK", "WRITTEN", "READ", "GPU AVG",
			"GPU MEM", "CPU AVG")
		tab.Shorten("REPLICA", width, 10)
	} else {
		width = ui.DefaultWidth
	}
	var table strings.Builder
	_ = tab.Write(&table, v.f.OutStyle) // a builder does not fail
	lines := strings.SplitAfter(strings.TrimSuffix(table.String(), "\n"), "\n")
	var b strings.Builder
	b.WriteString(lines[0])
	for i, line := range lines[1:] {
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n" + v.curves(&rec.Attempts[i], width) + "\n")
	}
	return b.String()
}

// curves returns the line of blocks of an attempt, or why there is none.
func (v *usageView) curves(a *usage.Attempt, width int) string {
	if len(a.Samples) == 0 {
		return ui.CutText("  "+v.f.Masked(ui.OneLine(a.Unknown)), width, "…")
	}
	type curve struct {
		name   string
		values []float64
	}
	curves := []curve{
		{"cpu", usageCurve(a.Samples, func(s *sample.Sample) *float64 { return s.CPUPercent() })},
		{"mem", usageCurve(a.Samples, func(s *sample.Sample) *float64 { return float(s.MemoryPeak) })},
		{"gpu", usageCurve(a.Samples, func(s *sample.Sample) *float64 { return s.GPU })},
	}
	if curves[2].values == nil {
		curves = curves[:2]
	}
	const label = 6 // two spaces, the name and a space
	room := max(1, min(width, maxCurves)/len(curves)-label)
	line := ""
	for _, c := range curves {
		if c.values == nil {
			continue
		}
		top := 0.0
		for _, y := range c.values {
			if y > top { // not for NaN
				top = y
			}
		}
		line += "  " + c.name + " " + fmt.Sprintf("%-*s", room,
			plot.Blocks(c.values, room, 0, top, v.ascii))
	}
	return strings.TrimRight(line, " ")
}

// maxCurves is the width of a line of blocks on a wide screen.
const maxCurves = 120

// usageCurve returns the values of samples at equal steps of time: intervals grow with the age of
// an attempt. Unknown ones are NaN; nil: all are unknown.
func usageCurve(all []sample.Sample, value func(*sample.Sample) *float64) (values []float64) {
	total, known := 0.0, false
	for i := range all {
		total += all[i].Seconds
	}
	n := min(len(all), maxCurves)
	values = make([]float64, n)
	for i := range values {
		values[i] = math.NaN()
	}
	at := 0.0
	for i := range all {
		first := int(at / total * float64(n))
		at += all[i].Seconds
		v := value(&all[i])
		if v == nil {
			continue
		}
		known = true
		for c := min(first, n-1); c < n && (c == first || float64(c) < at/total*float64(n)-1e-9); c++ {
			if !(values[c] >= *v) {
				values[c] = *v
			}
		}
	}
	if !known {
		return nil
	}
	return values
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	v := float64(*n)
	return &v
}

func percentUsed(p *float64) string {
	if p == nil {
		return ""
	}
	return strconv.FormatFloat(*p, 'f', 1, 64) + "%"
}

func bytesUsed(n *int64) string {
	if n == nil {
		return ""
	}
	return ui.BytesText(*n)
}

func threadsUsed(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
