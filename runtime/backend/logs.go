package backend

import (
	"context"
	"io"
	"time"

	"torchx/runtime/spec"
)

// Stream selects what of a replica's output is read.
type Stream string

// The streams: Combined is both in the order they were written.
const (
	Combined Stream = "combined"
	Stdout   Stream = "stdout"
	Stderr   Stream = "stderr"
)

// Streams lists the valid streams.
var Streams = []Stream{Combined, Stdout, Stderr}

// LogOptions selects lines of one replica's log.
type LogOptions struct {
	Stream Stream // "" is Combined
	Follow bool   // go on until the app is terminal, across attempts
	// Attempt is the attempt to read, from 0; nil is the last one. With Follow
	// and nil, later attempts follow.
	Attempt *int
	// AllAttempts reads every attempt from the first on, or from Attempt on; lines
	// are then counted from the start of that attempt.
	AllAttempts bool
	Since       time.Time // inclusive; zero: no bound
	Until       time.Time // exclusive; zero: no bound
	FromLine    int64     // first line, from 1; 0: no bound
	ToLine      int64     // last line, inclusive; 0: no bound
	Tail        int64     // only the last Tail lines; < 0: no bound, 0 none
	// Partial, with Follow, returns the beginning of a line that pauses (a progress
	// bar, a prompt) instead of waiting for its end.
	Partial bool
	// Untimed leaves Block.Time unset where finding it costs a backend time.
	Untimed bool
}

// Block is a run of bytes of one stream that arrived together: whole lines,
// except that the last one lacks its newline if Partial is set, or at the end
// of a stream that ends without one.
type Block struct {
	Time    time.Time // when the (last) line's end arrived
	Stream  Stream    // Stdout or Stderr, Combined where the backend cannot tell
	Attempt int
	Data    []byte // valid until the next call of Next
	Partial bool   // the last line goes on in a later block of the same stream
	Notice  string // set instead of Data: what is missing here, such as "gap: rotated"
	Skipped int64  // lines (with an end) before this block that FromLine counts and that are gone
}

// LogReader reads a replica's log in order.
type LogReader interface {
	// Next returns the next block; io.EOF after the last one. It waits only when following.
	Next(ctx context.Context) (Block, error)
	io.Closer
}

// LogRetainer is a Backend that can retain logs of an app that it deletes.
type LogRetainer interface {
	// RetainableLogs returns the logs that Delete with these options would leave; nil
	// if none. Errors: ErrNotFound.
	RetainableLogs(ctx context.Context, id string, o DeleteOptions) (*RetainedLogs, error)
	// OpenRetainedLogs opens a retained log. Errors: ErrNotFound (role, replica or attempt).
	OpenRetainedLogs(ctx context.Context, l *RetainedLogs, r spec.Replica, o LogOptions) (LogReader, error)
}

// LogFinder is a LogRetainer that finds logs outside of an app when the app itself
// was removed by other means.
type LogFinder interface {
	// FindLogs returns the logs at the place that the options of an app submitted in
	// folder cwd name; nil if there are none.
	FindLogs(id string, cfg Config, cwd string, roles []spec.RoleStatus) *RetainedLogs
}

// RetainedLogs are the logs of an app that outlive it.
type RetainedLogs struct {
	Dir    string         `json:"dir"`    // absolute
	Layout string         `json:"layout"` // the backend's own name of how Dir is organized
	Roles  []RetainedRole `json:"roles"`
}

// RetainedRole are the logs of one role.
type RetainedRole struct {
	Role     string `json:"role"`
	Attempts []int  `json:"attempts"` // number of attempts of each replica, by its number
}
