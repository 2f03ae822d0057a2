package state

import (
	"context"
	"database/sql"
	"time"

	"torchx/runtime/spec"
)

// EventKind says what an event is about.
type EventKind string

// The kinds that this package and package runner write.
const (
	EventRecorded EventKind = "recorded" // the app's record was made
	EventApp      EventKind = "app"      // the app's state changed
	EventReplica  EventKind = "replica"  // a replica's state or attempt changed
	EventMissing  EventKind = "missing"  // its backend was first seen to have lost the ended app
)

// Event is something that happened to an app.
type Event struct {
	Time     time.Time
	Kind     EventKind
	State    spec.State // of the app or replica after it
	Role     string     // "": the whole app; else one replica's role
	Replica  int
	Attempt  int
	ExitCode *int
	Signal   string
	Msg      string
}

// AddEvents appends events of an app. Errors: ErrNotFound.
func (db *DB) AddEvents(ctx context.Context, backend, id string, events []Event) error {
	return db.write(ctx, "record events of app "+id, func(tx *sql.Tx) error {
		seq, err := seqOf(ctx, tx, backend, id)
		if err != nil {
			return err
		}
		return addEvents(ctx, tx, seq, events)
	})
}

func addEvents(ctx context.Context, tx *sql.Tx, seq int64, events []Event) error {
	return execAll(ctx, tx, events, func(e Event) []any {
		return []any{seq, e.Time.UnixNano(), string(e.Kind), int(e.State), e.Role, e.Replica, e.Attempt, optional(e.ExitCode), e.Signal, e.Msg}
	}, `INSERT INTO events (app, time, kind, state, role, replica, attempt, exit_code, signal, msg) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
}

// Events returns an app's events in the order they were recorded. Errors: ErrNotFound.
func (db *DB) Events(ctx context.Context, backend, id string) ([]Event, error) {
	var events []Event
	err := db.read(ctx, "read events of app "+id, func() error {
		seq, err := seqOf(ctx, db.sql, backend, id)
		if err != nil {
			return err
		}
		events, err = queryEvents(ctx, db.sql, seq)
		return err
	})
	return events, err
}

func queryEvents(ctx context.Context, q querier, seq int64) ([]Event, error) {
	return queryAll(ctx, q, scanEvent,
		`SELECT time, kind, state, role, replica, attempt, exit_code, signal, msg FROM events WHERE app = ? ORDER BY seq`, seq)
}

func scanEvent(row scanner) (e Event, err error) {
	var when, state int64
	var exit *int64
	err = row.Scan(&when, &e.Kind, &state, &e.Role, &e.Replica, &e.Attempt, &exit, &e.Signal, &e.Msg)
	e.Time, e.State, e.ExitCode = time.Unix(0, when).UTC(), stateOf(state), number(exit)
	return e, err
}
