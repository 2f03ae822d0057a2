// Package state keeps the history of apps in one SQLite file: what was
// submitted, the last status seen, attempts, events, log checkpoints and how far
// each reader of a log has come. Bytes of logs never go in. The history is an
// index: the truth about a running app is with its backend (for the local one in
// its bundle), so every caller must be able to go on when this file is busy,
// damaged or gone.
//
// A DB may be used by several goroutines, and one file by many processes at once.
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

// DefaultBusyTimeout is how long an operation waits for other processes. It is
// long because two hundred submits at once queue up behind one another.
const DefaultBusyTimeout = 10 * time.Second

// Options changes how a database is opened.
type Options struct {
	// Agent never refuses a newer schema: an agent may outlive an upgrade.
	Agent bool
	// BusyTimeout is how long to wait for a lock; 0: DefaultBusyTimeout.
	BusyTimeout time.Duration
	// SetAside keeps a corrupt file aside (see SetAside) and begins a new one.
	// Without it a corrupt file is ErrCorrupt.
	SetAside bool
	// NoWAL uses a rollback journal, as on a file system without shared memory.
	NoWAL bool
	// Now is the clock of events and positions; nil: time.Now.
	Now func() time.Time

	vfs string // SQLite's own name of a file system layer; "" is its default
}

var _ history.Store = (*DB)(nil)

// DB is an open history.
type DB struct {
	path     string
	file     fs.FileInfo // which file it is: to see that it was replaced
	sql      *sql.DB
	timeout  time.Duration
	now      func() time.Time
	created  bool
	readOnly bool
	aside    string
	setAside bool // Options.SetAside
	notices  []string
}

// Path returns the file's absolute path.
func (db *DB) Path() string { return db.path }

// ReadOnly reports whether nothing can be written: writes are ErrReadOnly.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Notices lists what a user should know about how the file was opened, one line each.
func (db *DB) Notices() []string { return db.notices }

// Close releases the file. It may be called twice.
func (db *DB) Close() error { return db.wrap("close history", db.sql.Close()) }

// leaveBelow is the size of the WAL, in bytes, up to which the next opener reads
// it faster than a checkpoint writes it.
const leaveBelow = 512 << 10

// Leave is Close for a process that ends at once. It spares the checkpoint that
// SQLite makes at the last close, several fsyncs, and leaves it to a later one:
// the kernel drops files and locks, and the WAL has what was committed. The DB
// must not be used any more.
func (db *DB) Leave() error {
	wal, err := os.Stat(db.path + "-wal")
	if err != nil || wal.Size() > leaveBelow {
		return db.Close()
	}
	return nil
}

// read runs fn, again if SQLite asks for it, and explains its error.
func (db *DB) read(ctx context.Context, op string, fn func() error) error {
	return db.done(ctx, op, retry(ctx, db.timeout, fn))
}

// write runs fn in one transaction that holds the write lock from its start: a
// transaction that reads first and writes later would fail with
// SQLITE_BUSY_SNAPSHOT at once, without waiting.
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
func (db *DB) writeApp(ctx context.Context, op, backend, id string, fn func(tx *sql.Tx, seq int64) error) error {
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
		_ = tx.Rollback() // the first error is the one to tell
		return err
	}
	return tx.Commit()
}

// writable refuses to write into a file that is no longer at its path. SQLite
// does not look: it would go on writing to the unlinked file for ever.
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

// nanos and timeOf convert between times and the column's unix nanoseconds.
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

// text stores a JSON text or NULL.
func text(raw []byte) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// raw is the reverse of text.
func raw(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// number converts a nullable column to the pointer form of the API.
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
