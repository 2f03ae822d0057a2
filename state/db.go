// Package state stores the history of apps in one SQLite file: what was submitted, the last
// known status, attempts, events, log checkpoints and positions of log readers, but never log
// content. The history is an index: the backend is the source of truth about a running app (the
// bundle, for the local one). So every caller must be able to continue when this file is busy,
// damaged or missing.
//
// A DB is safe for concurrent use, and many processes can use one file concurrently.
package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// DefaultBusyTimeout is how long an operation waits for other processes. It is long because two
// hundred concurrent submits have to wait for one another.
const DefaultBusyTimeout = 10 * time.Second

// Options are the options of Open.
type Options struct {
	// Agent accepts a newer schema: an agent may outlive an upgrade.
	Agent bool
	// BusyTimeout is how long to wait for a lock; 0 means DefaultBusyTimeout.
	BusyTimeout time.Duration
	// SetAside renames a corrupt file (see SetAside) and creates a new one. Otherwise a
	// corrupt file is ErrCorrupt.
	SetAside bool
	// NoWAL uses a rollback journal, as on a file system without shared memory.
	NoWAL bool
	// Slow is called before work that takes seconds with many apps; done follows it. It may be nil.
	Slow func(what string) (done func())
	// Now is the clock of events and positions; nil means time.Now.
	Now func() time.Time

	vfs string // SQLite's name of a file system layer; "" is the default
}

var _ history.Store = (*DB)(nil)

// DB is an open history.
type DB struct {
	path     string
	file     fs.FileInfo // identity of the file, to detect a replacement
	sql      *sql.DB
	timeout  time.Duration
	now      func() time.Time
	slow     func(what string) (done func())
	created  bool
	readOnly bool
	aside    string
	setAside bool // Options.SetAside
	notices  []string
}

// Path returns the file's absolute path.
func (db *DB) Path() string { return db.path }

// ReadOnly reports whether the file is read-only: writes return ErrReadOnly.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Notices returns what a user should know about the opened file, one line each.
func (db *DB) Notices() []string { return db.notices }

// Close closes the file. Further calls do nothing.
func (db *DB) Close() error { return db.wrap("close history", db.sql.Close()) }

// maxLeftWAL is the size of the WAL, in bytes, below which the next process reads it faster than
// a checkpoint writes it.
const maxLeftWAL = 512 << 10

// CloseForExit is Close for a process that is about to exit. It skips the checkpoint that SQLite
// makes at the last close, which takes several fsyncs, and leaves it to a later process: the kernel
// releases files and locks, and the WAL has all commits. The DB must not be used afterwards.
func (db *DB) CloseForExit() error {
	wal, err := os.Stat(db.path + "-wal")
	if err != nil || wal.Size() > maxLeftWAL {
		return db.Close()
	}
	return nil
}

// read runs fn, repeatedly while SQLite is busy, and explains its error.
func (db *DB) read(ctx context.Context, op string, fn func() error) error {
	return db.done(ctx, op, retry(ctx, db.timeout, fn))
}

// write runs fn in a transaction that holds the write lock from the start: a transaction that
// first reads and later writes would fail immediately with SQLITE_BUSY_SNAPSHOT.
func (db *DB) write(ctx context.Context, op string, fn func(tx *sql.Tx) error) error {
	if err := db.writable(); err != nil {
		return db.wrap(op, err)
	}
	return db.done(ctx, op, retry(ctx, db.timeout, func() error { return inTx(ctx, db.sql, fn) }))
}

// done explains the error of an operation. Damage that only an operation finds (an inner
// page) would fail every later command: the file is set aside, so that the next Open begins
// a new one.
func (db *DB) done(ctx context.Context, op string, err error) error {
	err = db.wrap(op, err)
	if !db.setAside || !errors.Is(err, ErrCorrupt) {
		return err
	}
	aside, asideErr := SetAside(ctx, db.path, db.now())
	if asideErr != nil || aside == "" {
		return err
	}
	return fmt.Errorf("%s: history %s is %w: it is kept as %s (type the command again: torchx rebuilds the history from the apps' folders)",
		op, db.path, ErrCorrupt, aside)
}

// readApp is read with the key of an app's row. Errors: ErrNotFound.
func (db *DB) readApp(ctx context.Context, op, backend, id string, fn func(seq int64) error) error {
	return db.read(ctx, op, func() error {
		seq, err := seqOf(ctx, db.sql, backend, id)
		if err != nil {
			return err
		}
		return fn(seq)
	})
}

// writeApp is write with the key of an app's row. Errors: ErrNotFound.
func (db *DB) writeApp(
	ctx context.Context, op, backend, id string, fn func(tx *sql.Tx, seq int64) error,
) error {
	return db.write(ctx, op, func(tx *sql.Tx) error {
		seq, err := seqOf(ctx, tx, backend, id)
		if err != nil {
			return err
		}
		return fn(tx, seq)
	})
}

func inTx(ctx context.Context, s *sql.DB, fn func(tx *sql.Tx) error) error {
	tx, err := s.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback() // fn's error is returned
		return err
	}
	return tx.Commit()
}

// writable returns an error if the file is not at its path any more. SQLite does not check and
// would write to the deleted file forever.
func (db *DB) writable() error {
	if db.readOnly {
		return ErrReadOnly
	}
	now, err := os.Stat(db.path)
	if err != nil || !os.SameFile(now, db.file) {
		return ErrMoved
	}
	return nil
}

// seqOf returns the key of an app's row. Errors: ErrNotFound.
func seqOf(ctx context.Context, q querier, backend, id string) (seq int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq FROM apps WHERE id = ? AND backend = ?`, id, backend).Scan(&seq)
	return seq, notFound(err, backend, id)
}

// nanos and timeOf convert between times and unix nanoseconds in columns.
func nanos(t *time.Time) any {
	if t == nil || t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

func timeOf(n *int64) *time.Time {
	if n == nil {
		return nil
	}
	t := time.Unix(0, *n).UTC()
	return &t
}

// text converts JSON to a text or NULL.
func text(raw []byte) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// raw reverses text.
func raw(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// number converts a nullable column to a pointer.
func number(n *int64) *int {
	if n == nil {
		return nil
	}
	i := int(*n)
	return &i
}

func stateOf(n int64) spec.State {
	if n < 0 || n > int64(spec.Unknown) {
		return spec.Unknown // written by a later version
	}
	return spec.State(n)
}
