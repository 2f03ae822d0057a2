package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"torchx/runtime/metrics"
	"torchx/runtime/safefile"
)

const (
	readSize  = 256 << 10 // bytes read at once
	checkSize = 256       // bytes before the position that must not change

	// Limits of what is read of one file in bytes, holes not counted: a job may write without end.
	roundBytes = 64 << 20 // in a round, unless it is the last
	maxFile    = 1 << 30  // in all
)

// file reads the lines that an attempt appends to $TORCHX_METRICS.
type file struct {
	collector *Collector
	key       string
	attempt   Attempt
	path      string

	opened bool // at is known
	at     filePosition
	seen   fs.FileInfo // when it was last read
	wrong  bool        // it is not a regular file
	lines  *metrics.Lines
}

// filePosition is how far a file has been read.
type filePosition struct {
	Offset int64  `json:"offset"`
	Sum    uint32 `json:"sum"`             // of up to checkSize bytes before the offset
	Holes  int64  `json:"holes,omitempty"` // bytes before the offset that were skipped as holes
	Skip   bool   `json:"skip,omitempty"`  // the rest of the line is skipped: it is too long or has a hole
	Done   bool   `json:"done,omitempty"`
}

func (f *file) isDone() bool { return f.at.Done }

func (f *file) read(ctx context.Context, final bool) error {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !final && !f.hasChanged(info) {
		return err
	}
	if info.Size() == 0 && info.Mode().IsRegular() && !f.opened && !f.collector.hasStore() {
		return nil // made for a container that wrote nothing
	}
	store, err := f.collector.open()
	if err != nil {
		return err
	}
	if !f.opened {
		if err := decode(store.Position(f.key), &f.at); err != nil {
			return err
		}
		f.lines = metrics.NewLines(store, f.attempt.Role, f.attempt.ID, metrics.SourceFile)
		f.opened = true
	}
	if f.at.Done {
		return nil
	}
	whole, err := f.readFile(ctx, store, final)
	if whole {
		f.seen = info
	}
	return err
}

func (f *file) hasChanged(info fs.FileInfo) bool {
	return f.seen == nil || info.Size() != f.seen.Size() ||
		!info.ModTime().Equal(f.seen.ModTime()) || !os.SameFile(info, f.seen)
}

// readFile reads what is new; whole means that nothing is left for the next round.
func (f *file) readFile(
	ctx context.Context, store *metrics.Store, final bool,
) (whole bool, err error) {
	in, err := safefile.Open(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return true, f.skip(store, final, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return false, err
	}
	if !f.continues(in, info.Size()) {
		f.at = filePosition{} // another file, or it was cut and written anew
	}
	at := info.ModTime()
	if now := time.Now(); at.After(now) {
		at = now
	}
	size := info.Size()
	if !final {
		size = min(size, safefile.NextData(in, f.at.Offset, size)+roundBytes)
	}
	err = f.readLines(ctx, store, in, size, at, final)
	return err == nil && size == info.Size(), err
}

// skip counts a file that cannot be read, once.
func (f *file) skip(store *metrics.Store, final bool, why error) error {
	if path, ok := errors.AsType[*fs.PathError](why); ok {
		why = path.Err
	}
	if !f.wrong {
		f.wrong = true
		store.Broken(f.attempt.Role, f.attempt.ID, metrics.SourceFile, 1,
			"$TORCHX_METRICS cannot be read: "+why.Error())
	}
	f.at.Done = final
	return f.save(nil)
}

// continues reports whether the bytes before the position are those that were read.
func (f *file) continues(in io.ReaderAt, size int64) bool {
	if f.at.Offset > size {
		return false
	}
	sum, err := sumBefore(in, f.at.Offset)
	return err == nil && sum == f.at.Sum
}

func sumBefore(in io.ReaderAt, offset int64) (uint32, error) {
	b := make([]byte, min(offset, checkSize))
	_, err := in.ReadAt(b, offset-int64(len(b)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return crc32.ChecksumIEEE(b), err
}

// readLines reads the lines up to size.
func (f *file) readLines(
	ctx context.Context, store *metrics.Store, in *os.File, size int64, at time.Time, final bool,
) error {
	buf := make([]byte, 0, readSize)
	saved := f.at.Offset
	for end := f.at.Offset; end < size; {
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), f.save(in))
		}
		if data := safefile.NextData(in, end, size); data > end {
			buf, end = f.skipHole(store, buf, data-end), data
			continue
		}
		if end-f.at.Holes >= maxFile {
			return f.giveUp(store, in)
		}
		n := int(min(readSize, size-end))
		buf = slices.Grow(buf, n)
		n, err := in.ReadAt(buf[len(buf):len(buf)+n], end)
		if n == 0 {
			if errors.Is(err, io.EOF) {
				break // it was cut meanwhile
			}
			return fmt.Errorf("read metrics: %w", err)
		}
		end += int64(n)
		buf = f.takeLines(store, buf[:len(buf)+n], at)
		if f.at.Offset-saved >= flushBytes {
			saved = f.at.Offset
			if err := f.save(in); err != nil {
				return err
			}
		}
	}
	if final {
		if len(buf) > 0 && !f.at.Skip {
			f.lines.Line(buf, at, f.attempt.Number)
		}
		f.at.Offset += int64(len(buf))
		f.at.Done = true
	}
	return f.save(in)
}

// skipHole skips n bytes that read as zeros, with the line that they are in. Reading them would
// take hours: a hole of 1 TiB costs its writer nothing.
func (f *file) skipHole(store *metrics.Store, line []byte, n int64) []byte {
	f.broken(store, "a line has a hole: the file is sparse")
	f.at.Skip = true
	f.at.Offset += int64(len(line)) + n
	f.at.Holes += n
	return line[:0]
}

// giveUp ends the reading of a file that is larger than any of metrics.
func (f *file) giveUp(store *metrics.Store, in io.ReaderAt) error {
	f.at.Skip = false // so that it is counted
	f.broken(store, "the file has more than 1 GiB: the rest is left out")
	f.at.Done = true
	return f.save(in)
}

// broken counts a line unless it was counted before.
func (f *file) broken(store *metrics.Store, why string) {
	if !f.at.Skip {
		store.Broken(f.attempt.Role, f.attempt.ID, metrics.SourceFile, 1, why)
	}
}

// takeLines adds the whole lines of a buffer and returns the rest.
func (f *file) takeLines(store *metrics.Store, buf []byte, at time.Time) []byte {
	rest := buf
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		if !f.at.Skip {
			f.lines.Line(rest[:i], at, f.attempt.Number)
		}
		f.at.Skip = false
		f.at.Offset += int64(i) + 1
		rest = rest[i+1:]
	}
	if len(rest) > metrics.MaxLine {
		f.broken(store, "a line is longer than 1 MiB")
		f.at.Skip = true
		f.at.Offset += int64(len(rest))
		rest = rest[:0]
	}
	return buf[:copy(buf, rest)]
}

func (f *file) save(in io.ReaderAt) error {
	if in != nil {
		f.at.Sum, _ = sumBefore(in, f.at.Offset) // on an error the file is read again
	}
	return f.collector.flush(f.key, encode(f.at))
}

func encode(position any) []byte {
	data, _ := json.Marshal(position) // plain fields cannot fail
	return data
}

func decode(data []byte, position any) error {
	if data == nil {
		return nil
	}
	if err := json.Unmarshal(data, position); err != nil {
		return fmt.Errorf("read position of metrics: %w", err)
	}
	return nil
}
