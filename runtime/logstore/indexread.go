package logstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"torchx/runtime/safefile"
)

// cached is the number of records read in one call.
const cached = 512

// index returns the records of an attempt by number: those of log.idx, plus one for each
// stream with data after the last record if all writers have ended or there is no index;
// its time is that of the stream's file.
type index struct {
	dir     string
	data    *[2]data
	file    *os.File // nil: no index
	bad     string   // why the file is unusable; "" if it is fine
	trimmed trimReader

	unlimited bool // the log has no log.gone
	head      header
	n         int64    // number of records without extra ones
	last      record   // record n-1 when it was read
	extra     []record // after the n-th
	recordCache
	counts [2]lineCount
}

// recordCache holds records from number cacheK on, but never the last one, which may change.
type recordCache struct {
	cache  []record
	cacheK int64
}

// lineCount caches the number of newlines in [from,upTo) of one stream.
type lineCount struct{ from, upTo, lines int64 }

// refresh reads the files again and reports whether there are new records. complete means
// that all writers have ended.
func (x *index) refresh(complete bool) (bool, error) {
	before, beforeN := x.totals(), x.len()
	if x.file == nil && x.bad == "" {
		if err := x.open(); err != nil {
			return false, err
		}
	}
	if x.trimmed.file == nil && !x.unlimited {
		if err := x.trimmed.open(x.dir); err != nil {
			return false, err
		}
		x.unlimited = x.trimmed.file == nil && x.file != nil // log.gone is created before the index
	}
	if err := x.trimmed.refresh(); err != nil {
		return false, err
	}
	if err := x.readLast(complete); err != nil {
		return false, err
	}
	x.extra = x.extra[:0]
	if complete || x.file == nil || x.bad != "" {
		x.addRemainders()
	}
	return x.totals() != before || x.len() != beforeN, nil
}

func (x *index) open() error {
	name := filepath.Join(x.dir, IndexFile)
	f, err := safefile.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	var b [recordSize]byte
	n, _ := f.ReadAt(b[:], 0)
	if x.head, err = decodeHeader(b[:n]); err != nil {
		f.Close()
		if n > 0 { // an empty file has no header yet
			x.bad = fmt.Sprintf("%s is damaged (%v): all times are those of the log files", name, err)
		}
		return nil
	}
	x.file = f
	return nil
}

// readLast finds the number of records and reads the last one, twice: the writer may be
// changing it.
func (x *index) readLast(complete bool) error {
	if x.file == nil || x.bad != "" {
		return nil
	}
	fi, err := x.file.Stat()
	if err != nil {
		return fmt.Errorf("read log index: %w", err)
	}
	size := fi.Size()
	if complete {
		size = dataEnd(x.file.Name(), fi, 0)
	}
	n := max(0, size/recordSize-1)
	if n == 0 || n < x.n {
		return nil
	}
	var a, b [recordSize]byte
	for try := 0; try == 0 || (a != b && try < 10); try++ {
		a = b
		if _, err = x.file.ReadAt(b[:], n*recordSize); err != nil {
			return fmt.Errorf("read log index %s: %w", x.file.Name(), err)
		}
		if try == 0 && complete {
			break
		}
	}
	r := decodeRecord(b[:])
	if n == x.n && r.before(x.last) {
		return nil // torn or damaged: keep the valid record
	}
	x.n, x.last = n, r
	if complete {
		x.trim()
	}
	if _, err = x.file.ReadAt(b[:], 0); err == nil {
		if h, err := decodeHeader(b[:]); err == nil {
			x.head = h
		}
	}
	return nil
}

// trim removes invalid records at the end: after a power cut a file may end in zeroes.
func (x *index) trim() {
	for x.n > 0 {
		prev := x.at(x.n - 2)
		if !x.last.before(prev) && x.last != (record{}) {
			return
		}
		x.n, x.last = x.n-1, prev
		x.cache = nil // prev is the last record now
	}
}

// before reports whether a column of r is smaller than o's.
func (r record) before(o record) bool {
	return r.time < o.time || r.end[0] < o.end[0] || r.end[1] < o.end[1] ||
		r.lines[0] < o.lines[0] || r.lines[1] < o.lines[1]
}

