package state

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"torchx/runtime/history"
	"torchx/runtime/sweep"
)

// Insert implements history.Apps.
func (db *DB) Insert(ctx context.Context, a history.App) error {
	args, err := json.Marshal(a.Args)
	if err != nil {
		return fmt.Errorf("encode arguments of app %s: %w", a.ID, err)
	}
	submission, err := json.Marshal(a.Submission)
	if err != nil {
		return fmt.Errorf("encode submission of app %s: %w", a.ID, err)
	}
	return db.write(ctx, "record app "+a.ID, func(tx *sql.Tx) error {
		seq, err := insertApp(ctx, tx, &a)
		if err != nil {
			return err
		}
		if err := dropTombstone(ctx, tx, a.Backend, a.ID); err != nil { // the ID now belongs to this app
			return err
		}
		if err := putTags(ctx, tx, seq, a.Tags); err != nil { // first: a trigger of app_details reads them
			return err
		}
		_, err = tx.ExecContext(ctx,
			`INSERT INTO app_details (app, args, cwd, def, cfg, request, modules, getenv, submission) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			seq, string(args), a.Cwd, text(a.Spec), text(a.Cfg), text(a.Request), text(a.Modules), text(a.Getenv), string(submission))
		if err != nil {
			return err
		}
		return addEvents(ctx, tx, seq, []history.Event{{Time: *a.SubmittedAt, Kind: history.EventRecorded, State: a.State, ExitCode: a.ExitCode, Msg: a.Msg}})
	})
}

func insertApp(ctx context.Context, tx *sql.Tx, a *history.App) (seq int64, err error) {
	r, err := tx.ExecContext(ctx,
		`INSERT INTO apps (backend, id, name, component, state, msg, exit_code, num_restarts, submitted_at, started_at, finished_at, submitter, note, parent_run_id, rerun_of)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id, backend) DO NOTHING`,
		a.Backend, a.ID, a.Name, a.Component, int(a.State), a.Msg, optional(a.ExitCode), a.NumRestarts,
		nanos(a.SubmittedAt), nanos(a.StartedAt), nanos(a.FinishedAt), a.Submitter, a.Note, a.ParentRunID, a.RerunOf)
	if err != nil {
		return 0, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return 0, cmp.Or(err, fmt.Errorf("app %s of backend %s: %w", a.ID, a.Backend, history.ErrExists))
	}
	return r.LastInsertId()
}

// optional converts a pointer to a value or NULL.
func optional[T any](n *T) any {
	if n == nil {
		return nil
	}
	return *n
}

// The columns of an App without and with its long texts, in the order of scanApp.
const (
	rowColumns   = `backend, id, name, component, state, msg, exit_code, num_restarts, submitted_at, started_at, finished_at, submitter, note, parent_run_id, rerun_of`
	shortColumns = rowColumns + `, ` + tagsColumn
	longColumns  = shortColumns + `, args, cwd, def, cfg, request, modules, getenv, submission, (SELECT checkout FROM checkouts WHERE checkouts.app = seq)`
	longTables   = `apps JOIN app_details ON app = seq`
	// tagsColumn is a JSON object, NULL without tags.
	tagsColumn = `(SELECT json_group_object(key, value) FROM tags WHERE tags.app = seq HAVING count(*) > 0)`
)

func scanApp(row scanner, long bool) (history.App, error) {
	var a history.App
	var state int64
	var exit, submitted, started, finished *int64
	var args, def, cfg, request, modules, getenv, tags, submission, checkout *string
	dest := []any{&a.Backend, &a.ID, &a.Name, &a.Component, &state, &a.Msg, &exit, &a.NumRestarts, &submitted, &started, &finished, &a.Submitter, &a.Note, &a.ParentRunID, &a.RerunOf, &tags}
	if long {
		dest = append(dest, &args, &a.Cwd, &def, &cfg, &request, &modules, &getenv,
			&submission, &checkout)
	}
	if err := row.Scan(dest...); err != nil {
		return history.App{}, err
	}
	a.State, a.ExitCode = stateOf(state), number(exit)
	a.SubmittedAt, a.StartedAt, a.FinishedAt = timeOf(submitted), timeOf(started), timeOf(finished)
	a.Spec, a.Cfg, a.Request, a.Modules, a.Getenv = raw(def), raw(cfg), raw(request), raw(modules), raw(getenv)
	for _, part := range []struct {
		name string
		text *string
		into any
	}{{"arguments", args, &a.Args}, {"tags", tags, &a.Tags}, {"submission", submission, &a.Submission}, {"checkout", checkout, &a.Checkout}} {
		if part.text == nil {
			continue
		}
		if err := json.Unmarshal([]byte(*part.text), part.into); err != nil {
			return history.App{}, fmt.Errorf("decode %s of app %s: %w", part.name, a.ID, err)
		}
	}
	return a, nil
}

// Get implements history.Apps.
func (db *DB) Get(ctx context.Context, backend, id string) (history.App, error) {
	var a history.App
	err := db.read(ctx, "read app "+id, func() (err error) {
		row := db.sql.QueryRowContext(ctx, `SELECT `+longColumns+` FROM `+longTables+` WHERE id = ? AND backend = ?`, id, backend)
		a, err = scanApp(row, true)
		return notFound(err, backend, id)
	})
	return a, err
}

// Last implements history.Apps. It uses the order of records, not the clock.
func (db *DB) Last(ctx context.Context) (history.App, error) {
	var a history.App
	err := db.read(ctx, "read last app", func() (err error) {
		row := db.sql.QueryRowContext(ctx, `SELECT `+longColumns+` FROM `+longTables+` WHERE seq = (
			SELECT seq FROM apps AS a WHERE backend <> ? AND (parent_run_id = '' OR NOT EXISTS (SELECT 1 FROM tags WHERE app = a.seq AND key = ? AND value = a.parent_run_id))
			ORDER BY seq DESC LIMIT 1)`, history.Imported, sweep.SweepTag)
		a, err = scanApp(row, true)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("no app was submitted from %s yet: %w", db.path, history.ErrNotFound)
		}
		return err
	})
	return a, err
}

// FindPrefix implements history.Apps. If no ID starts with prefix, it searches after a ':', since
// IDs of some backends are NAMESPACE:NAME.
func (db *DB) FindPrefix(ctx context.Context, prefix string) ([]history.App, error) {
	var found []history.App
	err := db.read(ctx, "find app "+prefix, func() (err error) {
		found, err = queryApps(ctx, db.sql, true,
			`SELECT `+longColumns+` FROM `+longTables+` WHERE id = ? ORDER BY seq DESC LIMIT ?`, prefix, history.MaxMatches)
		if err != nil || len(found) > 0 {
			return err
		}
		where, args := prefixRange(`id`, prefix)
		matching := `SELECT ` + longColumns + ` FROM ` + longTables + ` WHERE seq IN (SELECT seq FROM apps WHERE %s LIMIT ?) ORDER BY seq DESC`
		found, err = queryApps(ctx, db.sql, true, fmt.Sprintf(matching, where),
			append(args, history.MaxMatches)...)
		if err != nil || len(found) > 0 || prefix == "" {
			return err
		}
		found, err = queryApps(ctx, db.sql, true, fmt.Sprintf(matching, `instr(id, ?) > 0`),
			":"+prefix, history.MaxMatches)
		return err
	})
	return found, err
}

// prefixRange expresses "column starts with prefix" as a range, so that an index serves it
// and no character of the prefix is special.
func prefixRange(column, prefix string) (where string, args []any) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			after := prefix[:i] + string([]byte{prefix[i] + 1})
			return column + ` >= ? AND ` + column + ` < ?`, []any{prefix, after}
		}
	}
	return column + ` >= ?`, []any{prefix}
}

func queryApps(
	ctx context.Context, q querier, long bool, query string, args ...any,
) ([]history.App, error) {
	return queryAll(ctx, q, func(row scanner) (history.App, error) { return scanApp(row, long) }, query, args...)
}

// Delete implements history.Apps.
func (db *DB) Delete(ctx context.Context, backend, id string) error {
	return db.writeApp(ctx, "delete app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM positions WHERE backend = ? AND id = ?`, backend, id); err != nil {
			return err
		}
		if err := endLeases(ctx, tx, seq); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM apps WHERE seq = ?`, seq) // other tables follow by foreign keys
		return err
	})
}
