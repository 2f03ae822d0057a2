package state

import (
	"context"
	"database/sql"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// AddEvents implements history.Apps.
func (db *DB) AddEvents(ctx context.Context, backend, id string, events []history.Event) error {
	return db.writeApp(ctx, "record events of app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		return addEvents(ctx, tx, seq, events)
	})
}

func addEvents(ctx context.Context, tx *sql.Tx, seq int64, events []history.Event) error {
	return execAll(ctx, tx, events, func(e history.Event) []any {
		return []any{seq, e.Time.UnixNano(), string(e.Kind), int(e.State), e.Role, e.Replica, e.Attempt, optional(e.ExitCode), e.Signal, e.Msg}
	}, `INSERT INTO events (app, time, kind, state, role, replica, attempt, exit_code, signal, msg) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
}

// Events implements history.Apps.
func (db *DB) Events(ctx context.Context, backend, id string) ([]history.Event, error) {
	var events []history.Event
	err := db.readApp(ctx, "read events of app "+id, backend, id, func(seq int64) (err error) {
		events, err = queryAll(ctx, db.sql, scanEvent,
			`SELECT time, kind, state, role, replica, attempt, exit_code, signal, msg FROM events WHERE app = ? ORDER BY time, seq`, seq)
		return err
	})
	return events, err
}

func scanEvent(row scanner) (e history.Event, err error) {
	var when, state int64
	var exit *int64
	err = row.Scan(&when, &e.Kind, &state, &e.Role, &e.Replica, &e.Attempt, &exit, &e.Signal, &e.Msg)
	e.Time, e.State, e.ExitCode = time.Unix(0, when).UTC(), stateOf(state), number(exit)
	return e, err
}

// newRestarts returns the events of restarts that are not stored yet.
func newRestarts(ctx context.Context, q querier, seq int64, restarts []spec.Restart) (events []history.Event, err error) {
	if len(restarts) == 0 {
		return nil, nil
	}
	stored, err := queryAll(ctx, q, func(row scanner) (k attemptKey, err error) {
		return k, row.Scan(&k.role, &k.replica, &k.attempt)
	}, `SELECT role, replica, attempt FROM events WHERE app = ? AND kind = ?`, seq, string(history.EventRestart))
	if err != nil {
		return nil, err
	}
	known := map[attemptKey]bool{}
	for _, k := range stored {
		known[k] = true
	}
	for _, r := range restarts {
		if !known[attemptKey{r.Role, r.Replica, r.Attempt}] {
			events = append(events, history.Event{
				Time: r.Time, Kind: history.EventRestart, State: spec.Failed, Role: r.Role, Replica: r.Replica,
				Attempt: r.Attempt, ExitCode: r.ExitCode, Signal: r.Signal, Msg: r.Event(),
			})
		}
	}
	return events, nil
}