// addRemainders adds a record for each stream with data after the last record, in the order of the
// files' times.
func (x *index) addRemainders() {
	type remainder struct {
		s    Stream
		size int64
		time int64
	}
	var remainders []remainder
	for s := range x.data {
		fi, err := os.Stat(x.data[s].name)
		if err != nil || fi.Size() <= x.last.end[s] {
			continue
		}
		if end := dataEnd(x.data[s].name, fi, x.last.end[s]); end > x.last.end[s] {
			remainders = append(remainders, remainder{Stream(s), end, fi.ModTime().UnixNano()})
		}
	}
	slices.SortStableFunc(remainders, func(a, b remainder) int { return cmp.Compare(a.time, b.time) })
	r := x.last
	for _, e := range remainders {
		r.time = max(r.time, e.time)
		r.end[e.s] = e.size
		r.lines[e.s] += x.countLines(e.s, x.last.end[e.s], e.size)
		x.extra = append(x.extra, r)
	}
}

func (x *index) countLines(s Stream, from, to int64) int64 {
	if g := x.trimmed.now; from < g.off[s] && to >= g.off[s] {
		return max(0, g.lines[s]-x.last.lines[s]) + x.countLines(s, g.off[s], to)
	}
	c := &x.counts[s]
	if c.from != from || c.upTo > to {
		*c = lineCount{from: from, upTo: from}
	}
	_, n := x.data[s].nthLineEnd(c.upTo, to, to-c.upTo+1)
	c.upTo, c.lines = to, c.lines+n
	return c.lines
}

// first returns the number of the first record known to be kept; it may be after the last
// one that this reader knows.
func (x *index) first() int64 {
	if x.file == nil {
		return 0
	}
	return max(0, x.trimmed.now.record-1)
}

// len returns the number of records.
func (x *index) len() int64 { return x.n + int64(len(x.extra)) }

// totals returns the last record, or a zero one.
func (x *index) totals() record { return x.at(x.len() - 1) }

// at returns record k; before the first record all values are zero.
func (x *index) at(k int64) record {
	switch {
	case k < x.first(), k >= x.len():
		return record{} // trimmed; the next one counts from zero
	case k < 0:
		return record{}
	case k >= x.n:
		return x.extra[k-x.n]
	case k == x.n-1:
		return x.last
	}
	if k < x.cacheK || k >= x.cacheK+int64(len(x.cache)) {
		x.load(k)
	}
	if i := k - x.cacheK; i < int64(len(x.cache)) && k >= x.first() {
		return x.cache[i]
	}
	return record{} // the index was trimmed during the read
}

func (x *index) load(k int64) {
	b := make([]byte, min(cached, x.n-1-k)*recordSize)
	n, _ := x.file.ReadAt(b, (k+1)*recordSize)
	_ = x.trimmed.refresh() // records that became zeroes during the read are before first now
	x.cacheK, x.cache = k, x.cache[:0]
	for i := 0; i+recordSize <= n; i += recordSize {
		x.cache = append(x.cache, decodeRecord(b[i:]))
	}
}

// search returns the first record for which f is true, len() if none. f must be false up to
// some record and true from there on.
func (x *index) search(f func(record) bool) int64 {
	return int64(sort.Search(int(x.len()), func(i int) bool { return f(x.at(int64(i))) }))
}

// lineStart returns the start of the line that is unfinished after record k-1.
func (x *index) lineStart(s Stream, k int64) int64 {
	lines := x.at(k - 1).lines[s]
	if lines == 0 {
		return 0
	}
	j := x.search(func(r record) bool { return r.lines[s] >= lines })
	lo, hi := x.at(j - 1).end[s], x.at(j).end[s]
	g := x.trimmed.now
	if end := x.data[s].lastLineEnd(max(lo, g.off[s]), hi); end >= 0 {
		return end
	}
	if lines == g.lines[s] && !g.mid[s] {
		return g.off[s]
	}
	return lo // damaged: better to repeat output than to skip it
}

// untilStable calls f, and again if the index was trimmed meanwhile: f may have read trimmed
// records.
func (x *index) untilStable(f func()) {
	for {
		before := x.trimmed.now.record
		f()
		if x.trimmed.refresh() != nil || x.trimmed.now.record == before {
			return
		}
	}
}

func (x *index) close() {
	x.trimmed.close()
	if x.file != nil {
		x.file.Close()
		x.file = nil
	}
}
