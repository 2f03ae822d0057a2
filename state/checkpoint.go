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
		return execAll(ctx, tx, points, func(p Checkpoint) []any {
			return []any{seq, p.Role, p.Replica, p.Attempt, p.Stream, p.Offset, p.Line, p.Time.UnixNano()}
		}, `INSERT OR REPLACE INTO checkpoints (app, role, replica, attempt, stream, offset, line, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
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
	return queryAll(ctx, q, scanCheckpoint,
		`SELECT role, replica, attempt, stream, offset, line, time FROM checkpoints WHERE app = ?
		ORDER BY role, replica, attempt, stream, offset`, seq)
}

func scanCheckpoint(row scanner) (p Checkpoint, err error) {
	var when int64
	err = row.Scan(&p.Role, &p.Replica, &p.Attempt, &p.Stream, &p.Offset, &p.Line, &when)
	p.Time = time.Unix(0, when).UTC()
	return p, err
}
