package logstore

import (
	"time"

	"torchx/runtime/backend"
)

var _ backend.LogCounter = (*reader)(nil)

// eachAttempt calls f with each attempt that the reader will read; the index of an attempt is only
// open during the call.
func (r *reader) eachAttempt(f func(a *attempt, sel selection)) error {
	passed := int64(0)
	for n := r.number; n <= r.lastAttempt() && n < r.attempts; n++ {
		a := r.cur
		if a == nil || a.number != n {
			opened, err := openAttempt(n, r.src.Dir(n), r.isComplete(n))
			if err != nil {
				return err
			}
			a = opened
		}
		sel := r.sel.after(passed)
		f(a, sel)
		passed += sel.count(a.index.totals()) + int64(len(sel.openLines(&a.index)))
		if a != r.cur {
			a.close()
		}
	}
	return nil
}

// Count implements backend.LogCounter.
func (r *reader) Count() (c backend.LogCount, err error) {
	err = r.eachAttempt(func(a *attempt, sel selection) {
		var one backend.LogCount
		a.index.untilStable(func() { one = a.index.measure(sel) })
		c.Lines, c.Bytes, c.Last, c.Dir = c.Lines+one.Lines, c.Bytes+one.Bytes, one.Last, a.dir
		if c.First.IsZero() {
			c.First = one.First
		}
	})
	return c, err
}

// measure returns what a selection has now.
func (x *index) measure(sel selection) (c backend.LogCount) {
	last := x.totals()
	c.Lines = sel.count(last) + int64(len(sel.openLines(x)))
	for s, on := range sel.streams {
		if on {
			c.Bytes += last.end[s]
		}
	}
	if x.len() > 0 {
		c.First, c.Last = time.Unix(0, x.at(x.first()).time), time.Unix(0, last.time)
	}
	return c
}

// LinesBefore implements backend.LogCounter.
func (r *reader) LinesBefore(t time.Time) (lines int64, err error) {
	at := unixNano(t)
	err = r.eachAttempt(func(a *attempt, sel selection) {
		var before int64
		a.index.untilStable(func() { before = a.index.linesBefore(sel, at) })
		lines += before
	})
	return lines, err
}

// linesBefore returns the number of selected lines before a time in unix ns.
func (x *index) linesBefore(sel selection, at int64) int64 {
	if k := x.search(func(r record) bool { return r.time >= at }); k < x.len() {
		return sel.count(x.at(k - 1))
	}
	return sel.count(x.totals()) + int64(len(sel.openLines(x)))
}

// SeekLine implements backend.LogCounter.
func (r *reader) SeekLine(line int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o.FromLine = line
	sel, err := newSelection(r.o)
	if err != nil {
		return err
	}
	r.sel = sel
	if r.cur != nil {
		r.cur.start(sel.after(r.passed))
	}
	return nil
}
