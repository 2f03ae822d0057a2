package state

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// GetPosition implements history.Positions. reader names the reader and the stream, such as
// "log-new/trainer/0/stdout".
func (db *DB) GetPosition(
	ctx context.Context, backend, id, reader string,
) (position string, ok bool, err error) {
	err = db.read(ctx, "read log position of app "+id, func() error {
		err := db.sql.QueryRowContext(ctx,
			`SELECT position FROM positions WHERE backend = ? AND id = ? AND reader = ?`, backend, id, reader).Scan(&position)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		ok = err == nil
		return err
	})
	return position, ok, err
}

// SetPositions implements history.Positions.
func (db *DB) SetPositions(
	ctx context.Context, backend, id string, positions map[string]string,
) error {
	return db.write(ctx, "record log position of app "+id, func(tx *sql.Tx) error {
		readers := slices.Sorted(maps.Keys(positions))
		return execAll(ctx, tx, readers, func(reader string) []any {
			return []any{backend, id, reader, positions[reader], db.now().UnixNano()}
		}, `INSERT OR REPLACE INTO positions (backend, id, reader, position, updated_at) VALUES (?, ?, ?, ?, ?)`)
	})
}
