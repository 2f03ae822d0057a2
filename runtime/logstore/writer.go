package logstore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"torchx/runtime/safefile"
)

var newline = []byte{'\n'}

// Totals is what a Writer has received so far. Lines are newlines.
type Totals struct {
	StdoutBytes, StderrBytes int64 // written to the files
	StdoutLines, StderrLines int64
	LostBytes, LostLines     int64     // received, but not written
	LostSince                time.Time // zero if nothing was lost
}

// file is the part of *os.File that a writer needs.
type file interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// Writer writes the log of one attempt. Append may be called by one goroutine
// per stream at the same time.
type Writer struct {
	dir     string
	streams [2]stream
	limiter *limiter // nil: no limit

	mu      sync.Mutex // guards the fields below; locked after a stream's mutex
	index   file
	head    header
	last    record
	lastOf  Stream // the stream of the last record
	records int64
	joining
	lost    file // log.lost, created when first needed
	lostEnd int64
}

// joining describes the chunks that share the last record.
type joining struct {
	joinFrom  time.Time // arrival of the record's first chunk
	joinBytes int64     // the record's size
	joinUpTo  int64     // the record's maximum size
}

// stream is one data file; mu is held while a chunk is written to it.
type stream struct {
	mu      sync.Mutex
	file    file
	end     int64 // bytes in the index
	cut     bool  // the file may be longer than end: a failed write could not be undone
	midLine bool
	pending loss // not yet in log.lost
	closed  bool
}

// Create creates the log files in dir, an existing folder, readable by their owner only. If
// there is a log already, it changes nothing and the error wraps fs.ErrExist.
func Create(dir string) (*Writer, error) { return CreateLimited(dir, 0) }

// CreateLimited is Create for a log that keeps only about the last limit bytes of each
// stream; 0 keeps all. When a stream exceeds the limit, its oldest part is freed, while the
// file keeps its size and all offsets stay valid; TrimFile records how much. If the system
// or file system does not support that, the stream ends at the limit, and later output
// counts as lost.
func CreateLimited(dir string, limit int64) (*Writer, error) {
	w := &Writer{dir: dir, joining: joining{joinUpTo: joinUpTo}}
	var created []string
	undo := func(err error) (*Writer, error) {
		for _, f := range []file{w.streams[0].file, w.streams[1].file, w.index} {
			if f != nil {
				f.Close()
			}
		}
		if w.limiter != nil {
			_ = w.limiter.close()
		}
		for _, name := range created {
			os.Remove(name)
		}
		return nil, err
	}
	if limit > 0 { // first: a reader that sees the index also sees what was trimmed
		if err := w.limit(limit); err != nil {
			return nil, err
		}
		created = append(created, filepath.Join(dir, TrimFile))
	}
	for i, target := range []*file{&w.streams[0].file, &w.streams[1].file, &w.index} {
		name := filepath.Join(dir, []string{StdoutFile, StderrFile, IndexFile}[i])
		f, err := safefile.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return undo(createError(name, err))
		}
		created = append(created, name)
		*target = f
	}
	if err := w.writeHeader(); err != nil {
		return undo(fmt.Errorf("create log: %w", err))
	}
	return w, nil
}

func createError(name string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("log file %s already exists, choose another folder or move it: %w", name, fs.ErrExist)
	}
	return fmt.Errorf("create log: %w", err)
}

func (w *Writer) limit(limit int64) error {
	l, err := newLimiter(w.dir, limit)
	if err != nil {
		return createError(filepath.Join(w.dir, TrimFile), err)
	}
	w.limiter = l
	w.joinUpTo = min(joinUpTo, max(1, limit/16)) // trimming counts the lines of a record again
	return nil
}

// Append adds p, which arrived at now, to a stream. Output that cannot be written (a full
// disk) is counted and dropped, and once writing works again the gap is marked for readers;
// the caller continues to append. Only the first drop returns an error. After Close the error
// is fs.ErrClosed.
func (w *Writer) Append(s Stream, p []byte, now time.Time) error {
	if s > Stderr {
		return fmt.Errorf("append to log in %s: invalid stream %d", w.dir, s)
	}
	st := &w.streams[s]
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return fmt.Errorf("append to log in %s: %w", w.dir, fs.ErrClosed)
	}
	if len(p) == 0 {
		return nil
	}
	dropping := st.pending.Bytes > 0
	n, err := 0, w.admit(s, len(p))
	if err == nil && dropping {
		err = w.resume(s, p, now)
		dropping = err != nil
	}
	if err == nil {
		n, err = w.write(s, p, now)
	}
	if err == nil {
		w.checkLimit(s)
		return nil
	}
	w.drop(s, p[n:], now, err)
	if dropping {
		return nil
	}
	return fmt.Errorf("write log in %s: output is dropped until this works again: %w", w.dir, err)
}

// admit asks the limiter whether n more bytes may be written.
func (w *Writer) admit(s Stream, n int) error {
	if w.limiter == nil {
		return nil
	}
	return w.limiter.admit(s, w.streams[s].end, w.count(), int64(n))
}

// checkLimit lets the limiter check a stream that has grown.
func (w *Writer) checkLimit(s Stream) {
	if w.limiter != nil {
		w.limiter.check(s, w.streams[s].end, w.count())
	}
}

func (w *Writer) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records
}

