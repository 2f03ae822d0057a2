package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/logstore"
)

// Frames of the engine's log stream (API reference, "Attach to a container", stream
// format): a byte for the stream, three zeros, and the length of the data, big-endian.
const (
	frameHeader = 8
	frameStdout = 1
	frameStderr = 2
	frameError  = 3 // the engine reports an error
)

const (
	// stampLength is the length of the time before each entry: RFC 3339 in UTC with nine
	// fractional digits.
	stampLength = len("2006-01-02T15:04:05.000000000Z")
	// maxFrame is above the size of any entry: engines split lines at 16 KiB.
	maxFrame = 1 << 20
	// streamBuffer holds a few hundred lines, so that a flood takes few reads.
	streamBuffer = 256 << 10
)

// logStream reads the engine's log of a container, with times or without. Each entry is a
// line, or the part of a line at which the engine splits it.
type logStream struct {
	io.Closer

	r     *bufio.Reader
	timed bool // entries have times
	buf   []byte

	second string // text of the last second that was parsed
	unix   int64  // Unix time of second
}

func newLogStream(body io.ReadCloser, timed bool) *logStream {
	return &logStream{Closer: body, r: bufio.NewReaderSize(body, streamBuffer), timed: timed}
}

// MayBlock implements logcopy.Stream.
func (s *logStream) MayBlock() bool { return s.r.Buffered() < frameHeader }

var errFormat = errors.New("the engine's log stream does not have the format of its API")

// Next implements logcopy.Stream.
func (s *logStream) Next() (p logcopy.Entry, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return p, err
	}
	size := binary.BigEndian.Uint32(head[4:])
	if head[0] > frameError || head[1]|head[2]|head[3] != 0 || size > maxFrame {
		return p, errFormat
	}
	if cap(s.buf) < int(size) {
		s.buf = make([]byte, size)
	}
	s.buf = s.buf[:size]
	if _, err := io.ReadFull(s.r, s.buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return p, err
	}
	switch head[0] {
	case frameError:
		return p, fmt.Errorf("the engine's log: %s", s.buf)
	case frameStderr:
		p.Stream = logstore.Stderr
	}
	p.Data = s.buf
	if s.timed {
		stamp, data, ok := bytes.Cut(s.buf, []byte{' '})
		if !ok {
			return p, errFormat
		}
		p.Time, err = s.stamp(stamp)
		p.Data = data
	}
	p.Last = len(p.Data) > 0 && p.Data[len(p.Data)-1] == '\n'
	return p, err
}

// stamp parses a time. It reuses the parsed second, which most lines of a flood share.
func (s *logStream) stamp(text []byte) (time.Time, error) {
	const seconds = len("2006-01-02T15:04:05")
	if short := len(text) != stampLength; short || string(text[:seconds]) != s.second {
		t, err := time.Parse(time.RFC3339Nano, string(text))
		if err != nil {
			return t, errFormat
		}
		if short { // Podman omits the fraction
			return t, nil
		}
		s.second, s.unix = string(text[:seconds]), t.Unix()
	}
	nanos := int64(0)
	for _, c := range text[seconds+1 : stampLength-1] {
		if c < '0' || c > '9' {
			return time.Time{}, errFormat
		}
		nanos = nanos*10 + int64(c-'0')
	}
	return time.Unix(s.unix, nanos), nil
}
