package logcopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
)

const (
	// chunkTime and chunkBytes bound what is written at once: entries in a chunk share
	// their time, as far as selecting by time is concerned.
	chunkTime  = 5 * time.Millisecond
	chunkBytes = 256 << 10
	// SaveEvery is how often cursors are written: what is sent again after a kill.
	SaveEvery = time.Second
	// checkpointBytes is how much of a log there is between two checkpoints.
	checkpointBytes = 64 << 20
)

// CursorFile is the name of a cursor's file, beside its log.
const CursorFile = "cursor.json"

// Chunk gathers entries that are handed on together.
type Chunk struct {
	Data     []byte
	Stream   logstore.Stream
	From, To time.Time // of its entries
}

// Fits reports whether an entry belongs into the chunk; any may begin an empty one.
func (c *Chunk) Fits(s logstore.Stream, t time.Time) bool {
	return len(c.Data) == 0 || s == c.Stream && t.Sub(c.From) <= chunkTime && len(c.Data) < chunkBytes
}

// Add puts an entry behind the others.
func (c *Chunk) Add(s logstore.Stream, t time.Time, p []byte) {
	if len(c.Data) == 0 {
		c.Stream, c.From = s, t
	}
	c.Data, c.To = append(c.Data, p...), t
}

// Log is the local copy of a log, a folder of package logstore. It implements Sink.
type Log struct {
	Dir string
	// Save writes the cursor; it is called every SaveEvery at most, and in Close.
	Save func() error
	// Dropped receives the number of bytes that a full disk refused; nil ignores it.
	Dropped func(n int64)
	// Checkpoint is told of each large part that was written, and of the end; may be nil.
	Checkpoint func(logstore.Totals, time.Time)
	// Tap sees what is written; nil if it is not used.
	Tap *logstore.Tap
	// Began is the time of a gap in an empty log; zero: now.
	StartedAt time.Time

	w        *logstore.Writer
	chunk    Chunk
	sizes    [2]int64 // of the streams, with the chunk
	saved    time.Time
	unsaved  bool  // there is another cursor than the one saved
	unmarked int64 // bytes since the last checkpoint
}

// OpenLog goes on with a log, or begins it.
func OpenLog(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create log folder: %w", err)
	}
	w, err := logstore.Reopen(dir)
	if errors.Is(err, fs.ErrNotExist) {
		w, err = logstore.Create(dir)
	}
	if err != nil {
		return nil, err
	}
	l := &Log{Dir: dir, w: w}
	l.measure()
	return l, nil
}

func (l *Log) measure() {
	t := l.w.Totals()
	l.sizes = [2]int64{t.StdoutBytes, t.StderrBytes}
}

// Sizes implements Sink.
func (l *Log) Sizes() [2]int64 { return l.sizes }

// Last implements Sink.
func (l *Log) Last() time.Time { return l.w.Last() }

// Write puts an entry into the chunk, or begins the next one.
func (l *Log) Write(s logstore.Stream, t time.Time, p []byte) error {
	if !l.chunk.Fits(s, t) {
		if err := l.Flush(); err != nil {
			return err
		}
	}
	l.chunk.Add(s, t, p)
	l.sizes[s] += int64(len(p))
	l.Tap.Feed(s, p)
	return nil
}

// Flush writes the chunk. What a full disk does not take is counted by the writer.
func (l *Log) Flush() error {
	size := int64(len(l.chunk.Data))
	if size == 0 {
		return nil
	}
	err := l.w.Append(l.chunk.Stream, l.chunk.Data, l.chunk.To)
	l.chunk.Data = l.chunk.Data[:0]
	if errors.Is(err, fs.ErrClosed) {
		return err
	}
	before := l.sizes
	l.measure()
	if n := before[l.chunk.Stream] - l.sizes[l.chunk.Stream]; n != 0 && l.Dropped != nil {
		l.Dropped(n)
	}
	if l.unmarked += size; l.unmarked >= checkpointBytes && l.Checkpoint != nil {
		l.unmarked = 0
		l.Checkpoint(l.w.Totals(), l.chunk.To)
	}
	return nil
}

// Gap implements Sink.
func (l *Log) Gap(text string) error {
	if err := l.Flush(); err != nil {
		return err
	}
	at := l.w.Last()
	if at.IsZero() {
		at = l.StartedAt
	}
	if at.IsZero() {
		at = time.Now()
	}
	err := l.w.Gap(text, at)
	l.measure()
	return err
}

// Commit writes what has come, and now and then the cursor.
func (l *Log) Commit(changed, now bool) error {
	if err := l.Flush(); err != nil {
		return err
	}
	l.unsaved = l.unsaved || changed
	if !l.unsaved || !now && time.Since(l.saved) < SaveEvery {
		return nil
	}
	l.saved, l.unsaved = time.Now(), false
	return l.Save()
}

// Close writes what has come and the cursor, and ends the log.
func (l *Log) Close() error {
	err := errors.Join(l.Commit(false, true), l.w.Close(false))
	if l.Checkpoint != nil {
		l.Checkpoint(l.w.Totals(), time.Now())
	}
	return err
}

// MaxCursor bounds a cursor in bytes: it has the last line, which is kept in part only.
const MaxCursor = 64 << 20

// ReadCursor reads the cursor of a log; one that is not there leaves c as it is.
func ReadCursor(dir string, c any) error {
	data, err := safefile.ReadFile(filepath.Join(dir, CursorFile), MaxCursor)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, c); err != nil {
		return fmt.Errorf("read %s: %w", CursorFile, err)
	}
	return nil
}

// WriteJSON replaces a file, so that readers never see a part of it.
func WriteJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := safefile.WriteFile(tmp, data); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// WriteCursor replaces the cursor of a log.
func WriteCursor(dir string, c any) error { return WriteJSON(filepath.Join(dir, CursorFile), c) }
