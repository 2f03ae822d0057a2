package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	sqlite3 "modernc.org/sqlite/lib"
)

// errNoWAL means that SQLite silently did not use a WAL, or that the file system does not support
// one.
var errNoWAL = errors.New("the file system has no shared memory")

func noWALNotice(path, why string) string {
	return fmt.Sprintf("the history %s uses a slower journal (%s): set TORCHX_HOME to a folder on a local disk", path, why)
}

// walImpossible reports whether an error means that the file system does not support a WAL.
func walImpossible(err error) bool {
	if errors.Is(err, errNoWAL) {
		return true
	}
	switch codeOf(err) {
	case sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMLOCK:
		return true
	}
	return false
}

// journalExists reports whether a process uses the history with a WAL, or did before a crash: then
// a WAL works here, or the file was moved here.
func journalExists(path string) bool {
	_, err := os.Lstat(path + "-wal")
	return err == nil
}

// leaveWAL changes a WAL database on a file system without shared memory to a rollback journal. A
// connection with exclusive use of the file needs no shared memory for that.
func leaveWAL(ctx context.Context, path string, o Options) (err error) {
	s, err := pool(plainDSN(path, o))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return retry(ctx, o.BusyTimeout, func() error {
		c, err := s.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		return leave(ctx, c)
	})
}

func leave(ctx context.Context, c *sql.Conn) error {
	if _, err := c.ExecContext(ctx, `PRAGMA locking_mode = EXCLUSIVE`); err != nil {
		return err
	}
	var mode string
	if err := c.QueryRowContext(ctx, `PRAGMA journal_mode = TRUNCATE`).Scan(&mode); err != nil {
		return err
	}
	if mode != "truncate" {
		return fmt.Errorf("leave the WAL: journal mode is %s", mode)
	}
	return nil
}
