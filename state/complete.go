package state

import (
	"context"
	"database/sql"
	"strconv"
)

// completeMark ("txhi") is the application_id of a history that has all earlier apps. It is in
// the file itself: a process that creates a history, even an agent, can be killed before it has
// restored all apps.
const completeMark = 0x74786869

// Complete implements history.Store.
func (db *DB) Complete(ctx context.Context) (bool, error) {
	var mark int
	err := db.read(ctx, "read history", func() error {
		return db.sql.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&mark)
	})
	return mark == completeMark, err
}

// SetComplete implements history.Store.
func (db *DB) SetComplete(ctx context.Context) error {
	return db.write(ctx, "complete history", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `PRAGMA application_id = `+strconv.Itoa(completeMark)) // pragmas take no parameters
		return err
	})
}
