package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logview"
)

// maxLine is the number of bytes that are shown of a line.
const maxLine = 16 << 10

// logScan numbers the lines of merged logs.
type logScan struct {
	log     *openLog
	merger  *logview.Merger
	number  int64 // lines so far
	open    [][3]unfinished
	notices []string
}

// unfinished is the start of a line whose end comes in a later block.
type unfinished struct {
	begun bool
	text  []byte
	cut   int64
	block backend.Block
}

// add appends to the line and keeps at most maxLine bytes: the end if it is redrawn, as a progress
// bar is, else the start.
func (u *unfinished) add(p []byte) {
	u.begun = true
	u.text = append(u.text, p...)
	if extra := len(u.text) - maxLine; extra > 0 {
		u.cut += int64(extra)
		if cr := bytes.LastIndexByte(bytes.TrimRight(u.text, "\r\n"), '\r'); cr >= 0 {
			u.text = append(u.text[:0], u.text[extra:]...)
		} else {
			u.text = u.text[:maxLine]
		}
	}
}

func streamIndex(s backend.Stream) int {
	return max(0, slices.Index([]backend.Stream{backend.Combined, backend.Stdout, backend.Stderr}, s))
}

// lines calls show with each line until it returns false or the logs end.
func (s *logScan) lines(ctx context.Context, show func(*LogLine) bool) error {
	for {
		i, b, err := s.merger.Next(ctx)
		switch {
		case i < 0:
			s.flush(show)
			return nil
		case errors.Is(err, context.Canceled), ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.notice(i, err.Error())
			continue
		case b.Notice != "":
			s.notice(i, b.Notice)
			continue
		}
		s.number += b.Skipped
		if !s.split(i, b, show) {
			return nil
		}
	}
}

func (s *logScan) notice(i int, text string) {
	in := s.log.inputs[i]
	s.notices = append(s.notices, fmt.Sprintf("%s/%d: %s", in.Role, in.ID, text))
}

// split calls show with the lines that end in a block.
func (s *logScan) split(i int, b backend.Block, show func(*LogLine) bool) bool {
	u := &s.open[i][streamIndex(b.Stream)]
	rest := b.Data
	for len(rest) > 0 {
		n := bytes.IndexByte(rest, '\n') + 1
		ends := n > 0
		if !ends {
			n, ends = len(rest), !b.Partial
		}
		u.add(bytes.TrimSuffix(rest[:n], []byte{'\n'}))
		rest = rest[n:]
		u.block = b
		if ends && !s.end(i, u, show) {
			return false
		}
	}
	return true
}

// end calls show with a line.
func (s *logScan) end(i int, u *unfinished, show func(*LogLine) bool) bool {
	in := s.log.inputs[i]
	s.number++
	l := LogLine{
		Number: s.number, Role: in.Role, Replica: in.ID, Attempt: u.block.Attempt, Stream: string(u.block.Stream),
		Line: strings.ToValidUTF8(string(u.text), "\uFFFD"), Cut: u.cut,
	}
	if !u.block.Time.IsZero() {
		l.Time = new(time.Time)
		*l.Time = u.block.Time.UTC()
	}
	*u = unfinished{text: u.text[:0]}
	return show(&l)
}

// flush ends the lines that no block ended.
func (s *logScan) flush(show func(*LogLine) bool) {
	for i := range s.open {
		for j := range s.open[i] {
			if u := &s.open[i][j]; u.begun && !s.end(i, u, show) {
				return
			}
		}
	}
}
