package logstore

import (
	"time"

	"torchx/runtime/backend"
)

// isTrimmed reports whether the next bytes to return were trimmed.
func (a *attempt) isTrimmed(s Stream) bool { return a.pos[s] < a.index.trimmed.now.off[s] }

// skipTrimmed moves to the first kept byte of s, or past record r, and returns a notice if a
// selected line is missing.
func (a *attempt) skipTrimmed(s Stream, r record) (backend.Block, bool) {
	g := a.index.trimmed.now
	to, lines := g.off[s], g.lines[s]
	if r.end[s] < to {
		to, lines = r.end[s], r.lines[s]
	}
	before := a.passed[s]
	lines = max(lines, before)
	a.pos[s], a.seen[s], a.lines[s], a.passed[s] = to, max(a.seen[s], to), lines, lines
	a.skipLosses(s)
	passed := a.sel.count(record{lines: a.passed})
	was := passed - (lines - before)
	if a.counting() {
		was, a.line = a.line, passed
	}
	a.skipTo(passed)
	whole := passed > max(was, a.sel.from) && max(was, a.sel.from) < a.sel.to
	cutWithin := to == g.off[s] && g.mid[s] && passed < a.sel.to // the line's number depends on where it ends
	inTime := r.time >= a.sel.since && r.time < a.sel.until
	if !whole && !cutWithin || !inTime || a.noticed[s] >= g.off[s] {
		return backend.Block{}, false
	}
	a.noticed[s] = g.off[s]
	first := min(before, g.lines[s]) + 1
	if whole && a.sel.streams != [2]bool{true, true} {
		first = max(first, a.sel.from+1)
	}
	return backend.Block{
		Time: time.Unix(0, r.time), Stream: streamNames[s], Attempt: a.number, Notice: g.notice(s, first),
	}, true
}

// skipTo records that the selected lines before a line were returned or trimmed. If they end
// in the middle of a record, it may count too few of them, never too many.
func (a *attempt) skipTo(line int64) {
	a.skipped = max(a.skipped, min(line, a.sel.to)-a.out)
}

// skipAllTrimmed returns the pending notice if all known bytes of a stream were trimmed: the
// rest of an unfinished line, or anything trimmed while it was read.
func (a *attempt) skipAllTrimmed() (backend.Block, bool) {
	for s, on := range a.sel.streams {
		if on && !a.ended && a.isTrimmed(Stream(s)) {
			if b, ok := a.skipTrimmed(Stream(s), a.index.totals()); ok {
				return b, ok
			}
		}
	}
	return backend.Block{}, false
}

// noticeTooOld adds a notice if everything written before the requested time was trimmed,
// including the times in the index.
func (a *attempt) noticeTooOld() {
	g := a.index.trimmed.now
	first := a.index.at(a.index.first())
	if a.index.first() == 0 || a.sel.until > first.time || a.sel.since >= a.sel.until ||
		a.sel.from >= a.sel.count(first) {
		return
	}
	for s, on := range a.sel.streams {
		if on && g.lines[s] > 0 {
			a.notices = append(a.notices, g.notice(Stream(s), 1))
		}
	}
}
