package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"torchx/runtime/history"
)

// Errors that callers distinguish with errors.Is, besides those of package history. Every error
// of this package is one line that says what failed, in which file, and what to do.
var (
	ErrNewerSchema = errors.New("newer schema")     // written by a later major version
	ErrCorrupt     = errors.New("corrupt")          // SetAside renames the file
	ErrLocked      = errors.New("locked")           // another process held the lock for BusyTimeout
	ErrReadOnly    = errors.New("read-only")        // file or folder cannot be written
	ErrMoved       = errors.New("moved or deleted") // while it was open; Open it again
	ErrUnavailable = errors.New("unusable")         // all other failures of file and folder
)

// advice is the remedy for each kind of failure.
var advice = map[error]string{
	ErrLocked:       "another process holds the lock: wait for it, or find it with `fuser` or `lsof`",
	ErrCorrupt:      "run `torchx list`: it renames the file and rebuilds the history from the apps' folders",
	ErrReadOnly:     "make it writable, or set TORCHX_HOME to a writable folder",
	history.ErrFull: "free some space, for example with `torchx delete` of old apps",
	ErrUnavailable:  "check the folder, or set TORCHX_HOME to one on a local disk",
	ErrMoved:        "the file at this path is not the opened file any more",
}

// dbError is a failure of the database file.
type dbError struct {
	op, path string
	kind     error // a sentinel, nil for an unexpected failure
	err      error
}

// Error returns the failure in one line.
func (e *dbError) Error() string {
	cause := strings.ReplaceAll(e.err.Error(), "\n", " ")
	if e.kind == nil {
		return fmt.Sprintf("%s in %s: %s", e.op, e.path, cause)
	}
	what := fmt.Sprintf("%s is %v", e.path, e.kind)
	if errors.Is(e.kind, history.ErrFull) {
		what = fmt.Sprintf("%v for %s", e.kind, e.path)
	}
	if cause == e.kind.Error() { // the cause adds nothing
		return fmt.Sprintf("%s: %s: %s", e.op, what, advice[e.kind])
	}
	return fmt.Sprintf("%s: %s: %s (%s)", e.op, what, advice[e.kind], cause)
}

// Unwrap exposes the sentinel and the driver's error to errors.Is.
func (e *dbError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.err}
	}
	return []error{e.kind, e.err}
}

// wrap adds operation and file to an error of the driver. Errors that are already complete (those
// of this package and of a context) do not get the file.
func (db *DB) wrap(op string, err error) error { return wrapPath(op, db.path, err) }

func wrapPath(op, path string, err error) error {
	var done *dbError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, history.ErrNotFound), errors.Is(err, history.ErrExists), errors.Is(err, ErrNewerSchema):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", op, err)
	}
	return &dbError{op: op, path: path, kind: kindOf(err), err: err}
}

// kindOf maps SQLite's result codes (https://www.sqlite.org/rescode.html) to sentinels.
func kindOf(err error) error {
	for kind := range advice {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch code := codeOf(err); code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return ErrLocked
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return ErrReadOnly
	case sqlite3.SQLITE_FULL:
		return history.ErrFull
	case sqlite3.SQLITE_CANTOPEN:
		return ErrUnavailable
	case sqlite3.SQLITE_IOERR:
		if code == sqlite3.SQLITE_IOERR_SHMSIZE { // the shared index could not be extended
			return history.ErrFull
		}
		return ErrUnavailable
	}
	return nil
}

// codeOf returns SQLite's extended result code, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// notFound converts sql.ErrNoRows to ErrNotFound and names the app.
func notFound(err error, backend, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("app %s of backend %s: %w", id, backend, history.ErrNotFound)
	}
	return err
}
