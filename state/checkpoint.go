package state

import (
	"context"
	"database/sql"
	"time"

	"torchx/runtime/history"
)

// PutCheckpoints implements history.Recorder; it keeps one checkpoint per offset.
func (db *DB) PutCheckpoints(
	ctx context.Context, backend, id string, points []history.Checkpoint,
) error {
	return db.writeApp(ctx, "record log checkpoints of app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		return execAll(ctx, tx, points, func(p history.Checkpoint) []any {
			return []any{seq, p.Role, p.Replica, p.Attempt, p.Stream, p.Offset, p.Line, p.Time.UnixNano()}
		}, `INSERT OR REPLACE INTO checkpoints (app, role, replica, attempt, stream, offset, line, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
	})
}

// Checkpoints returns an app's checkpoints by role, replica, attempt, stream and offset. Errors:
// ErrNotFound.
func (db *DB) Checkpoints(ctx context.Context, backend, id string) ([]history.Checkpoint, error) {
	var points []history.Checkpoint
	err := db.readApp(ctx, "read log checkpoints of app "+id, backend, id, func(seq int64) (err error) {
		points, err = queryAll(ctx, db.sql, scanCheckpoint,
			`SELECT role, replica, attempt, stream, offset, line, time FROM checkpoints WHERE app = ?
			ORDER BY role, replica, attempt, stream, offset`, seq)
		return err
	})
	return points, err
}

func scanCheckpoint(row scanner) (p history.Checkpoint, err error) {
	var when int64
	err = row.Scan(&p.Role, &p.Replica, &p.Attempt, &p.Stream, &p.Offset, &p.Line, &when)
	p.Time = time.Unix(0, when).UTC()
	return p, err
}
