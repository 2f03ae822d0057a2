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

// Open opens the history in the file path, which is created with its folder
// (0600 and 0700) when missing, and brings its schema up to date.
// Errors: ErrNewerSchema, ErrCorrupt, ErrLocked, ErrReadOnly, ErrFull, ErrUnavailable.
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
		db.notices = append(db.notices, fmt.Sprintf("the history %s was corrupt: it is kept as %s and a new one was begun", path, aside))
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
	return o
}

func open(ctx context.Context, path string, o Options) (*DB, error) {
	const op = "open history"
	if err := prepareFile(path); err != nil {
		return nil, wrapPath(op, path, err)
	}
	db := &DB{path: path, timeout: o.BusyTimeout, now: o.Now, setAside: o.SetAside}
	if !o.NoWAL && networkFS(filepath.Dir(path)) {
		o.NoWAL = true // locks of a WAL live in shared memory, which two machines do not share
		db.notices = append(db.notices, noWALNotice(path, "it is on a network file system"))
	}
	if !o.NoWAL && !journalExists(path) && !canMap(filepath.Dir(path)) {
		o.NoWAL = true // found out before SQLite makes it a WAL database for everybody
		db.notices = append(db.notices, noWALNotice(path, errNoWAL.Error()))
	}
	err := db.connect(ctx, o, dsn(path, o))
	if walImpossible(err) && !o.NoWAL {
		o.NoWAL = true
		db.notices = append(db.notices, noWALNotice(path, errNoWAL.Error()))
		err = db.connect(ctx, o, dsn(path, o))
	}
	if walImpossible(err) {
		if err = leaveWAL(ctx, path, o); err == nil {
			err = db.connect(ctx, o, dsn(path, o))
		}
	}
	if readOnlyFailure(err) {
		err = db.connectReadOnly(ctx, o, err)
	}
	if err != nil {
		return nil, wrapPath(op, path, err)
	}
	if db.file, err = os.Stat(path); err != nil {
		return nil, wrapPath(op, path, errors.Join(ErrMoved, db.sql.Close()))
	}
	return db, nil
}

// connect opens the one connection of this process and checks the schema. One
// is enough: statements take microseconds, and each connection costs an open.
func (db *DB) connect(ctx context.Context, o Options, dsn string) error {
	s, err := pool(dsn)
	if err != nil {
		return err
	}
	err = retry(ctx, o.BusyTimeout, func() error {
		if err := db.checkJournal(ctx, s, o); err != nil {
			return err
		}
		db.created, err = migrate(ctx, s, o.Agent, db.readOnly)
		return err
	})
	if err != nil {
		_ = s.Close() // the first error is the one to tell
		return err
	}
	db.sql = s
	return nil
}

func pool(dsn string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	s := sql.OpenDB(c)
	s.SetMaxOpenConns(1)
	return s, nil
}

// checkJournal sees whether SQLite could switch to the WAL: where it cannot, it
// mostly stays with the old journal without an error.
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

// connectReadOnly is for a folder that cannot be written: the history can
// still be read. cause is why the normal way failed.
func (db *DB) connectReadOnly(ctx context.Context, o Options, cause error) error {
	info, err := os.Stat(db.path)
	if err != nil || info.Size() == 0 {
		return cause
	}
	db.readOnly = true
	base := "file:" + (&url.URL{Path: filepath.ToSlash(db.path)}).EscapedPath() + "?_error_rc=1&_dqs=0&mode=ro"
	err = db.connect(ctx, o, base)
	if wal, statErr := os.Stat(db.path + "-wal"); err != nil && (statErr != nil || wal.Size() == 0) {
		// SQLite needs its -shm file even to read a WAL database; nothing is
		// in the WAL and nothing can be written, so the file alone has everything.
		err = db.connect(ctx, o, base+"&immutable=1")
	}
	if err != nil {
		return cause
	}
	db.notices = append(db.notices, fmt.Sprintf("the history %s cannot be written: what happens now is not recorded in it", db.path))
	return nil
}

// dsn names the file and the pragmas, which every connection of the pool gets.
func dsn(path string, o Options) string {
	q := plainQuery(o)
	if o.NoWAL {
		q.Set("_journal_mode", "TRUNCATE")
		q.Set("_synchronous", "FULL")
		// With a rollback journal a commit waits for readers and can fail; an
		// exclusive begin waits before anything was done.
		q.Set("_txlock", "exclusive")
	} else {
		q.Set("_journal_mode", "WAL")
		q.Set("_synchronous", "NORMAL") // no fsync per commit; the file cannot be damaged by a power cut
		q.Set("_txlock", "immediate")
	}
	return fileURL(path, q)
}

// plainDSN leaves the journal as it is.
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

func readOnlyFailure(err error) bool {
	if errors.Is(err, ErrReadOnly) {
		return true
	}
	switch codeOf(err) & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

// retry runs fn until it succeeds, fails for good, or the timeout is over.
// SQLite's own busy timeout does not cover everything: switching to the WAL and
// its recovery by several processes at once fail with BUSY or PROTOCOL directly.
func retry(ctx context.Context, timeout time.Duration, fn func() error) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := fn()
		code := codeOf(err) & 0xff
		if code != sqlite3.SQLITE_BUSY && code != sqlite3.SQLITE_PROTOCOL || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
