package podlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// bufferSize is the most of a line that is handed out at once. Runtimes cut
	// lines at 16 KiB, and the kubelet joins them again.
	bufferSize = 32 << 10
	// maxStamp is the length of the longest time before a line, such as
	// 2006-01-02T15:04:05.000000000+07:00.
	maxStamp = 35
	// maxBody is how much of an error in place of the log is kept.
	maxBody = 1 << 10
)

// piece is a line, or a part of a long one. Its data is valid until the next one.
type piece struct {
	time        time.Time // of its line
	data        []byte
	first, last bool // the line begins, ends with it; the last piece has the newline
}

// keep is the piece with data of its own.
func (p piece) keep() piece {
	p.data = bytes.Clone(p.data)
	return p
}

// bodyError is what the kubelet says in the place of the log, or in its middle:
// the answer had begun, so it could only append the text.
type bodyError struct{ text string }

func (e *bodyError) Error() string { return fmt.Sprintf("the node says: %s", e.text) }

// removed tells that the node has no such container any more: it removes those of a
// pod that was stopped before the server knows their end (ReadLogs in k8s.io/cri-client).
func (e *bodyError) removed() bool {
	return strings.HasPrefix(e.text, "unable to retrieve container logs")
}

// parser cuts an answer of the server into lines.
type parser struct {
	r      *bufio.Reader
	middle bool      // the last piece was not the last of its line
	time   time.Time // of that line
	begun  bool      // a line with a time has come
	resume bool      // the answer may begin within a line
	tail   []byte    // what stood without a newline at the end, with its time if it begins a line
}

func newParser(r io.Reader, resume bool) *parser {
	return &parser{r: bufio.NewReaderSize(r, bufferSize), resume: resume}
}

// rests reports whether the next piece may have to be waited for.
func (p *parser) rests() bool { return p.r.Buffered() == 0 }

// next returns the next piece. What has no newline yet stays in the tail. The error
// at the end is io.EOF, a *bodyError, or that of the connection.
func (p *parser) next() (piece, error) {
	for {
		data, err := p.r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full {
			return piece{}, p.end(data, err)
		}
		if p.middle {
			p.middle = full
			return piece{time: p.time, data: data, last: !full}, nil
		}
		t, size := stamp(data)
		switch {
		case size > 0:
			p.time, p.middle, p.begun = t, full, true
			return piece{time: t, data: data[size:], first: true, last: !full}, nil
		case p.begun || !p.resume:
			return piece{}, p.body(data)
		}
		// The rest of a line that began before the second that was asked for.
		for full {
			if _, err = p.r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		p.begun = true
	}
}

// end is the error at the end of the answer.
func (p *parser) end(data []byte, err error) error {
	if !errors.Is(err, io.EOF) || len(data) == 0 {
		return err
	}
	if _, size := stamp(data); size == 0 && !p.middle {
		return p.body(data)
	}
	p.tail = bytes.Clone(data)
	return err
}

// last is the piece of a line that has no newline, ok is false if there is none.
func (p *parser) last() (rest piece, ok bool) {
	switch {
	case len(p.tail) == 0:
		return piece{}, false
	case p.middle:
		return piece{time: p.time, data: p.tail}, true
	}
	t, size := stamp(p.tail)
	return piece{time: t, data: p.tail[size:], first: true}, len(p.tail) > size
}

func (p *parser) body(data []byte) error {
	text := bytes.Clone(data[:min(len(data), maxBody)])
	more := make([]byte, maxBody-len(text))
	n, _ := io.ReadFull(p.r, more) // it is all there, or only a part is shown
	return &bodyError{string(bytes.Join(bytes.Fields(append(text, more[:n]...)), []byte{' '}))}
}

// stamp reads the time before a line, and returns its length with the space behind
// it; 0 if there is none.
func stamp(data []byte) (time.Time, int) {
	i := bytes.IndexByte(data[:min(len(data), maxStamp+1)], ' ')
	if i < 0 {
		return time.Time{}, 0
	}
	t, err := time.Parse(time.RFC3339Nano, string(data[:i]))
	if err != nil {
		return time.Time{}, 0
	}
	return t, i + 1
}
