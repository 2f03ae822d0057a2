package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// putWords updates the words of the apps from first to last. A trigger does so for a new app, with
// the same words.
func putWords(ctx context.Context, tx *sql.Tx, first, last int64) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO words (rowid, text)
		SELECT seq, concat_ws(' ', id, name, component, args, note, (SELECT group_concat(key || ' ' || value, ' ') FROM tags WHERE app = seq))
		FROM apps JOIN app_details ON app = seq WHERE seq BETWEEN ? AND ?`, first, last)
	return err
}

// wordsBatch is the number of apps whose words one transaction adds: other processes wait for it.
const wordsBatch = 5000

// completeWords adds the words of apps that an earlier version recorded, before the first search.
// If it is interrupted, the next search continues.
func (db *DB) completeWords(ctx context.Context) error {
	missing, err := db.missingWords(ctx)
	if err != nil || missing == 0 || db.readOnly {
		return err
	}
	defer db.slow(fmt.Sprintf("preparing the first search of %d apps", missing))()
	for missing > 0 {
		err := db.write(ctx, "add words of apps", func(tx *sql.Tx) (err error) {
			// Another process may have added some.
			if missing, err = queryMissing(ctx, tx); err != nil || missing == 0 {
				return err
			}
			first := max(missing-wordsBatch, 0)
			if err := putWords(ctx, tx, first+1, missing); err != nil {
				return err
			}
			missing = first
			if first == 0 {
				_, err = tx.ExecContext(ctx, `DELETE FROM words_missing`)
			} else {
				_, err = tx.ExecContext(ctx, `UPDATE words_missing SET seq = ?`, first)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// missingWords returns the last app whose words are missing, 0 for none.
func (db *DB) missingWords(ctx context.Context) (seq int64, err error) {
	err = db.read(ctx, "read words", func() (err error) {
		seq, err = queryMissing(ctx, db.sql)
		return err
	})
	return seq, err
}

func queryMissing(ctx context.Context, q querier) (seq int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq FROM words_missing`).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, err
}
