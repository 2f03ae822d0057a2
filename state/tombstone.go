package state

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"torchx/runtime/history"
)

// MaxTombstones is how many recent tombstones are kept: a few MB at most.
const MaxTombstones = 10000

const tombstoneColumns = `backend, id, name, state, submitted_at, finished_at, gone_at, command, kept, keep, owner`

// BeginRemoval implements history.Removals.
func (db *DB) BeginRemoval(ctx context.Context, t history.Tombstone) error {
	return db.write(ctx, "record the removal of app "+t.ID, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			`INSERT OR REPLACE INTO tombstones (`+tombstoneColumns+`, app)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT seq FROM apps WHERE id = ?2 AND backend = ?1))`,
			t.Backend, t.ID, t.Name, int(t.State), nanos(t.SubmittedAt), nanos(t.FinishedAt), t.RemovedAt.UnixNano(),
			t.Command, text(t.Kept), t.KeepLogs, t.Owner)
		return err
	})
}

// FinishRemoval implements history.Removals.
func (db *DB) FinishRemoval(ctx context.Context, t history.Tombstone) (existed bool, err error) {
	err = db.write(ctx, "delete app "+t.ID, func(tx *sql.Tx) (err error) {
		if existed, err = deleteRemoved(ctx, tx, &t); err != nil {
			return err
		}
		if err := putTombstone(ctx, tx, &t); err != nil {
			return err
		}
		return dropOldest(ctx, tx)
	})
	return existed, err
}

// deleteRemoved deletes the app's row, or a row that a restored history has of the same app.
func deleteRemoved(
	ctx context.Context, tx *sql.Tx, t *history.Tombstone,
) (existed bool, err error) {
	gone, err := tx.ExecContext(ctx, `DELETE FROM apps WHERE backend = ?1 AND id = ?2 AND (submitted_at = ?3
		OR seq = (SELECT app FROM tombstones WHERE backend = ?1 AND id = ?2))`, t.Backend, t.ID, nanos(t.SubmittedAt))
	if err != nil {
		return false, err
	}
	n, err := gone.RowsAffected()
	if err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM positions WHERE backend = ?1 AND id = ?2
		AND NOT EXISTS (SELECT 1 FROM apps WHERE backend = ?1 AND id = ?2)`, t.Backend, t.ID)
	return n > 0, err
}

// putTombstone stores the tombstone, unless the ID belongs to a later app by now.
func putTombstone(ctx context.Context, tx *sql.Tx, t *history.Tombstone) error {
	_, err := tx.ExecContext(ctx,
		`INSERT OR REPLACE INTO tombstones (`+tombstoneColumns+`, app)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, '', (SELECT app FROM tombstones WHERE backend = ?1 AND id = ?2) WHERE NOT EXISTS (SELECT 1 FROM apps WHERE backend = ?1 AND id = ?2)`,
		t.Backend, t.ID, t.Name, int(t.State), nanos(t.SubmittedAt), nanos(t.FinishedAt), t.RemovedAt.UnixNano(),
		t.Command, text(t.Kept), t.KeepLogs)
	return err
}

func dropOldest(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		`DELETE FROM tombstones WHERE owner = '' AND seq <= (SELECT max(seq) FROM tombstones) - %d`, MaxTombstones))
	return err
}

// AbortRemoval implements history.Removals.
func (db *DB) AbortRemoval(ctx context.Context, backend, id string) error {
	return db.write(ctx, "keep app "+id, func(tx *sql.Tx) error { return dropTombstone(ctx, tx, backend, id) })
}

func dropTombstone(ctx context.Context, tx *sql.Tx, backend, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM tombstones WHERE id = ? AND backend = ?`, id, backend)
	return err
}

// Tombstone implements history.Removals.
func (db *DB) Tombstone(ctx context.Context, backend, id string) (history.Tombstone, error) {
	var t history.Tombstone
	err := db.read(ctx, "find removed app "+id, func() (err error) {
		t, err = scanTombstone(db.sql.QueryRowContext(ctx,
			`SELECT `+tombstoneColumns+` FROM tombstones WHERE id = ? AND backend = ? AND owner = ''`, id, backend))
		return notFound(err, backend, id)
	})
	return t, err
}

// LastRemoved implements history.Removals.
func (db *DB) LastRemoved(ctx context.Context) (history.Tombstone, error) {
	found, err := db.tombstones(ctx, `owner = '' AND app = (SELECT seq FROM sqlite_sequence WHERE name = 'apps')`)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the last app was not removed: %w", history.ErrNotFound)
	}
	if err != nil {
		return history.Tombstone{}, err
	}
	return found[0], nil
}

// FindTombstones implements history.Removals.
func (db *DB) FindTombstones(ctx context.Context, prefix string) ([]history.Tombstone, error) {
	where, args := prefixRange(`id`, prefix)
	return db.tombstones(ctx, `(`+where+`) AND owner = '' ORDER BY seq DESC LIMIT ?`,
		append(args, history.MaxMatches)...)
}

// PendingRemovals implements history.Removals.
func (db *DB) PendingRemovals(ctx context.Context) ([]history.Tombstone, error) {
	return db.tombstones(ctx, `owner <> '' ORDER BY seq`)
}

func (db *DB) tombstones(
	ctx context.Context, where string, args ...any,
) ([]history.Tombstone, error) {
	var found []history.Tombstone
	err := db.read(ctx, "find removed apps", func() (err error) {
		found, err = queryAll(ctx, db.sql, scanTombstone,
			`SELECT `+tombstoneColumns+` FROM tombstones WHERE `+where, args...)
		return err
	})
	return found, err
}

func scanTombstone(row scanner) (t history.Tombstone, err error) {
	var state, gone int64
	var submitted, finished *int64
	var kept *string
	err = row.Scan(&t.Backend, &t.ID, &t.Name, &state, &submitted, &finished, &gone, &t.Command,
		&kept, &t.KeepLogs, &t.Owner)
	t.State, t.SubmittedAt, t.FinishedAt = stateOf(state), timeOf(submitted), timeOf(finished)
	t.RemovedAt, t.Kept = time.Unix(0, gone).UTC(), raw(kept)
	return t, err
}
