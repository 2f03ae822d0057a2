package docker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"torchx/runtime/logstore"
)

// Frames of the engine's log stream (API reference, "Attach to a container",
// stream format): a byte that names the stream, three zeros, the length of what
// follows, big-endian.
const (
	frameHeader = 8
	frameStdout = 1
	frameStderr = 2
	frameError  = 3 // the engine tells of trouble
)

// stampLength is the length of the time before each entry: RFC 3339 with nine
// digits of a second, in UTC.
const stampLength = len("2006-01-02T15:04:05.000000000Z")

// maxFrame is more than any entry has: engines cut lines at 16 KiB.
const maxFrame = 1 << 20

// entry is a line as the engine keeps it, or a part of one: only the last part of
// a line ends in a newline.
type entry struct {
	stream logstore.Stream
	time   time.Time
	data   []byte // valid until the next one is read
}

// whole reports whether a line ends with the entry.
func (e entry) whole() bool { return len(e.data) > 0 && e.data[len(e.data)-1] == '\n' }

// entries reads a log stream, with times or without.
type entries struct {
	r   *bufio.Reader
	buf []byte

	untimed bool // entries have no times

	second string // text of the last second that was parsed
	unix   int64  // … and its value
}

// entryBuffer holds a few hundred lines: a flood is read in large pieces.
const entryBuffer = 256 << 10

func newEntries(r io.Reader, timed bool) *entries {
	return &entries{r: bufio.NewReaderSize(r, entryBuffer), untimed: !timed}
}

// rests reports whether the next entry may have to be waited for.
func (e *entries) rests() bool { return e.r.Buffered() < frameHeader }

var errFormat = errors.New("the engine's log stream is not in the form that its API promises")

// next returns the next entry; io.EOF after the last one.
func (e *entries) next() (entry, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(e.r, head[:]); err != nil {
		return entry{}, err
	}
	size := binary.BigEndian.Uint32(head[4:])
	if head[0] > frameError || head[1]|head[2]|head[3] != 0 || size > maxFrame {
		return entry{}, errFormat
	}
	if cap(e.buf) < int(size) {
		e.buf = make([]byte, size)
	}
	e.buf = e.buf[:size]
	if _, err := io.ReadFull(e.r, e.buf); err != nil {
		return entry{}, unexpected(err)
	}
	if head[0] == frameError {
		return entry{}, fmt.Errorf("the engine's log: %s", e.buf)
	}
	return e.parse(head[0])
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (e *entries) parse(stream byte) (entry, error) {
	if e.untimed {
		return entry{stream: streamOfFrame(stream), data: e.buf}, nil
	}
	if len(e.buf) <= stampLength || e.buf[stampLength] != ' ' {
		return entry{}, errFormat
	}
	t, err := e.stamp(e.buf[:stampLength])
	if err != nil {
		return entry{}, err
	}
	return entry{stream: streamOfFrame(stream), time: t, data: e.buf[stampLength+1:]}, nil
}

func streamOfFrame(frame byte) logstore.Stream {
	if frame == frameStderr {
		return logstore.Stderr
	}
	return logstore.Stdout
}

// stamp parses a time. Most lines of a flood share their second.
func (e *entries) stamp(text []byte) (time.Time, error) {
	const seconds = len("2006-01-02T15:04:05")
	if string(text[:seconds]) != e.second {
		t, err := time.Parse(time.RFC3339Nano, string(text))
		if err != nil {
			return t, errFormat
		}
		e.second, e.unix = string(text[:seconds]), t.Unix()
	}
	nanos := int64(0)
	for _, c := range text[seconds+1 : stampLength-1] {
		if c < '0' || c > '9' {
			return time.Time{}, errFormat
		}
		nanos = nanos*10 + int64(c-'0')
	}
	return time.Unix(e.unix, nanos), nil
}
