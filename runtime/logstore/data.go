package logstore

import (
	"bytes"
	"errors"
	"io"
	"os"

	"torchx/runtime/safefile"
)

const (
	// window is the read size: large enough to make system calls negligible, small
	// enough to stay in a core's cache.
	window = 128 << 10
	// maxLine is the longest line that is returned in one piece.
	maxLine = 16 << 20
)

// data reads one stream's file through a window.
type data struct {
	name    string      // path
	s       Stream      // the stream
	trimmed *trimReader // nil: not trimmed while it is read
	file    *os.File
	buf     []byte // the bytes from off
	off     int64
}

// size returns the file's size; a missing file is an error.
func (d *data) size() (int64, error) {
	fi, err := os.Stat(d.name)
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// view returns the bytes [from,to), fewer if the file is shorter. It may read ahead up to
// known, the end by the index: later bytes can still change. The result is valid until the
// next call. The error is errTrimmed if the first byte was trimmed.
func (d *data) view(from, to, known int64) ([]byte, error) {
	if from >= d.off && to <= d.off+int64(len(d.buf)) {
		return d.buf[from-d.off : to-d.off], nil
	}
	if d.file == nil {
		f, err := safefile.Open(d.name)
		if err != nil {
			return nil, err
		}
		d.file = f
	}
	want := max(to-from, min(window, known-from))
	if int64(cap(d.buf)) < want {
		d.buf = make([]byte, max(4096, want))
	}
	n, err := d.file.ReadAt(d.buf[:want], from)
	d.buf, d.off = d.buf[:n], from
	if err == nil || errors.Is(err, io.EOF) {
		err = d.checkKept(from)
	}
	if err != nil {
		d.buf = d.buf[:0]
		return nil, err
	}
	return d.buf[:min(int64(n), to-from)], nil
}

// checkKept checks, after a read from an offset, that the bytes were not the zeroes of a hole.
func (d *data) checkKept(from int64) error {
	if d.trimmed == nil {
		return nil
	}
	if err := d.trimmed.refresh(); err != nil {
		return err
	}
	if d.trimmed.now.off[d.s] > from {
		return errTrimmed
	}
	return nil
}

// lastLineEnd returns the offset after the last newline in [lo,hi), or -1.
func (d *data) lastLineEnd(lo, hi int64) int64 {
	for hi > lo {
		from := max(lo, hi-window)
		p, err := d.view(from, hi, hi)
		if err != nil {
			return -1
		}
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return from + int64(i) + 1
		}
		hi = from
	}
	return -1
}

// nthLineEnd returns the offset after the n-th newline (from 1) in [lo,hi) and n; if there
// are fewer, hi and their number.
func (d *data) nthLineEnd(lo, hi, n int64) (int64, int64) {
	var seen int64
	for lo < hi {
		p, err := d.view(lo, min(hi, lo+window), hi)
		if err != nil || len(p) == 0 {
			break
		}
		i, c := nthLine(p, n-seen)
		seen += c
		if i >= 0 {
			return lo + int64(i), seen
		}
		lo += int64(len(p))
	}
	return hi, seen
}

func (d *data) close() {
	if d.file != nil {
		d.file.Close()
		d.file = nil
	}
	d.buf = nil
}

// nthLine returns the index after the n-th newline of p and n; if there are fewer, -1 and
// their number. Counting is much faster than searching, so it searches only the piece that
// contains the n-th newline.
func nthLine(p []byte, n int64) (int, int64) {
	const piece = 4096
	var seen int64
	for at := 0; at < len(p); at += piece {
		part := p[at:min(len(p), at+piece)]
		c := int64(bytes.Count(part, newline))
		if seen+c < n {
			seen += c
			continue
		}
		i := 0
		for ; seen < n; seen++ {
			i += bytes.IndexByte(part[i:], '\n') + 1
		}
		return at + i, n
	}
	return -1, seen
}
