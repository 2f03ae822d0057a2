// Package logview merges the logs of many replicas into one view for people or
// programs: ordered by time, filtered, with a prefix that says whose line it is.
package logview

import (
	"context"
	"io"
	"regexp"
	"strconv"

	"torchx/runtime/backend"
)

// Input is the log of one replica.
type Input struct {
	Role   string
	ID     int
	Reader backend.LogReader // the caller closes it
}

func (in Input) name() string { return in.Role + "/" + strconv.Itoa(in.ID) }

// Options says what the view looks like.
type Options struct {
	// Prefix puts `role/id ` before each line and after each carriage return.
	Prefix bool
	// Color colors the prefix; the same replica always has the same color.
	Color bool
	// Timestamps puts the time of a line's end between prefix and line: RFC
	// 3339, UTC, nine digits of a second.
	Timestamps bool
	// JSON writes one object a line: time, role, replica, attempt, stream,
	// line. Prefix, Color and Timestamps do not matter then. A notice is an
	// object whose stream and line are null, with a member notice.
	JSON bool
	// Regex leaves only the lines that it matches somewhere; it sees a line
	// without its end (\n or \r\n) and without a prefix.
	Regex *regexp.Regexp
	// Follow writes lines as they come, not ordered by time.
	Follow bool
	// Written is told, after each write and at the end, how many blocks of each
	// input are dealt with: written, or left out by Regex. With JSON or Regex a
	// block that is Partial is only kept until its line ends. The slice is valid
	// during the call; calls do not overlap.
	Written func(blocks []int64)
	// Notes, with Follow, are made between the lines; nil: there are none. Copy closes them.
	Notes *Notes
}

// Stats is what Copy has written.
type Stats struct {
	Shown   bool     // anything of a log, not only notices
	Bytes   int64    // all bytes
	Notices []string // `role/id: text`
}

// Copy writes the logs to w until all are at their end, ctx ends or w fails.
// Without prefix, regex, timestamps and JSON the bytes of one input are written
// exactly; else the last line always ends with a newline, and a line that is
// shown in parts is never continued by another one.
//
// An input that fails does not stop the others; the first such error is
// returned at the end. Other errors: ctx.Err(), and w's own, wrapped
// (syscall.EPIPE when its reader is gone).
func Copy(ctx context.Context, w io.Writer, inputs []Input, o Options) (Stats, error) {
	f := newFormatter(inputs, o)
	var err error
	if o.Follow {
		if o.Notes != nil {
			defer o.Notes.Close()
		}
		err = follow(ctx, w, f)
	} else {
		err = merge(ctx, w, f)
	}
	return f.stats, err
}
