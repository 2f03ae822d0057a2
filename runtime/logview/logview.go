// Package logview merges the logs of many replicas into one view for people or programs:
// ordered by time, filtered, each line with its role and replica.
//
// Copy reads Inputs and writes what Options select. A formatter turns blocks into output; merge
// drives it for finished logs, a follower for growing ones. Notes are messages between lines.
package logview

import (
	"context"
	"fmt"
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

// Options select lines and their format.
type Options struct {
	// Prefix writes `role/id ` before each line and after each carriage return.
	Prefix bool
	// Color colors the prefix; the same replica always has the same color.
	Color bool
	// Timestamps writes the time of a line's end between prefix and line: RFC 3339, UTC,
	// with nine digits of a second.
	Timestamps bool
	// JSON writes one object a line: time, role, replica, attempt, stream, line. Prefix,
	// Color and Timestamps then have no effect. Notices are only in Stats.
	JSON bool
	// Regex selects the lines in which it matches; it is applied to a line without its end
	// (\n or \r\n) and without a prefix.
	Regex *regexp.Regexp
	// Follow writes lines as they arrive, not ordered by time.
	Follow bool
	// Written is called after each write and at the end with the number of blocks of each
	// input that are done: written, or left out by Regex. With JSON or Regex a Partial block
	// counts although it is kept until its line ends. The slice is valid during the call;
	// calls do not overlap.
	Written func(blocks []int64)
	// Notes are printed between the lines, with Follow; may be nil. Copy closes them.
	Notes *Notes
}

// Stats describes what Copy has written.
type Stats struct {
	Shown   bool     // something of a log was written, not only notices
	Bytes   int64    // all bytes
	Notices []string // `role/id: text`
}

// Copy writes the logs to w until all have ended, ctx ends or w fails. Without prefix, regex,
// timestamps and JSON the bytes of one input are written unchanged; otherwise the last line
// always ends with a newline, and a line that is written in parts is never continued by
// another one.
//
// An input that fails does not stop the others; the first such error is returned at the end, with
// the number of inputs that failed.
// Other errors: ctx.Err(), and those of w, wrapped (syscall.EPIPE if its reader is gone).
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

// failures are the inputs that failed.
type failures struct {
	first error
	n     int
}

func (f *failures) add(in Input, err error) {
	if f.n++; f.first == nil {
		f.first = fmt.Errorf("%s: %w", in.name(), err)
	}
}

// error returns the first failure and the number of others, nil if there is none.
func (f *failures) error() error {
	if f.n < 2 {
		return f.first
	}
	return fmt.Errorf("%w (and the logs of %d more)", f.first, f.n-1)
}
