package state

import (
	"context"
	"database/sql"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Reopen implements history.Recorder.
func (db *DB) Reopen(ctx context.Context, backend, id string) error {
	return db.writeApp(ctx, "reopen app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		_, err := tx.ExecContext(ctx, `UPDATE apps SET state = ?, msg = '', exit_code = NULL, first_role = NULL, first_replica = NULL, finished_at = NULL
			WHERE seq = ?`, int(spec.Running), seq)
		if err != nil {
			return err
		}
		return addEvents(ctx, tx, seq, []history.Event{{Time: db.now(), Kind: history.EventApp, State: spec.Running}})
	})
}
