package state

import (
	"context"
	"database/sql"
	"strconv"
)

// completeMark is the application_id of a history that has all the apps there
// were when it was begun ("txhi"). It is in the file itself: a process that begins a new
// one, an agent too, can be killed before it is filled.
const completeMark = 0x74786869

// Complete implements history.Store.
func (db *DB) Complete(ctx context.Context) (bool, error) {
	var mark int
	err := db.read(ctx, "look at history", func() error {
		return db.sql.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&mark)
	})
	return mark == completeMark, err
}

// SetComplete implements history.Store.
func (db *DB) SetComplete(ctx context.Context) error {
	return db.write(ctx, "complete history", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `PRAGMA application_id = `+strconv.Itoa(completeMark)) // takes no parameters
		return err
	})
}
