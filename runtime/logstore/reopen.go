package logstore

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/safefile"
)

// Reopen continues a log whose writer was killed. It discards bytes without a record; Totals
// tells where each stream continues. No other process may be writing. Errors wrap
// fs.ErrNotExist if there is no log.
func Reopen(dir string) (*Writer, error) {
	w := &Writer{dir: dir}
	err := w.openAll()
	if err == nil {
		err = w.readTotals()
	}
	if err != nil {
		for _, f := range []file{w.streams[0].file, w.streams[1].file, w.index, w.lost} {
			if f != nil {
				f.Close()
			}
		}
		return nil, fmt.Errorf("reopen log: %w", err)
	}
	return w, nil
}

// openAll opens the files of a log, and creates those that an interrupted Create left out.
func (w *Writer) openAll() error {
	if _, err := os.Stat(filepath.Join(w.dir, StdoutFile)); err != nil {
		return err // Create creates it first
	}
	for i, target := range []*file{&w.streams[0].file, &w.streams[1].file, &w.index} {
		f, err := safefile.OpenFile(filepath.Join(w.dir, []string{StdoutFile, StderrFile, IndexFile}[i]), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		*target = f
	}
	f, err := safefile.OpenFile(filepath.Join(w.dir, LostFile), os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	w.lost = f
	info, err := f.Stat()
	if err == nil {
		w.lostEnd = info.Size()
	}
	return err
}

// readTotals reads the totals from the index.
func (w *Writer) readTotals() error {
	index := w.index.(*os.File)
	info, err := index.Stat()
	if err != nil {
		return err
	}
	if info.Size() < recordSize { // no header yet
		if err := w.writeHeader(); err != nil {
			return err
		}
	}
	b := make([]byte, recordSize)
	if _, err := index.ReadAt(b, 0); err != nil {
		return err
	}
	if w.head, err = decodeHeader(b); err != nil {
		return err
	}
	w.records = max(0, info.Size()/recordSize-1)
	if w.records > 0 {
		if _, err := index.ReadAt(b, w.records*recordSize); err != nil {
			return err
		}
		w.last = decodeRecord(b)
		w.joinBytes = joinUpTo // the next chunk gets a new record
	}
	for i := range w.streams {
		st := &w.streams[i]
		st.end = w.last.end[i]
		if err := st.file.Truncate(st.end); err != nil {
			return err
		}
		if st.end > 0 {
			if _, err := st.file.(*os.File).ReadAt(b[:1], st.end-1); err != nil {
				return err
			}
			st.midLine = b[0] != '\n'
		}
	}
	return nil
}

// Last returns the time of the last chunk, zero if there is none.
func (w *Writer) Last() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.records == 0 {
		return time.Time{}
	}
	return time.Unix(0, w.last.time)
}

// Gap records in both streams that output may be missing here. Readers show text, such as
// "gap: rotated". Unfinished lines are ended.
func (w *Writer) Gap(text string, now time.Time) error {
	for s := range w.streams {
		if err := w.gap(Stream(s), text, now); err != nil {
			return fmt.Errorf("write log in %s: %w", w.dir, err)
		}
	}
	return nil
}

func (w *Writer) gap(s Stream, text string, now time.Time) error {
	st := &w.streams[s]
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return os.ErrClosed
	}
	if st.midLine {
		if _, err := w.write(s, newline, now); err != nil {
			return err
		}
	}
	return w.markLoss(loss{Stream: s.String(), Offset: st.end, Since: now, Until: now, Gap: text})
}
