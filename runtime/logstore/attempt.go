package logstore

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/backend"
)

// attempt reads the selected lines of one attempt.
type attempt struct {
	number int
	dir    string
	data   [2]data
	index  index
	sel    selection
	progress
	lossState
	notices []string // to be returned first

	complete bool // all writers have ended
	atEnd    bool // a follower does not wait for more
	tail     []openLine
	tailed   bool // tail is set
}

// progress is how far an attempt has been read, by stream where there are two values.
type progress struct {
	k       int64    // the current record
	seen    [2]int64 // how far the streams have been examined
	lines   [2]int64 // newlines up to seen, or fewer
	passed  [2]int64 // newlines up to the last record that was finished or trimmed
	pos     [2]int64 // the first byte not returned yet
	noticed [2]int64 // end of the trimmed bytes that were reported
	line    int64    // selected lines passed; kept only while counting
	out     int64    // with a size limit: selected lines returned or reported as skipped
	skipped int64    // trimmed lines that the next block reports
	ended   bool     // the end of the selection is reached
}

// lossState holds the bytes that could not be written.
type lossState struct {
	losses   [2][]loss
	shown    [2]int   // number of losses returned
	marked   [2]int64 // bytes in losses
	lostSize int64    // size of log.lost when it was read
}

// openAttempt opens an attempt's folder, which need not exist yet.
func openAttempt(number int, dir string, complete bool) (*attempt, error) {
	a := &attempt{number: number, dir: dir, complete: complete}
	a.index = index{dir: dir, data: &a.data}
	for s := range a.data {
		a.data[s] = data{name: filepath.Join(dir, dataFiles[s]), s: Stream(s), trimmed: &a.index.trimmed}
	}
	if _, err := a.index.refresh(complete); err != nil {
		a.close()
		return nil, err
	}
	a.loadLosses()
	if a.index.bad != "" {
		a.notices = append(a.notices, a.index.bad)
	}
	if complete {
		a.finish()
	}
	return a, nil
}

// finish records that no more output will come.
func (a *attempt) finish() {
	a.complete, a.atEnd = true, true
	if a.missing() {
		a.notices = append(a.notices, a.missingNotice())
	}
}

// missing reports whether the attempt has no log.
func (a *attempt) missing() bool {
	if a.index.file != nil || a.index.bad != "" {
		return false
	}
	for s := range a.data {
		if _, err := a.data[s].size(); err == nil {
			return false
		}
	}
	return true
}

// missingNotice says that the log is gone, and since when at the latest: the change time of
// the folder that it was deleted from.
func (a *attempt) missingNotice() string {
	when := ""
	for dir := a.dir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if fi, err := os.Stat(dir); err == nil {
			when = ", since " + fi.ModTime().UTC().Format(time.RFC3339) + " or earlier"
			break
		}
	}
	return fmt.Sprintf("the log of attempt %d is gone%s: no log in %s", a.number, when, a.dir)
}

// start moves to the first selected line.
func (a *attempt) start(sel selection) {
	a.index.untilStable(func() { a.seek(sel) })
	a.noticeTooOld()
}

func (a *attempt) seek(sel selection) {
	a.sel = sel.withTimes(&a.index)
	a.k = a.index.search(func(r record) bool { return a.sel.count(r) > a.sel.from })
	prev := a.index.at(a.k - 1)
	a.seen, a.lines, a.passed, a.line = prev.end, prev.lines, prev.lines, a.sel.count(prev)
	a.out, a.skipped = a.sel.from, 0
	a.skipTo(a.line)
	start := a.k
	a.k = max(0, min(a.k, a.index.len()-1)) // the last record may grow
	for s, on := range a.sel.streams {
		if on {
			a.pos[s] = a.index.lineStart(Stream(s), start)
			a.skipLosses(Stream(s))
		}
	}
}

// counting reports whether lines must be counted: the selection starts or ends in the
// remaining output.
func (a *attempt) counting() bool { return a.line < a.sel.from || a.sel.to != math.MaxInt64 }

// next returns the next block of whole lines, false if none is ready.
func (a *attempt) next() (backend.Block, bool, error) {
	b, ok, err := a.nextBlock()
	if ok && a.index.trimmed.file != nil {
		b.Skipped, a.skipped = a.skipped, 0
		a.out += b.Skipped + int64(bytes.Count(b.Data, []byte{'\n'}))
	}
	return b, ok, err
}

func (a *attempt) nextBlock() (backend.Block, bool, error) {
	for {
		if len(a.notices) > 0 {
			b := backend.Block{Notice: a.notices[0], Attempt: a.number}
			a.notices = a.notices[1:]
			return b, true, nil
		}
		if a.ended {
			return backend.Block{}, false, nil
		}
		if a.k >= a.index.len() {
			b, ok := a.skipAllTrimmed()
			return b, ok, nil
		}
		if a.line >= a.sel.to && a.counting() {
			a.ended = true
			continue
		}
		prev, r := a.index.at(a.k-1), a.index.at(a.k)
		if first := a.index.first(); a.k < first {
			a.k = first // earlier records were trimmed
			continue
		}
		if r.before(prev) {
			a.damaged()
			continue
		}
		s, more := a.grownStream(r)
		if !more {
			a.finished(r)
			if a.k == a.index.len()-1 {
				return backend.Block{}, false, nil // it may grow
			}
			a.k++
			continue
		}
		if r.time >= a.sel.until {
			a.ended = true
			continue
		}
		if b, ok, err := a.block(s, r); ok || err != nil {
			return b, ok, err
		}
	}
}

// finished records what was passed at the end of record r.
func (a *attempt) finished(r record) {
	for s := range r.end {
		if a.seen[s] == r.end[s] {
			a.passed[s] = r.lines[s]
		}
	}
}