// write writes p at the stream's end, then its record, and returns how many bytes of p readers
// can see. Bytes without a record count as not written: the next chunk overwrites them.
func (w *Writer) write(s Stream, p []byte, now time.Time) (int, error) {
	st := &w.streams[s]
	n, err := st.file.WriteAt(p, st.end)
	if n > 0 {
		if ierr := w.record(s, p[:n], now); ierr != nil {
			n, err = 0, ierr
		}
	}
	if n > 0 {
		st.end += int64(n)
		st.midLine = p[n-1] != '\n'
	}
	if err != nil {
		st.cut = st.file.Truncate(st.end) != nil
	}
	return n, err
}

// record adds a chunk to the index.
func (w *Writer) record(s Stream, p []byte, now time.Time) error {
	lines := int64(bytes.Count(p, newline))
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.last
	next.time = max(next.time, now.UnixNano()) // the clock may be set back, but times in the log must not decrease
	next.end[s] += int64(len(p))
	next.lines[s] += lines
	at, size := w.records, int64(len(p))
	since := now.Sub(w.joinFrom)
	join := w.records > 0 && w.lastOf == s && since >= 0 && since <= joinWithin &&
		w.joinBytes+size <= w.joinUpTo
	if join {
		at--
		size += w.joinBytes
	}
	var b [recordSize]byte
	next.encode(b[:])
	if _, err := w.index.WriteAt(b[:], (at+1)*recordSize); err != nil {
		return err
	}
	if !join {
		w.joinFrom = now
	}
	w.last, w.lastOf, w.records, w.joinBytes = next, s, at+1, size
	return nil
}

// drop counts bytes that could not be written, also in the index's header, which needs no new
// space.
func (w *Writer) drop(s Stream, p []byte, now time.Time, cause error) {
	w.streams[s].pending.add(p, now, reason(cause))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head.lost[s] += int64(len(p))
	w.head.lostLines += int64(bytes.Count(p, newline))
	if w.head.lostSince == 0 {
		w.head.lostSince = now.UnixNano()
	}
	// If this fails, Totals and log.lost still count the bytes.
	_ = w.writeHeader()
}

func (w *Writer) writeHeader() error {
	var b [recordSize]byte
	w.head.encode(b[:])
	_, err := w.index.WriteAt(b[:], 0)
	return err
}

// resume marks the gap before the stream continues with p, if there is room for both. It ends
// the interrupted line, so that the gap is at the start of a line.
func (w *Writer) resume(s Stream, p []byte, now time.Time) error {
	st := &w.streams[s]
	at := st.end
	if st.midLine {
		at++
	}
	if _, err := st.file.WriteAt(p, at); err != nil {
		st.cut = st.file.Truncate(st.end) != nil
		return err
	}
	if st.midLine {
		if _, err := w.write(s, newline, now); err != nil {
			return err
		}
	}
	if err := w.mark(s); err != nil {
		st.cut = st.file.Truncate(st.end) != nil
		return err
	}
	st.pending = loss{}
	return nil
}

// mark writes the stream's pending loss to log.lost.
func (w *Writer) mark(s Stream) error {
	l := w.streams[s].pending
	l.Stream, l.Offset = s.String(), w.streams[s].end
	return w.markLoss(l)
}

func (w *Writer) markLoss(l loss) error {
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		f, err := safefile.OpenFile(filepath.Join(w.dir, LostFile),
			os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		w.lost = f
	}
	n, err := w.lost.WriteAt(append(line, '\n'), w.lostEnd)
	if err != nil {
		_ = w.lost.Truncate(w.lostEnd) // on failure, readers skip the torn line
		return err
	}
	w.lostEnd += int64(n)
	return nil
}

// Totals returns what was received so far.
func (w *Writer) Totals() Totals {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := Totals{
		StdoutBytes: w.last.end[Stdout], StderrBytes: w.last.end[Stderr],
		StdoutLines: w.last.lines[Stdout], StderrLines: w.last.lines[Stderr],
		LostBytes: w.head.lost[Stdout] + w.head.lost[Stderr], LostLines: w.head.lostLines,
	}
	if w.head.lostSince != 0 {
		t.LostSince = time.Unix(0, w.head.lostSince)
	}
	return t
}

// Close ends the log; with sync it is on the disk afterwards. It marks a pending loss and
// returns an error if that fails. Further calls do nothing.
func (w *Writer) Close(sync bool) error {
	for i := range w.streams {
		w.streams[i].mu.Lock()
		defer w.streams[i].mu.Unlock()
	}
	if w.streams[0].closed {
		return nil
	}
	var errs []error
	for i := range w.streams {
		errs = append(errs, w.closeStream(Stream(i), sync))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	errs = append(errs, closeFile(w.index, sync))
	if w.lost != nil {
		errs = append(errs, closeFile(w.lost, sync))
	}
	if w.limiter != nil {
		errs = append(errs, w.limiter.close())
	}
	if err := cmp.Or(errs...); err != nil {
		return fmt.Errorf("close log in %s: %w", w.dir, err)
	}
	return nil
}

func (w *Writer) closeStream(s Stream, sync bool) error {
	st := &w.streams[s]
	st.closed = true
	var errs []error
	if st.pending.Bytes > 0 {
		if err := w.mark(s); err != nil {
			errs = append(errs, fmt.Errorf("%d bytes of %s were lost since %s: %w",
				st.pending.Bytes, s, st.pending.Since.UTC().Format(time.RFC3339), err))
		}
	}
	if st.cut {
		// Bytes without a record must not look like the last output.
		errs = append(errs, st.file.Truncate(st.end))
	}
	return cmp.Or(append(errs, closeFile(st.file, sync))...)
}

func closeFile(f file, sync bool) error {
	var err error
	if sync {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// reason returns the system's message for a failed write, without the file's name.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
