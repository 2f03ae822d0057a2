package logstore

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"torchx/runtime/backend"
)

// selection selects lines of one attempt. Lines are numbered from 0 across the selected
// streams, in the order in which their ends arrived; unfinished lines come last.
type selection struct {
	streams      [2]bool
	since, until int64 // unix ns, [since,until)
	from, to     int64 // lines with an end, [from,to)
	open, openTo int64 // lines without an end, [open,openTo)
	dropOpen     int   // how many of those are skipped at the front
}

// newSelection converts options; line numbers are those of the first attempt read.
func newSelection(o backend.LogOptions) (selection, error) {
	sel := selection{since: math.MinInt64, until: math.MaxInt64, to: math.MaxInt64}
	switch o.Stream {
	case "", backend.Combined:
		sel.streams = [2]bool{true, true}
	case backend.Stdout:
		sel.streams[Stdout] = true
	case backend.Stderr:
		sel.streams[Stderr] = true
	default:
		return sel, backend.Errorf(backend.ErrInvalidOption,
			"read log: invalid stream %q, want one of %v", o.Stream, backend.Streams)
	}
	if !o.Since.IsZero() {
		sel.since = unixNano(o.Since)
	}
	if !o.Until.IsZero() {
		sel.until = unixNano(o.Until)
	}
	sel.from = max(0, o.FromLine-1)
	if o.ToLine > 0 {
		sel.to = o.ToLine
	}
	sel.open, sel.openTo = sel.from, sel.to
	return sel, nil
}

// unixNano returns t in ns, limited to the range of int64.
func unixNano(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// after returns the selection in an attempt that follows a number of lines.
func (sel selection) after(lines int64) selection {
	back := func(n int64) int64 {
		if n == math.MaxInt64 {
			return n
		}
		return max(0, n-lines)
	}
	sel.from, sel.to = back(sel.from), back(sel.to)
	sel.open, sel.openTo = sel.from, sel.to
	return sel
}

// count returns the number of selected lines that end in record r or before.
func (sel selection) count(r record) int64 {
	var n int64
	for s, on := range sel.streams {
		if on {
			n += r.lines[s]
		}
	}
	return n
}

// withTimes converts times into lines, as far as the index reaches.
func (sel selection) withTimes(x *index) selection {
	if sel.since != math.MinInt64 {
		k := x.search(func(r record) bool { return r.time >= sel.since })
		sel.from = max(sel.from, sel.count(x.at(k-1)))
	}
	if sel.until != math.MaxInt64 {
		if k := x.search(func(r record) bool { return r.time >= sel.until }); k < x.len() {
			sel.to = min(sel.to, sel.count(x.at(k-1)))
		}
	}
	return sel
}

// openLine is an unfinished last line.
type openLine struct {
	stream Stream
	record int64 // the record with its last bytes
	time   int64
}

// openLines lists the unfinished last lines of the selected streams, by arrival.
func (sel selection) openLines(x *index) []openLine {
	var lines []openLine
	last := x.totals()
	for s, on := range sel.streams {
		end := last.end[s]
		if !on || end == 0 || !x.endsOpen(Stream(s), end) {
			continue
		}
		k := x.search(func(r record) bool { return r.end[s] >= end })
		lines = append(lines, openLine{Stream(s), k, x.at(k).time})
	}
	slices.SortFunc(lines, func(a, b openLine) int { return cmp.Compare(a.record, b.record) })
	return lines
}

// endsOpen reports whether the last line of a stream is unfinished, even if it was trimmed.
func (x *index) endsOpen(s Stream, end int64) bool {
	p, err := x.data[s].view(end-1, end, end)
	if errors.Is(err, errTrimmed) {
		return x.trimmed.now.off[s] == end && x.trimmed.now.mid[s]
	}
	return err == nil && len(p) == 1 && p[0] != '\n'
}

// selectedOpen returns the unfinished lines in the selection.
func (sel selection) selectedOpen(x *index) []openLine {
	var lines []openLine
	next := sel.count(x.totals())
	for _, l := range sel.openLines(x) {
		if l.time >= sel.since && l.time < sel.until && next >= sel.open && next < sel.openTo {
			lines = append(lines, l)
		}
		next++
	}
	return lines[min(len(lines), sel.dropOpen):]
}

// drop reduces the selection to the last n existing lines, and returns how many of the n
// remain for earlier attempts.
func (sel selection) drop(x *index, n int64) (selection, int64) {
	sel = sel.withTimes(x)
	end := min(sel.to, sel.count(x.totals()))
	whole, open := max(0, end-sel.from), int64(len(sel.selectedOpen(x)))
	if n >= whole+open {
		return sel, n - whole - open
	}
	out := whole + open - n
	sel.dropOpen = int(max(0, out-whole))
	sel.from = min(sel.from+out, max(sel.from, end))
	return sel, 0
}
