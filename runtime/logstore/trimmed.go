package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/safefile"
)

// TrimFile records how much of a log with a size limit was trimmed.
const TrimFile = "log.gone"

const (
	trimMagic = "TXGONE01"
	trimSize  = 88
)

// trimmed is the content of log.gone: the trimmed part of each stream and of the index. The
// files keep their sizes, so offsets stay valid.
type trimmed struct {
	limit  int64    // bytes that each file may keep
	record int64    // the first kept record; its totals start from those of the record before
	off    [2]int64 // the first kept byte
	lines  [2]int64 // newlines before it
	until  [2]int64 // unix ns of the last byte before it
	mid    [2]bool  // the first kept byte continues a line
}

func (g trimmed) encode(b []byte) {
	copy(b, trimMagic)
	var mid int64
	for s, on := range g.mid {
		if on {
			mid |= 1 << s
		}
	}
	for i, v := range []int64{g.limit, g.record, g.off[0], g.off[1], g.lines[0], g.lines[1], g.until[0], g.until[1], mid} {
		binary.LittleEndian.PutUint64(b[8+8*i:], uint64(v))
	}
}

func decodeTrimmed(b []byte) (trimmed, error) {
	if len(b) < trimSize || string(b[:8]) != trimMagic {
		return trimmed{}, fmt.Errorf("it does not start with %s", trimMagic)
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8+8*i:])) }
	return trimmed{
		limit: at(0), record: at(1), off: [2]int64{at(2), at(3)}, lines: [2]int64{at(4), at(5)},
		until: [2]int64{at(6), at(7)}, mid: [2]bool{at(8)&1 != 0, at(8)&2 != 0},
	}, nil
}

// notice returns the line that a reader shows for trimmed lines of a stream, starting with
// line first (from 1).
func (g trimmed) notice(s Stream, first int64) string {
	what := fmt.Sprintf("lines %d to %d", first, g.lines[s])
	switch {
	case first == g.lines[s]:
		what = fmt.Sprintf("line %d", first)
	case first > g.lines[s]:
		what = fmt.Sprintf("the beginning of line %d", first)
	}
	return fmt.Sprintf("gap: %s of %s, written until %s (this log keeps the last %s of a stream)",
		what, s, time.Unix(0, g.until[s]).UTC().Format(time.RFC3339), sizeText(g.limit))
}

// sizeText formats a number of bytes in the largest unit that divides it.
func sizeText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for i < len(units)-1 && n != 0 && n%1024 == 0 {
		n, i = n/1024, i+1
	}
	return fmt.Sprintf("%d %s", n, units[i])
}

// trimReader reads log.gone while a writer may change it. The writer updates it before it
// frees anything, so bytes are valid if a later read of log.gone still counts them as kept.
type trimReader struct {
	file *os.File // nil: the log has no limit
	raw  [trimSize]byte
	now  trimmed
}

// errTrimmed means that the requested bytes were trimmed.
var errTrimmed = errors.New("trimmed")

func (g *trimReader) open(dir string) error {
	name := filepath.Join(dir, TrimFile)
	f, err := safefile.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	g.file = f
	if err := g.refresh(); err != nil {
		g.close()
		return err
	}
	return nil
}

// refresh reads the file, twice if it is being changed.
func (g *trimReader) refresh() error {
	if g.file == nil {
		return nil
	}
	var a, b [trimSize]byte
	for try := 0; try == 0 || (a != b && try < 10); try++ {
		a = b
		if _, err := g.file.ReadAt(b[:], 0); err != nil {
			return fmt.Errorf("read %s: %w", g.file.Name(), err)
		}
		if b == g.raw {
			return nil // unchanged, the usual case
		}
	}
	now, err := decodeTrimmed(b[:])
	if err != nil {
		return fmt.Errorf("%s is damaged, so it is unknown which part of the log is kept: %w", g.file.Name(), err)
	}
	g.now, g.raw = now, b
	return nil
}

func (g *trimReader) close() {
	if g.file != nil {
		g.file.Close()
		g.file = nil
	}
}
