package backend

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"torchx/runtime/spec"
)

// Stream selects the output of a replica to read.
type Stream string

// The streams; Combined is both in the order in which they were written.
const (
	Combined Stream = "combined"
	Stdout   Stream = "stdout"
	Stderr   Stream = "stderr"
)

// Streams lists the valid streams.
var Streams = []Stream{Combined, Stdout, Stderr}

// LogOptions selects lines of a replica's log.
type LogOptions struct {
	Stream Stream // "" is Combined
	Follow bool   // continue until the app is terminal, across attempts
	// Attempt is the attempt to read, from 0; nil means the last one and, with Follow,
	// later attempts.
	Attempt *int
	// AllAttempts reads all attempts from the first on, or from Attempt on; lines are
	// counted from the start of that attempt.
	AllAttempts bool
	Since       time.Time // inclusive; zero: no bound
	Until       time.Time // exclusive; zero: no bound
	FromLine    int64     // first line, from 1; 0: no bound
	ToLine      int64     // last line, inclusive; 0: no bound
	Tail        int64     // only the last Tail lines; < 0: no bound, 0 none
	// Partial, with Follow, returns the start of a line that pauses (a progress bar, a
	// prompt) instead of waiting for its end.
	Partial bool
	// Untimed leaves Block.Time unset if finding it is slow.
	Untimed bool
}

// Block is a run of bytes of one stream that arrived together: whole lines, except that the
// last one lacks its newline if Partial is set or if the stream ended without one.
type Block struct {
	Time    time.Time // when the (last) line's end arrived
	Stream  Stream    // Stdout or Stderr; Combined if unknown
	Attempt int
	Data    []byte // valid until the next call of Next
	Partial bool   // the last line continues in a later block of the same stream
	Notice  string // set instead of Data: describes missing output, such as "gap: rotated"
	Skipped int64  // complete lines before this block that FromLine counts but that were trimmed
}

// LogReader reads a replica's log in order.
type LogReader interface {
	// Next returns the next block; io.EOF after the last one. It waits only with Follow.
	Next(ctx context.Context) (Block, error)
	io.Closer
}

// LogCounter is a LogReader whose lines are indexed: it counts and finds them without reading. Its
// methods are called before the first Next.
type LogCounter interface {
	LogReader
	// Count returns what the selected streams and attempts have now.
	Count() (LogCount, error)
	// LinesBefore returns the number of lines whose ends arrived before t.
	LinesBefore(t time.Time) (int64, error)
	// SeekLine continues at a line, counted from 1.
	SeekLine(line int64) error
}

// WaitingLog is a LogReader that may have to wait for the end of others before it follows its log,
// since files and connections are limited.
type WaitingLog interface {
	LogReader
	// Waits reports whether it waits now.
	Waits() bool
}

// LogCount is the size of a log. Lines include unfinished and trimmed ones.
type LogCount struct {
	Lines, Bytes int64
	First, Last  time.Time // when the first and the last known output arrived; zero: none
	Dir          string    // of the last attempt, in which files grow
}

// LogRetainer keeps logs of an app that is deleted.
type LogRetainer interface {
	// RetainableLogs returns the logs that Delete with these options would keep; nil if
	// none. Errors: ErrNotFound.
	RetainableLogs(ctx context.Context, id string, o DeleteOptions) (*RetainedLogs, error)
	// OpenRetainedLogs opens a retained log. Errors: ErrNotFound (role, replica or attempt).
	OpenRetainedLogs(ctx context.Context, l *RetainedLogs, r spec.Replica, o LogOptions) (LogReader, error)
	// FindLogs returns the logs of an app that was removed by other means: those in the folder
	// that its options select, which was submitted in folder cwd; nil if there are none.
	FindLogs(id string, cfg Config, cwd string, roles []spec.RoleStatus) *RetainedLogs
}

// RetainedLogs are kept logs of a removed app.
type RetainedLogs struct {
	Dir    string         `json:"dir"`    // absolute
	Layout string         `json:"layout"` // the backend's name for the structure of Dir
	Roles  []RetainedRole `json:"roles"`
}

// Attempts returns the number of attempts of a replica; ok is false if the app did not have it.
func (k *RetainedLogs) Attempts(r spec.Replica) (n int, ok bool) {
	for _, role := range k.Roles {
		if role.Role == r.Role && r.ID >= 0 && r.ID < len(role.Attempts) {
			return role.Attempts[r.ID], true
		}
	}
	return 0, false
}

// retainedFolder is the folder of a home for logs that outlive their apps.
const retainedFolder = "logs"

// RetainedDir returns an unused folder of a home for the logs of a removed app, whose folder has a
// name. Logs of earlier apps with the same ID may exist.
func RetainedDir(home, name string) string {
	path := filepath.Join(home, retainedFolder, name)
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = filepath.Join(home, retainedFolder, name+"+"+strconv.Itoa(n)) // '+' is in no escaped name
	}
}

// RetainedRole are the logs of one role.
type RetainedRole struct {
	Role     string `json:"role"`
	Attempts []int  `json:"attempts"` // number of attempts, by replica
}