// grownStream returns a stream that grew in record r.
func (a *attempt) grownStream(r record) (Stream, bool) {
	for s := range r.end {
		if r.end[s] <= a.seen[s] {
			continue
		}
		if a.sel.streams[s] {
			return Stream(s), true
		}
		a.seen[s], a.lines[s] = r.end[s], r.lines[s]
	}
	return 0, false
}

// damaged stops using an index whose record k is invalid; the remaining data follow as one
// chunk per stream.
func (a *attempt) damaged() {
	x := &a.index
	a.notices = append(a.notices, fmt.Sprintf(
		"%s is damaged after record %d: times from here on are those of the log files", filepath.Join(a.dir, IndexFile), a.k))
	x.last, x.n = x.at(a.k-1), a.k
	x.cache, x.extra = nil, nil
	x.bad = "damaged" // its end is not read again
	x.addRemainders()
}

// block returns lines of stream s up to record r, or finishes that part of r.
func (a *attempt) block(s Stream, r record) (backend.Block, bool, error) {
	if a.isTrimmed(s) {
		b, ok := a.skipTrimmed(s, r)
		return b, ok, nil
	}
	limit := r.end[s]
	gap, lost := a.gap(s, limit)
	if lost {
		limit = gap.Offset
	}
	var p []byte
	var part bool
	var err error
	if a.pos[s] < limit {
		p, part, err = a.wholeLines(s, limit, r)
		if errors.Is(err, errTrimmed) || len(p) == 0 && a.isTrimmed(s) {
			return backend.Block{}, false, nil
		}
		if err != nil {
			return backend.Block{}, false, err
		}
	}
	if len(p) == 0 && lost {
		a.shown[s]++
		return a.lossBlock(s, gap)
	}
	if len(p) == 0 {
		a.seen[s], a.lines[s] = max(a.seen[s], limit), r.lines[s]
		return backend.Block{}, false, nil
	}
	a.pos[s] += int64(len(p))
	a.seen[s] = max(a.seen[s], a.pos[s])
	if p = a.cut(p); len(p) == 0 || r.time < a.sel.since {
		return backend.Block{}, false, nil
	}
	return a.dataBlock(s, r.time, p, part), true, nil
}

func (a *attempt) dataBlock(s Stream, ns int64, p []byte, part bool) backend.Block {
	return backend.Block{
		Time: time.Unix(0, ns), Stream: streamNames[s], Attempt: a.number, Data: p, Partial: part,
	}
}

var streamNames = [2]backend.Stream{backend.Stdout, backend.Stderr}

// wholeLines returns the next bytes of s before limit that end with a newline, none if
// there is no newline. A line longer than maxLine comes in pieces, all but the last with
// part set.
func (a *attempt) wholeLines(s Stream, limit int64, r record) (p []byte, part bool, err error) {
	if a.lines[s] == r.lines[s] && limit == r.end[s] {
		return nil, false, nil // a long line is arriving: no newline to search for
	}
	for size := int64(window); ; size *= 2 {
		to := min(limit, a.pos[s]+size)
		p, err = a.view(s, to, limit)
		if err != nil || int64(len(p)) < to-a.pos[s] {
			return p, false, err
		}
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return p[:i+1], false, nil
		}
		if to == limit {
			return nil, false, nil
		}
		if size == window && a.data[s].lastLineEnd(max(a.seen[s], to), limit) < 0 {
			return nil, false, nil
		}
		if size >= maxLine {
			// The search for the line's end has moved the window.
			p, err = a.view(s, to, limit)
			return p, true, err
		}
	}
}

// view returns the stream from pos to to. If the file is shorter, it returns the rest, then
// nothing with a notice of the missing bytes. Errors: errTrimmed.
func (a *attempt) view(s Stream, to, known int64) ([]byte, error) {
	pos := a.pos[s]
	p, err := a.data[s].view(pos, to, known)
	if err == nil && int64(len(p)) == to-pos {
		return p, nil
	}
	if errors.Is(err, errTrimmed) {
		return nil, err
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read log: %w", err)
	}
	if len(p) > 0 {
		return p, nil
	}
	end := a.index.totals().end[s]
	what := "has been cut short"
	if err != nil {
		what = "is gone"
	}
	a.notices = append(a.notices, fmt.Sprintf("%s %s: %d bytes from byte %d on are missing", a.data[s].name, what, end-pos, pos))
	a.pos[s], a.seen[s], a.lines[s] = end, end, a.index.totals().lines[s]
	a.passed[s] = a.lines[s]
	return nil, nil
}

// cut removes the lines before and after the selection.
func (a *attempt) cut(p []byte) []byte {
	if !a.counting() {
		return p
	}
	if a.line < a.sel.from {
		i, n := nthLine(p, a.sel.from-a.line)
		a.line += n
		if i < 0 {
			return nil
		}
		p = p[i:]
	}
	if a.sel.to == math.MaxInt64 {
		return p
	}
	i, n := nthLine(p, a.sel.to-a.line)
	a.line += n
	if i < 0 {
		return p
	}
	a.ended = true
	return p[:i]
}

// refresh reads new records and reports whether there are any.
func (a *attempt) refresh() (bool, error) {
	noIndex := a.index.file == nil
	grew, err := a.index.refresh(a.complete)
	if noIndex && a.index.file != nil {
		a.k = 0 // seen and pos prevent repeated output
	}
	if grew {
		a.loadLosses()
	}
	return grew, err
}

// count returns the number of selected lines, including unfinished ones.
func (a *attempt) count() int64 {
	return a.sel.count(a.index.totals()) + int64(len(a.sel.openLines(&a.index)))
}

func (a *attempt) close() {
	for s := range a.data {
		a.data[s].close()
	}
	a.index.close()
}
