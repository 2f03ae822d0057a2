package logstore

import (
	"errors"
	"fmt"

	"torchx/runtime/backend"
)

// last returns the remaining output after the end of the log: unfinished lines, and losses
// after the last bytes.
func (a *attempt) last() (backend.Block, bool, error) {
	if b, ok := a.skipAllTrimmed(); ok {
		return b, ok, nil
	}
	if !a.tailed {
		a.tailed = true
		a.tail = a.sel.selectedOpen(&a.index)
	}
	for len(a.tail) > 0 {
		l := a.tail[0]
		b, ok, err := a.openBlock(l)
		if ok || err != nil {
			return b, ok, err
		}
		a.tail = a.tail[1:]
	}
	if len(a.notices) > 0 {
		return a.next()
	}
	return a.lastLoss()
}

// openBlock returns the rest of an unfinished line, in pieces if it is long.
func (a *attempt) openBlock(l openLine) (backend.Block, bool, error) {
	end := a.index.totals().end[l.stream]
	if a.isTrimmed(l.stream) {
		if b, ok := a.skipTrimmed(l.stream, a.index.totals()); ok {
			return b, ok, nil
		}
	}
	pos := a.pos[l.stream]
	if pos >= end {
		return backend.Block{}, false, nil
	}
	to := min(end, pos+maxLine)
	p, err := a.data[l.stream].view(pos, to, end)
	if errors.Is(err, errTrimmed) {
		return a.openBlock(l)
	}
	if err != nil {
		return backend.Block{}, false, fmt.Errorf("read log: %w", err)
	}
	if len(p) == 0 { // the file was cut short
		a.pos[l.stream] = end
		return backend.Block{}, false, nil
	}
	a.pos[l.stream] += int64(len(p))
	return a.dataBlock(l.stream, l.time, p, a.pos[l.stream] < end), true, nil
}

// partial returns the start of a stream's unfinished line, for clients that show it early.
func (a *attempt) partial(s Stream) (backend.Block, bool, error) {
	r := a.index.totals()
	if a.ended || a.line < a.sel.from || r.time < a.sel.since || r.time >= a.sel.until ||
		a.pos[s] >= r.end[s] {
		return backend.Block{}, false, nil
	}
	if a.isTrimmed(s) {
		b, ok := a.skipTrimmed(s, r)
		return b, ok, nil
	}
	p, err := a.view(s, min(r.end[s], a.pos[s]+maxLine), r.end[s])
	if errors.Is(err, errTrimmed) {
		return backend.Block{}, false, nil
	}
	if err != nil || len(p) == 0 {
		return backend.Block{}, false, err
	}
	a.pos[s] += int64(len(p))
	return a.dataBlock(s, r.time, p, true), true, nil
}
