package logstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"torchx/runtime/safefile"
)

// limiter keeps a log below its limit: when a file exceeds it, the oldest eighth of the
// limit is trimmed. Sizes and offsets do not change.
//
// log.gone is written first; then a goroutine of the limiter frees the bytes, since that may
// wait for the disk. A kill in between leaves bytes that readers ignore.
type limiter struct {
	dir         string
	limit       int64
	file        *os.File // log.gone
	unsupported error    // why bytes cannot be freed: output beyond the limit is dropped

	planMu sync.Mutex // held while a trim is planned

	mu      sync.Mutex
	changed sync.Cond // freed or busy has changed
	trimmed trimmed
	freed   trimmed // already freed
	busy    bool
	planErr error // error of the last plan
	freeErr error // error of the last freeing
}

// slack is how many bytes may wait to be freed before the writer waits.
const slack = 8 << 20

// newLimiter creates log.gone with the limit and zeroes.
func newLimiter(dir string, limit int64) (*limiter, error) {
	f, err := safefile.OpenFile(filepath.Join(dir, TrimFile),
		os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	l := &limiter{dir: dir, limit: limit, file: f, trimmed: trimmed{limit: limit}, freed: trimmed{limit: limit}}
	l.changed.L = &l.mu
	err = l.write(l.trimmed)
	if perr := punch(f, trimSize, 2*trimSize); perr != nil {
		l.unsupported = fmt.Errorf("the size limit of %s is reached, and this file system cannot free the oldest part: %w", sizeText(limit), perr)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return l, nil
}

func (l *limiter) write(g trimmed) error {
	var b [trimSize]byte
	g.encode(b[:])
	_, err := l.file.WriteAt(b[:], 0)
	return err
}

// step is how many bytes are trimmed together.
func (l *limiter) step() int64 { return max(1, l.limit/8) }

// admit returns an error if n more bytes cannot be accepted after end. A failure may be
// temporary, but it must not fill the disk.
func (l *limiter) admit(s Stream, end, records, n int64) error {
	if l.unsupported != nil {
		if end+n > l.limit {
			return l.unsupported
		}
		return nil
	}
	stuck := func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if end-l.freed.off[s] <= 2*l.limit {
			return nil
		}
		return cmp.Or(l.planErr, l.freeErr)
	}
	if stuck() == nil {
		return nil
	}
	l.check(s, end, records)
	if err := stuck(); err != nil {
		return fmt.Errorf("the size limit of %s is exceeded, and the oldest part cannot be freed: %w", sizeText(l.limit), err)
	}
	return nil
}

// check trims excess bytes of stream s, which ends at end, and of the index with its number
// of records. The caller keeps the stream from growing.
func (l *limiter) check(s Stream, end, records int64) {
	l.planMu.Lock()
	defer l.planMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.trimmed
	long, many := end-next.off[s] > l.limit, (records-next.record)*recordSize > l.limit
	if l.unsupported != nil || !long && !many && l.freeErr == nil {
		return
	}
	if long || many {
		l.mu.Unlock()
		planned, err := l.plan(next, s, long, many)
		l.mu.Lock()
		if l.planErr = err; err != nil {
			return
		}
		next = planned
	}
	l.planErr = l.begin(next)
	for l.busy && l.waiting() > max(l.step(), slack) {
		l.changed.Wait()
	}
}

// plan determines what to trim.
func (l *limiter) plan(g trimmed, s Stream, long, many bool) (trimmed, error) {
	var files [2]data
	x := index{dir: l.dir, data: &files}
	for i := range files {
		files[i].name = filepath.Join(l.dir, dataFiles[i])
	}
	defer func() {
		x.close()
		files[Stdout].close()
		files[Stderr].close()
	}()
	if _, err := x.refresh(false); err != nil {
		return g, err
	}
	if x.file == nil {
		return g, errors.New("the log's index is missing")
	}
	keep := l.limit - l.step()
	if long {
		if err := g.move(&x, s, x.totals().end[s]-keep, l.step()); err != nil {
			return g, err
		}
	}
	if many {
		g.record = max(g.record, x.len()-keep/recordSize)
		before := x.at(g.record - 1)
		for i := range files {
			if err := g.move(&x, Stream(i), before.end[i], l.step()); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

// move sets the start of stream s to want or, better, to the next line if that starts within
// leeway.
func (g *trimmed) move(x *index, s Stream, want, leeway int64) error {
	if want <= g.off[s] {
		return nil
	}
	prev := x.at(x.search(func(r record) bool { return r.end[s] >= want }) - 1)
	from, lines := prev.end[s], prev.lines[s]
	if g.off[s] > from {
		from, lines = g.off[s], g.lines[s]
	}
	d := &x.data[s]
	lines, err := d.count(from, want, lines)
	if err != nil {
		return err
	}
	last, err := d.view(want-1, want, want)
	if err != nil || len(last) != 1 {
		return fmt.Errorf("%s is shorter than its index says: %w", d.name, err)
	}
	off, mid := want, last[0] != '\n'
	if mid {
		known := x.totals().end[s]
		if end, n := d.nthLineEnd(want, min(known, want+leeway), 1); n == 1 {
			off, lines, mid = end, lines+1, false
		}
	}
	g.off[s], g.lines[s], g.mid[s] = off, lines, mid
	g.until[s] = x.at(x.search(func(r record) bool { return r.end[s] >= off })).time
	return nil
}

// count returns n plus the newlines in [from,to).
func (d *data) count(from, to, n int64) (int64, error) {
	for from < to {
		p, err := d.view(from, min(to, from+window), to)
		if err != nil {
			return n, err
		}
		if len(p) == 0 {
			return n, fmt.Errorf("%s is shorter than its index says", d.name)
		}
		n += int64(bytes.Count(p, newline))
		from += int64(len(p))
	}
	return n, nil
}

// begin publishes what is trimmed and starts freeing it. The caller holds mu.
func (l *limiter) begin(next trimmed) error {
	if next != l.trimmed {
		if err := l.write(next); err != nil {
			return err
		}
		l.trimmed = next
	}
	if !l.busy {
		l.busy = true
		go l.free()
	}
	return nil
}

// waiting returns how many bytes wait to be freed.
func (l *limiter) waiting() int64 {
	return l.trimmed.off[0] - l.freed.off[0] + l.trimmed.off[1] - l.freed.off[1]
}

// free frees bytes until none wait or freeing fails: the next check tries again.
func (l *limiter) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.freeErr = nil; l.trimmed != l.freed && l.freeErr == nil; {
		from, to := l.freed, l.trimmed
		l.mu.Unlock()
		err := l.freeRange(from, to)
		l.mu.Lock()
		if l.freeErr = err; err == nil {
			l.freed = to
		}
		l.changed.Broadcast()
	}
	l.busy = false
	l.changed.Broadcast()
}

func (l *limiter) freeRange(from, to trimmed) error {
	// After a power cut no hole may be unknown to log.gone. The file's place on the disk
	// is fixed, so this is one small write.
	if err := datasync(l.file); err != nil {
		return err
	}
	for s, name := range dataFiles {
		if err := punchFile(filepath.Join(l.dir, name), 0, from.off[s], to.off[s]); err != nil {
			return err
		}
	}
	// The record before the first kept one is kept as well: it holds the totals before it.
	first := func(g trimmed) int64 { return recordSize * max(1, g.record) }
	return punchFile(filepath.Join(l.dir, IndexFile), recordSize, first(from), first(to))
}

// wholeBlock is a multiple of all common block sizes.
const wholeBlock = 1 << 20

// punchFile frees [from,to); everything from lowest to from has been freed before. The file
// system frees only whole blocks, so it starts at the block that contains from.
func punchFile(name string, lowest, from, to int64) error {
	if from >= to {
		return nil
	}
	from = max(lowest, from-from%wholeBlock)
	f, err := safefile.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, syscall.ENOENT) {
		return nil // the log is being deleted
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return punch(f, from, to)
}

// close waits until all trimmed bytes are freed.
func (l *limiter) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.busy {
		l.changed.Wait()
	}
	return l.file.Close()
}
