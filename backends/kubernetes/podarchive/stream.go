package podarchive

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
	// bufferSize is the maximum size of a piece of a line. Runtimes split lines at 16 KiB,
	// and the kubelet joins the parts.
	bufferSize = 32 << 10
	// maxStamp is the maximum length of the time at the beginning of a line, such as
	// 2006-01-02T15:04:05.000000000+07:00.
	maxStamp = 35
	// maxReply bounds the bytes kept of an error that is sent instead of the log.
	maxReply = 1 << 10
)

// Stream splits a response of the server into lines. It implements logcopy.Stream.
type Stream struct {
	io.Closer

	r      *bufio.Reader
	resume bool      // the response may begin within a line
	begun  bool      // a line with a time was read
	middle bool      // the last piece was not the last of its line
	time   time.Time // of that line
	end    error     // the error after the last piece
}

// NewStream returns a Stream for a response. If resume is true, the request had a start time,
// and the response may begin within a line.
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
		// Skip the end of a line that began before the requested second.
		for full {
			if _, err = s.r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		s.begun = true
	}
	return logcopy.Entry{}, s.end
}

// last returns the text without a newline at the end of the response.
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

// reply reads an error message that the kubelet sent instead of the log, or within it: after
// the response has begun, the kubelet can only append text. A node removes the log of a
// stopped pod before the server knows that the pod has ended (ReadLogs in
// k8s.io/cri-client).
func (s *Stream) reply(data []byte) error {
	text := bytes.Clone(data[:min(len(data), maxReply)])
	more := make([]byte, maxReply-len(text))
	n, _ := io.ReadFull(s.r, more) // on an error, a part of the message is enough
	message := strings.Join(strings.Fields(string(append(text, more[:n]...))), " ")
	return &logcopy.ReplyError{Text: message, Removed: strings.HasPrefix(message, "unable to retrieve container logs")}
}

// stamp parses the time at the beginning of a line, and returns its length including the
// space; 0 if the line has no time.
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

// GapDeleted is the notice at the end of a log that was cut off by the deletion of its pod.
const GapDeleted = "gap: the pod was deleted before its log was read to the end"

// gapRefused is the notice in place of a deleted pod's log that the user was not allowed to read.
const gapRefused = "gap: the pod was deleted, and its log could not be read before: "

// Mode returns the mode in which logs of pods are copied. Copying fails after a problem has
// lasted for patience; 0: never.
func Mode(follow bool, patience time.Duration) logcopy.Mode {
	return logcopy.Mode{
		Follow: follow, GiveUpAfter: patience, GapGone: GapDeleted, TrustEOF: true,
		Timing: logcopy.Timing{
			Backoff: 50 * time.Millisecond, MaxBackoff: 5 * time.Second, ResetAfter: 10 * time.Second,
			SearchTimeout: time.Second, IdleTimeout: time.Minute, MaxIdleTimeout: 10 * time.Minute, EndTimeout: 10 * time.Second,
		},
	}
}

// LastTime returns the time of the last line of a response, zero if it has no lines.
func LastTime(in logcopy.Stream) (last time.Time, err error) {
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		if !p.Open {
			last = p.Time
		}
	}
}
