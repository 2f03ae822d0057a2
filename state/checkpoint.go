package state

import (
	"context"
	"database/sql"
	"time"
)

// Checkpoint is a place in one stream of one attempt's log: when the byte at
// Offset arrived, with Line whole lines before it. Sparse ones let a reader seek
// by time or line.
type Checkpoint struct {
	Role    string
	Replica int
	Attempt int
	Stream  string // "stdout" or "stderr"
	Time    time.Time
	Line    int64
	Offset  int64 // bytes
}

// PutCheckpoints adds checkpoints of an app's logs; one for the same offset
// replaces the old one. Errors: ErrNotFound.
func (db *DB) PutCheckpoints(ctx context.Context, backend, id string, points []Checkpoint) error {
	return db.write(ctx, "record log checkpoints of app "+id, func(tx *sql.Tx) error {
		seq, err := seqOf(ctx, tx, backend, id)
		if err != nil {
			return err
		}
		put, err := tx.PrepareContext(ctx,
			`INSERT OR REPLACE INTO checkpoints (app, role, replica, attempt, stream, offset, line, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, p := range points {
			if _, err := put.ExecContext(ctx, seq, p.Role, p.Replica, p.Attempt, p.Stream, p.Offset, p.Line, p.Time.UnixNano()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Checkpoints returns an app's checkpoints by role, replica, attempt, stream and
// offset. Errors: ErrNotFound.
func (db *DB) Checkpoints(ctx context.Context, backend, id string) ([]Checkpoint, error) {
	var points []Checkpoint
	err := db.read(ctx, "read log checkpoints of app "+id, func() error {
		seq, err := seqOf(ctx, db.sql, backend, id)
		if err != nil {
			return err
		}
		points, err = queryCheckpoints(ctx, db.sql, seq)
		return err
	})
	return points, err
}

func queryCheckpoints(ctx context.Context, q querier, seq int64) ([]Checkpoint, error) {
	rows, err := q.QueryContext(ctx,
		`SELECT role, replica, attempt, stream, offset, line, time FROM checkpoints WHERE app = ?
		ORDER BY role, replica, attempt, stream, offset`, seq)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var points []Checkpoint
	for rows.Next() {
		var p Checkpoint
		var when int64
		if err := rows.Scan(&p.Role, &p.Replica, &p.Attempt, &p.Stream, &p.Offset, &p.Line, &when); err != nil {
			return nil, err
		}
		p.Time = time.Unix(0, when).UTC()
		points = append(points, p)
	}
	return points, rows.Err()
}
