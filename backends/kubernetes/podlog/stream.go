package podlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"torchx/backends/logcopy"
)

const (
	// bufferSize is the most of a line that is handed out at once. Runtimes cut lines
	// at 16 KiB, and the kubelet joins them again.
	bufferSize = 32 << 10
	// maxStamp is the length of the longest time before a line, such as
	// 2006-01-02T15:04:05.000000000+07:00.
	maxStamp = 35
	// maxReply is how much of an error in place of the log is kept.
	maxReply = 1 << 10
)

// Stream cuts an answer of the server into lines. It implements logcopy.Stream.
type Stream struct {
	io.Closer

	r      *bufio.Reader
	resume bool      // the answer may begin within a line
	begun  bool      // a line with a time has come
	middle bool      // the last piece was not the last of its line
	time   time.Time // of that line
	end    error     // what follows the last piece
}

// NewStream reads an answer. resume: it was asked for from a time on, so it may begin
// within a line.
func NewStream(body io.ReadCloser, resume bool) *Stream {
	return &Stream{Closer: body, r: bufio.NewReaderSize(body, bufferSize), resume: resume}
}

// MayBlock implements logcopy.Stream.
func (s *Stream) MayBlock() bool { return s.r.Buffered() == 0 }

// Next implements logcopy.Stream.
func (s *Stream) Next() (logcopy.Entry, error) {
	for s.end == nil {
		data, err := s.r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full {
			return s.last(data, err)
		}
		if s.middle {
			s.middle = full
			return logcopy.Entry{Time: s.time, Data: data, Last: !full}, nil
		}
		t, size := stamp(data)
		switch {
		case size > 0:
			s.time, s.middle, s.begun = t, full, true
			return logcopy.Entry{Time: t, Data: data[size:], First: true, Last: !full}, nil
		case s.begun || !s.resume:
			return logcopy.Entry{}, s.reply(data)
		}
		// The rest of a line that began before the second that was asked for.
		for full {
			if _, err = s.r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		s.begun = true
	}
	return logcopy.Entry{}, s.end
}

// last returns what stands without a newline at the end of the answer.
func (s *Stream) last(data []byte, err error) (logcopy.Entry, error) {
	if !errors.Is(err, io.EOF) || len(data) == 0 {
		return logcopy.Entry{}, err
	}
	p := logcopy.Entry{Time: s.time, Data: data, Open: true}
	if !s.middle {
		t, size := stamp(data)
		switch size {
		case 0:
			return logcopy.Entry{}, s.reply(data)
		case len(data):
			return logcopy.Entry{}, err
		}
		p.Time, p.Data, p.First = t, data[size:], true
	}
	s.end = err
	return p, nil
}

// reply reads what the kubelet says in the place of the log, or in its middle: the
// answer had begun, so it could only append the text. A log is removed when its pod was
// stopped before the server knows its end (ReadLogs in k8s.io/cri-client).
func (s *Stream) reply(data []byte) error {
	text := bytes.Clone(data[:min(len(data), maxReply)])
	more := make([]byte, maxReply-len(text))
	n, _ := io.ReadFull(s.r, more) // it is all there, or only a part is shown
	words := strings.Join(strings.Fields(string(append(text, more[:n]...))), " ")
	return &logcopy.ReplyError{Text: words, Removed: strings.HasPrefix(words, "unable to retrieve container logs")}
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
