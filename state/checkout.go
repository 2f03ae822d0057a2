package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"torchx/runtime/history"
)

// SetCheckout implements history.Apps. Apps with the same diff share it.
func (db *DB) SetCheckout(
	ctx context.Context, backend, id string, c history.Checkout, diff []byte,
) error {
	record, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode checkout of app %s: %w", id, err)
	}
	return db.writeApp(ctx, "record checkout of app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		var sum *string
		if diff != nil {
			sum = &c.DiffSum
			if _, err := tx.ExecContext(ctx, `INSERT INTO diffs (sum, data) VALUES (?, ?) ON CONFLICT DO NOTHING`, c.DiffSum, diff); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO checkouts (app, checkout, diff) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, seq, string(record), sum)
		return err
	})
}

// Diff implements history.Apps.
func (db *DB) Diff(ctx context.Context, backend, id string) (diff []byte, err error) {
	err = db.readApp(ctx, "read diff of app "+id, backend, id, func(seq int64) error {
		row := db.sql.QueryRowContext(ctx, `SELECT data FROM checkouts JOIN diffs ON sum = diff WHERE app = ?`, seq)
		if err := row.Scan(&diff); errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("diff of app %s: %w", id, history.ErrNotFound)
		} else if err != nil {
			return err
		}
		return nil
	})
	return diff, err
}
