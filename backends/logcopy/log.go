package logcopy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
)

const (
	// chunkTime and chunkBytes bound a chunk, which is written in one piece. Selecting by
	// time treats all entries of a chunk as one.
	chunkTime  = 5 * time.Millisecond
	chunkBytes = 256 << 10
	// SaveEvery is how often cursors are written. After a kill, that much is sent again.
	SaveEvery = time.Second
	// checkpointBytes is how much of a log is written between two checkpoints.
	checkpointBytes = 64 << 20
)

// CursorFile is the name of the cursor's file in the folder of its log.
const CursorFile = "cursor.json"

// Chunk collects entries that are passed on together.
type Chunk struct {
	Data     []byte
	Stream   logstore.Stream
	From, To time.Time // of its entries
}

// Accepts reports whether an entry can join the chunk. An empty chunk accepts any entry.
func (c *Chunk) Accepts(s logstore.Stream, t time.Time) bool {
	return len(c.Data) == 0 || s == c.Stream && t.Sub(c.From) <= chunkTime &&
		len(c.Data) < chunkBytes
}

// Add appends an entry.
func (c *Chunk) Add(s logstore.Stream, t time.Time, p []byte) {
	if len(c.Data) == 0 {
		c.Stream, c.From = s, t
	}
	c.Data, c.To = append(c.Data, p...), t
}

// Log is the local copy of a log, a folder in the format of package logstore. It implements Sink.
type Log struct {
	Dir string
	// Save writes the cursor. It is called at most every SaveEvery, and by Close.
	Save func() error
	// Dropped, if not nil, is called with the number of bytes that did not fit on a full disk.
	Dropped func(n int64)
	// Checkpoint, if not nil, is called every checkpointBytes and by Close.
	Checkpoint func(logstore.Totals, time.Time)
	// Tap, if not nil, receives everything that is written.
	Tap *logstore.Tap
	// StartedAt is the time of a gap in an empty log; zero: now.
	StartedAt time.Time

	w               *logstore.Writer
	chunk           Chunk
	sizes           [2]int64 // of the streams, including the chunk
	savedAt         time.Time
	dirty           bool  // the cursor changed since the last Save
	sinceCheckpoint int64 // bytes since the last checkpoint
}

// OpenLog opens the log in dir for appending and creates it if necessary.
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
	l.updateSizes()
	return l, nil
}

func (l *Log) updateSizes() {
	t := l.w.Totals()
	l.sizes = [2]int64{t.StdoutBytes, t.StderrBytes}
}

// Sizes implements Sink.
func (l *Log) Sizes() [2]int64 { return l.sizes }

// Last implements Sink.
func (l *Log) Last() time.Time { return l.w.Last() }

// Write adds an entry to the chunk. If it does not fit, the chunk is written first.
func (l *Log) Write(s logstore.Stream, t time.Time, p []byte) error {
	if !l.chunk.Accepts(s, t) {
		if err := l.Flush(); err != nil {
			return err
		}
	}
	l.chunk.Add(s, t, p)
	l.sizes[s] += int64(len(p))
	l.Tap.Feed(s, p)
	return nil
}

// Flush writes the chunk. The writer counts what does not fit on a full disk.
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
	l.updateSizes()
	if n := before[l.chunk.Stream] - l.sizes[l.chunk.Stream]; n != 0 && l.Dropped != nil {
		l.Dropped(n)
	}
	if l.sinceCheckpoint += size; l.sinceCheckpoint >= checkpointBytes && l.Checkpoint != nil {
		l.sinceCheckpoint = 0
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
	l.updateSizes()
	return err
}

// Commit writes the chunk, and the cursor if it changed and SaveEvery has passed.
func (l *Log) Commit(changed, now bool) error {
	if err := l.Flush(); err != nil {
		return err
	}
	l.dirty = l.dirty || changed
	if !l.dirty || !now && time.Since(l.savedAt) < SaveEvery {
		return nil
	}
	l.savedAt, l.dirty = time.Now(), false
	return l.Save()
}

// Close writes the chunk and the cursor, and closes the log.
func (l *Log) Close() error {
	err := errors.Join(l.Commit(false, true), l.w.Close(false))
	if l.Checkpoint != nil {
		l.Checkpoint(l.w.Totals(), time.Now())
	}
	return err
}

// lockFile is the file in the folder of a replica that the process holds that copies its logs.
const lockFile = "lock"

// TryLock takes the lock of a replica's folder, which it creates. The lock is nil if another
// process copies logs there.
func TryLock(dir string) (*filelock.Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create archive: %w", err)
	}
	lock, err := filelock.TryAcquire(filepath.Join(dir, lockFile))
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, nil //nolint:nilnil // a held lock is not an error
	case err != nil:
		return nil, fmt.Errorf("lock archive: %w", err)
	}
	return lock, nil
}

// MaxCursor is the maximum size of a cursor's file, in bytes.
const MaxCursor = 64 << 20

// ReadCursor reads the cursor of the log in dir into c. If it does not exist, c is unchanged.
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

// IsComplete reports whether the log in dir is complete, by its OffsetCursor.
func IsComplete(dir string) bool {
	var c OffsetCursor
	return ReadCursor(dir, &c) == nil && c.Done
}

// WriteJSON replaces a file atomically: readers see all of it or the old one.
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

// WriteCursor replaces the cursor of the log in dir.
func WriteCursor(dir string, c any) error { return WriteJSON(filepath.Join(dir, CursorFile), c) }
