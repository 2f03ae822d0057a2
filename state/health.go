package state

import (
	"context"
	"fmt"
	"os"
)

// Health is the result of Check.
type Health struct {
	Apps    int
	Bytes   int64  // size of the file and its journal
	Journal string // SQLite's journal mode: "wal", or "truncate" if a WAL does not work
}

// Check reads the whole file, which is slow for a large one: bound it with ctx. Errors:
// ErrCorrupt, and those of ctx.
func (db *DB) Check(ctx context.Context) (h Health, err error) {
	err = db.read(ctx, "check history", func() error {
		if err := db.sql.QueryRowContext(ctx, `SELECT count(*) FROM apps`).Scan(&h.Apps); err != nil {
			return err
		}
		if err := db.sql.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&h.Journal); err != nil {
			return err
		}
		var found string
		if err := db.sql.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			return fmt.Errorf("%s: %w", found, ErrCorrupt)
		}
		return nil
	})
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if info, statErr := os.Stat(db.path + suffix); statErr == nil {
			h.Bytes += info.Size()
		}
	}
	return h, err
}
