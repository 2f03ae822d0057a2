package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Open opens the history in a file and updates its schema. A missing file is created with its
// folder (modes 0600 and 0700). Errors: ErrNewerSchema, ErrCorrupt, ErrLocked, ErrReadOnly,
// history.ErrFull, ErrUnavailable.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open history %s: %w", path, err)
	}
	o = o.withDefaults()
	db, err := open(ctx, path, o)
	if !errors.Is(err, ErrCorrupt) || !o.SetAside {
		return db, err
	}
	aside, err := SetAside(ctx, path, o.Now())
	if err != nil {
		return nil, err
	}
	if db, err = open(ctx, path, o); err != nil {
		return nil, err
	}
	if aside != "" {
		db.aside = aside
		db.notices = append(db.notices, fmt.Sprintf("the history %s was corrupt: it was renamed to %s and a new one was created", path, aside))
	}
	return db, nil
}

func (o Options) withDefaults() Options {
	if o.BusyTimeout == 0 {
		o.BusyTimeout = DefaultBusyTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Slow == nil {
		o.Slow = func(string) func() { return func() {} }
	}
	return o
}

func open(ctx context.Context, path string, o Options) (*DB, error) {
	const op = "open history"
	if err := prepareFile(path); err != nil {
		return nil, wrapPath(op, path, err)
	}
	db := &DB{path: path, timeout: o.BusyTimeout, now: o.Now, slow: o.Slow, setAside: o.SetAside}
	if !o.NoWAL && networkFS(filepath.Dir(path)) {
		o.NoWAL = true // the locks of a WAL are in shared memory, which machines do not share
		db.notices = append(db.notices, noWALNotice(path, "it is on a network file system"))
	}
	if !o.NoWAL && !journalExists(path) && !canMap(filepath.Dir(path)) {
		o.NoWAL = true // checked before SQLite makes it a WAL database for all processes
		db.notices = append(db.notices, noWALNotice(path, errNoWAL.Error()))
	}
	err := db.connect(ctx, o, dsn(path, o))
	if err != nil {
		err = db.connectOtherwise(ctx, o, err)
	}
	if err != nil {
		return nil, wrapPath(op, path, err)
	}
	if db.file, err = os.Stat(path); err != nil {
		return nil, wrapPath(op, path, errors.Join(ErrMoved, db.sql.Close()))
	}
	return db, nil
}

// connectOtherwise opens a history that cannot be opened with a WAL, or cannot be written. err is
// why the normal way failed.
func (db *DB) connectOtherwise(ctx context.Context, o Options, err error) error {
	if walImpossible(err) && !o.NoWAL {
		o.NoWAL = true
		db.notices = append(db.notices, noWALNotice(db.path, errNoWAL.Error()))
		err = db.connect(ctx, o, dsn(db.path, o))
	}
	if walImpossible(err) {
		if err = leaveWAL(ctx, db.path, o); err == nil {
			err = db.connect(ctx, o, dsn(db.path, o))
		}
	}
	if readOnlyFailure(err) {
		err = db.connectReadOnly(ctx, o, err)
	}
	return err
}

// connect opens this process's only connection and checks the schema. One is enough: statements
// take microseconds, and each connection has to open the file.
func (db *DB) connect(ctx context.Context, o Options, dsn string) error {
	s, err := pool(dsn)
	if err != nil {
		return err
	}
	err = retry(ctx, o.BusyTimeout, func() error {
		if err := db.checkJournal(ctx, s, o); err != nil {
			return err
		}
		db.created, err = migrate(ctx, s, o, db.readOnly)
		return err
	})
	if err != nil {
		_ = s.Close() // the first error is returned
		return err
	}
	db.sql = s
	return nil
}

func pool(dsn string) (*sql.DB, error) {
	registerFunctions()
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	s := sql.OpenDB(c)
	s.SetMaxOpenConns(1)
	return s, nil
}

// checkJournal returns errNoWAL if SQLite could not switch to the WAL: usually it keeps the
// rollback journal without an error.
func (db *DB) checkJournal(ctx context.Context, s *sql.DB, o Options) error {
	if o.NoWAL || db.readOnly {
		return s.PingContext(ctx)
	}
	var mode string
	if err := s.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return errNoWAL
	}
	return nil
}

// connectReadOnly opens a history whose folder is not writable. cause is why the normal way
// failed.
func (db *DB) connectReadOnly(ctx context.Context, o Options, cause error) error {
	info, err := os.Stat(db.path)
	if err != nil || info.Size() == 0 {
		return cause
	}
	db.readOnly = true
	base := "file:" + (&url.URL{Path: filepath.ToSlash(db.path)}).EscapedPath() + "?_error_rc=1&_dqs=0&mode=ro"
	err = db.connect(ctx, o, base)
	if wal, statErr := os.Stat(db.path + "-wal"); err != nil &&
		(statErr != nil || wal.Size() == 0) {
		// SQLite needs its -shm file even to read a WAL database. The WAL is
		// empty and not writable, so the file alone has everything.
		err = db.connect(ctx, o, base+"&immutable=1")
	}
	if err != nil {
		return cause
	}
	db.notices = append(db.notices, fmt.Sprintf("the history %s is not writable: torchx does not record this command", db.path))
	return nil
}

// dsn returns the data source name with the pragmas for every connection of the pool.
func dsn(path string, o Options) string {
	q := plainQuery(o)
	if o.NoWAL {
		q.Set("_journal_mode", "TRUNCATE")
		q.Set("_synchronous", "FULL")
		// With a rollback journal a commit waits for readers and can fail; an exclusive
		// begin waits before anything is done.
		q.Set("_txlock", "exclusive")
	} else {
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "NORMAL") // no fsync per commit; the file cannot be damaged by a power cut
		q.Set("_txlock", "immediate")
	}
	return fileURL(path, q)
}

// plainDSN returns a data source name that does not change the journal.
func plainDSN(path string, o Options) string { return fileURL(path, plainQuery(o)) }

func plainQuery(o Options) url.Values {
	q := url.Values{}
	q.Set("_busy_timeout", strconv.FormatInt(o.BusyTimeout.Milliseconds(), 10))
	q.Set("_foreign_keys", "on")
	q.Set("_error_rc", "1")
	q.Set("_dqs", "0")
	if o.vfs != "" {
		q.Set("vfs", o.vfs)
	}
	return q
}

func fileURL(path string, q url.Values) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

// readOnlyFailure reports whether a history may still be readable: its folder is not writable, or
// a full disk has no space for the -shm file of the first process that opens it.
func readOnlyFailure(err error) bool {
	if errors.Is(err, ErrReadOnly) || codeOf(err) == sqlite3.SQLITE_IOERR_SHMSIZE {
		return true
	}
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

// retry runs fn until it succeeds, fails permanently, or the timeout expires. SQLite's own busy
// timeout does not cover everything: switching to the WAL and its recovery by several processes
// fail immediately with BUSY or PROTOCOL.
func retry(ctx context.Context, timeout time.Duration, fn func() error) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := fn()
		code := codeOf(err) & 0xff
		if code != sqlite3.SQLITE_BUSY && code != sqlite3.SQLITE_PROTOCOL ||
			time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
