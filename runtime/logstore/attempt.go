package logstore

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"torchx/backends"
)

// attempt reads the selected lines of one attempt.
type attempt struct {
	number int
	dir    string
	data   [2]data
	index  index
	sel    selection

	k       int64    // the record that is being handed out
	seen    [2]int64 // how far the streams have been looked at
	lines   [2]int64 // newlines up to there
	pos     [2]int64 // the first byte that was not handed out
	line    int64    // selected lines passed; kept only while counting
	ended   bool     // the selection reaches no further
	losses  [2][]loss
	shown   [2]int   // of the losses
	marked  [2]int64 // bytes in losses
	notices []string // to be handed out first

	complete bool // nobody writes any more
	over     bool // a follower need not wait for more
	tail     []openLine
	tailed   bool // tail is set
}

// openAttempt looks at an attempt's folder, which may not be there yet.
func openAttempt(number int, dir string, complete bool) (*attempt, error) {
	a := &attempt{number: number, dir: dir, complete: complete}
	for s := range a.data {
		a.data[s].name = filepath.Join(dir, dataFiles[s])
	}
	a.index = index{dir: dir, data: &a.data}
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

// finish notes that nothing more comes.
func (a *attempt) finish() {
	a.complete, a.over = true, true
	if a.gone() {
		a.notices = append(a.notices, a.goneNotice())
	}
}

// gone tells whether there is no log at all.
func (a *attempt) gone() bool {
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

// goneNotice says what is gone; the folder that it was taken from tells when
// that was at the latest.
func (a *attempt) goneNotice() string {
	when := ""
	for dir := a.dir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if fi, err := os.Stat(dir); err == nil {
			when = ", since " + fi.ModTime().UTC().Format(time.RFC3339) + " or earlier"
			break
		}
	}
	return fmt.Sprintf("the log of attempt %d is gone%s: there is none in %s", a.number, when, a.dir)
}

// start goes to the first selected line.
func (a *attempt) start(sel selection) {
	a.sel = sel.inTime(&a.index)
	a.k = a.index.search(func(r record) bool { return a.sel.count(r) > a.sel.from })
	prev := a.index.at(a.k - 1)
	a.seen, a.lines, a.line = prev.end, prev.lines, a.sel.count(prev)
	start := a.k
	a.k = max(0, min(a.k, a.index.len()-1)) // the last record may grow
	for s, on := range a.sel.streams {
		if on {
			a.pos[s] = a.index.lineStart(Stream(s), start)
			a.skipLosses(Stream(s))
		}
	}
}

// skipLosses forgets the gaps before the first line.
func (a *attempt) skipLosses(s Stream) {
	for a.shown[s] < len(a.losses[s]) && a.losses[s][a.shown[s]].Offset < a.pos[s] {
		a.shown[s]++
	}
}

// gap returns the next gap of a stream before offset limit.
func (a *attempt) gap(s Stream, limit int64) (loss, bool) {
	if a.shown[s] < len(a.losses[s]) && a.losses[s][a.shown[s]].Offset < limit {
		return a.losses[s][a.shown[s]], true
	}
	return loss{}, false
}

// counting tells whether lines must be counted: where the selection begins or
// ends within what comes.
func (a *attempt) counting() bool { return a.line < a.sel.from || a.sel.to != math.MaxInt64 }

// next hands out the next block of whole lines, false if there is none now.
func (a *attempt) next() (backends.Block, bool, error) {
	for {
		if len(a.notices) > 0 {
			b := backends.Block{Notice: a.notices[0], Attempt: a.number}
			a.notices = a.notices[1:]
			return b, true, nil
		}
		if a.ended || a.k >= a.index.len() {
			return backends.Block{}, false, nil
		}
		if a.line >= a.sel.to && a.counting() {
			a.ended = true
			continue
		}
		r := a.index.at(a.k)
		if r.before(a.index.at(a.k - 1)) {
			a.damaged()
			continue
		}
		s, more := a.grown(r)
		if !more {
			if a.k == a.index.len()-1 {
				return backends.Block{}, false, nil // it may grow
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

// grown returns a stream that record r has more of.
func (a *attempt) grown(r record) (Stream, bool) {
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

// damaged ends the use of an index whose record k cannot be true; the rest of
// the data follows as one chunk per stream.
func (a *attempt) damaged() {
	x := &a.index
	a.notices = append(a.notices, fmt.Sprintf(
		"%s is damaged after record %d: times from here on are those of the log files", filepath.Join(a.dir, IndexFile), a.k))
	x.last, x.n = x.at(a.k-1), a.k
	x.cache, x.extra = nil, nil
	x.bad = "damaged" // its end is not looked at again
	x.addRest()
}

// block hands out lines of stream s up to record r, or finishes that part of r.
func (a *attempt) block(s Stream, r record) (backends.Block, bool, error) {
	limit := r.end[s]
	gap, lost := a.gap(s, limit)
	if lost {
		limit = gap.Offset
	}
	var p []byte
	var part bool
	var err error
	if a.pos[s] < limit {
		if p, part, err = a.wholeLines(s, limit, r); err != nil {
			return backends.Block{}, false, err
		}
	}
	if len(p) == 0 && lost {
		a.shown[s]++
		return a.lossBlock(s, gap)
	}
	if len(p) == 0 {
		a.seen[s], a.lines[s] = max(a.seen[s], limit), r.lines[s]
		return backends.Block{}, false, nil
	}
	a.pos[s] += int64(len(p))
	a.seen[s] = max(a.seen[s], a.pos[s])
	if p = a.cut(p); len(p) == 0 || r.time < a.sel.since {
		return backends.Block{}, false, nil
	}
	return a.dataBlock(s, r.time, p, part), true, nil
}

func (a *attempt) dataBlock(s Stream, ns int64, p []byte, part bool) backends.Block {
	return backends.Block{
		Time: time.Unix(0, ns), Stream: streamNames[s], Attempt: a.number, Data: p, Partial: part,
	}
}

var streamNames = [2]backends.Stream{backends.Stdout, backends.Stderr}

// lossBlock is the notice of a gap, if it is in the time that is read.
func (a *attempt) lossBlock(s Stream, l loss) (backends.Block, bool, error) {
	if l.Until.UnixNano() < a.sel.since || l.Since.UnixNano() >= a.sel.until {
		return backends.Block{}, false, nil
	}
	return backends.Block{Time: l.Until, Stream: streamNames[s], Attempt: a.number, Notice: l.notice()}, true, nil
}

// wholeLines returns the next bytes of s before limit that end with a newline,
// none if there is no newline. A line longer than maxLine comes in pieces, all
// but the last with part set.
func (a *attempt) wholeLines(s Stream, limit int64, r record) (p []byte, part bool, err error) {
	if a.lines[s] == r.lines[s] && limit == r.end[s] {
		return nil, false, nil // no need to look: a long line is arriving
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
			// Looking for the line's end has moved the window.
			p, err = a.view(s, to, limit)
			return p, true, err
		}
	}
}

// view returns the stream from pos to to. If the file is shorter than that it
// returns what is left, and then nothing and notes what is missing.
func (a *attempt) view(s Stream, to, known int64) ([]byte, error) {
	pos := a.pos[s]
	p, err := a.data[s].view(pos, to, known)
	if err == nil && int64(len(p)) == to-pos {
		return p, nil
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
	return nil, nil
}

// cut removes what is before the first and after the last selected line.
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

// refresh looks for more and tells whether there is.
func (a *attempt) refresh() (bool, error) {
	noIndex := a.index.file == nil
	grew, err := a.index.refresh(a.complete)
	if noIndex && a.index.file != nil {
		a.k = 0 // seen and pos keep what was handed out from coming again
	}
	if grew {
		a.loadLosses()
	}
	return grew, err
}

// loadLosses reads log.lost if the index knows of more than was read.
func (a *attempt) loadLosses() {
	if a.index.head.lost == a.marked {
		return
	}
	p, err := os.ReadFile(filepath.Join(a.dir, LostFile))
	if err != nil {
		return
	}
	a.losses, a.marked = parseLosses(p), [2]int64{}
	for s := range a.losses {
		for _, l := range a.losses[s] {
			a.marked[s] += l.Bytes
		}
	}
}

// last hands out what is left when nothing more comes: lines without an end,
// and what was lost behind the last bytes.
func (a *attempt) last() (backends.Block, bool, error) {
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

// openBlock hands out the rest of a line without an end, in pieces if it is long.
func (a *attempt) openBlock(l openLine) (backends.Block, bool, error) {
	end := a.index.totals().end[l.stream]
	pos := a.pos[l.stream]
	if pos >= end {
		return backends.Block{}, false, nil
	}
	to := min(end, pos+maxLine)
	p, err := a.data[l.stream].view(pos, to, end)
	if err != nil {
		return backends.Block{}, false, fmt.Errorf("read log: %w", err)
	}
	if len(p) == 0 { // cut just now
		a.pos[l.stream] = end
		return backends.Block{}, false, nil
	}
	a.pos[l.stream] += int64(len(p))
	return a.dataBlock(l.stream, l.time, p, a.pos[l.stream] < end), true, nil
}

// lastLoss hands out the gaps at the end of the streams: marked ones, then
// those that only the index's header knows.
func (a *attempt) lastLoss() (backends.Block, bool, error) {
	for s, on := range a.sel.streams {
		if !on || a.ended {
			continue
		}
		for {
			l, ok := a.gap(Stream(s), math.MaxInt64)
			if !ok {
				break
			}
			a.shown[s]++
			if b, ok, err := a.lossBlock(Stream(s), l); ok {
				return b, ok, err
			}
		}
		if missing := a.index.head.lost[s] - a.marked[s]; missing > 0 {
			a.marked[s] += missing
			now := time.Unix(0, a.index.totals().time)
			l := loss{Stream: Stream(s).String(), Bytes: missing, Since: time.Unix(0, a.index.head.lostSince), Until: now}
			if b, ok, err := a.lossBlock(Stream(s), l); ok {
				return b, ok, err
			}
		}
	}
	return backends.Block{}, false, nil
}

// partial hands out the beginning of an unfinished line of a stream that has
// one, for those who watch.
func (a *attempt) partial(s Stream) (backends.Block, bool, error) {
	r := a.index.totals()
	if a.ended || a.line < a.sel.from || r.time < a.sel.since || r.time >= a.sel.until || a.pos[s] >= r.end[s] {
		return backends.Block{}, false, nil
	}
	p, err := a.view(s, min(r.end[s], a.pos[s]+maxLine), r.end[s])
	if err != nil || len(p) == 0 {
		return backends.Block{}, false, err
	}
	a.pos[s] += int64(len(p))
	return a.dataBlock(s, r.time, p, true), true, nil
}

// count is how many selected lines there are, open ones included.
func (a *attempt) count() int64 {
	return a.sel.count(a.index.totals()) + int64(len(a.sel.openLines(&a.index)))
}

func (a *attempt) close() {
	for s := range a.data {
		a.data[s].close()
	}
	a.index.close()
}
