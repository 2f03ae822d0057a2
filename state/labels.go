package state

import (
	"context"
	"database/sql"
	"encoding/json"

	"torchx/runtime/history"
)

// SetLabels implements history.Apps.
func (db *DB) SetLabels(
	ctx context.Context, backend, id string, c history.LabelChange,
) (labels history.Labels, err error) {
	err = db.writeApp(ctx, "label app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		for _, key := range c.Remove {
			if _, err := tx.ExecContext(ctx, `DELETE FROM tags WHERE app = ? AND key = ?`, seq, key); err != nil {
				return err
			}
		}
		if err := putTags(ctx, tx, seq, c.Set); err != nil {
			return err
		}
		if c.Note != nil {
			if _, err := tx.ExecContext(ctx, `UPDATE apps SET note = ? WHERE seq = ?`, *c.Note, seq); err != nil {
				return err
			}
		}
		if err := putWords(ctx, tx, seq, seq); err != nil {
			return err
		}
		labels, err = queryLabels(ctx, tx, seq)
		return err
	})
	return labels, err
}

func putTags(ctx context.Context, tx *sql.Tx, seq int64, tags map[string]string) error {
	for key, value := range tags {
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO tags (app, key, value) VALUES (?, ?, ?)`, seq, key, value); err != nil {
			return err
		}
	}
	return nil
}

func queryLabels(ctx context.Context, q querier, seq int64) (labels history.Labels, err error) {
	var tags *string
	if err := q.QueryRowContext(ctx, `SELECT note, `+tagsColumn+` FROM apps WHERE seq = ?`, seq).Scan(&labels.Note, &tags); err != nil {
		return labels, err
	}
	if tags != nil {
		err = json.Unmarshal([]byte(*tags), &labels.Tags)
	}
	return labels, err
}
