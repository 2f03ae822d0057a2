package state

import (
	"context"
	"database/sql"
	"slices"
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
			`SELECT time, kind, state, role, replica, attempt, exit_code, signal, msg FROM events WHERE app = ? ORDER BY seq`, seq)
		return err
	})
	orderEvents(events)
	return events, err
}

// orderEvents sorts recorded events by time. Some backends report whole seconds, of another
// clock. So no event is older than the record of the app, and the end of the app not older than
// any. A change of the app or an attempt is not older than the previous one, or than an earlier
// attempt, a restart not older than the end before it. A change of the app within the second in
// which a replica was seen waiting comes after that.
func orderEvents(events []history.Event) {
	var first, newest, waiting time.Time
	changed, ended := map[attemptKey]time.Time{}, map[attemptKey]time.Time{} // those of the app without a role
	latest := map[spec.Replica]attemptKey{}
	for i := range events {
		e := &events[i]
		one, attempt := spec.Replica{Role: e.Role, ID: e.Replica}, attemptKey{e.Role, e.Replica, e.Attempt}
		e.Time = later(e.Time, first)
		switch {
		case e.Kind == history.EventRestart:
			e.Time = later(e.Time, ended[attempt])
		case e.Kind == history.EventApp && e.State.Terminal():
			e.Time = later(e.Time, newest)
			changed[attempt] = e.Time
		case e.Kind == history.EventRecorded:
			first = e.Time
		case e.Kind == history.EventApp || e.Kind == history.EventReplica:
			before, ok := latest[one]
			if ok && before.attempt <= e.Attempt {
				e.Time = later(e.Time, changed[before])
			}
			if !ok || before.attempt < e.Attempt {
				latest[one] = attempt
			}
			if e.Time = later(e.Time, changed[attempt]); e.Kind == history.EventApp &&
				waiting.Sub(e.Time) < time.Second {
				e.Time = later(e.Time, waiting)
			}
			changed[attempt] = e.Time
		}
		if e.State == spec.Pending {
			waiting = later(waiting, e.Time)
		}
		if newest = later(newest, e.Time); e.State.Terminal() {
			ended[attempt] = later(ended[attempt], e.Time)
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return a.Time.Compare(b.Time) })
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func scanEvent(row scanner) (e history.Event, err error) {
	var when, state int64
	var exit *int64
	err = row.Scan(&when, &e.Kind, &state, &e.Role, &e.Replica, &e.Attempt,
		&exit, &e.Signal, &e.Msg)
	e.Time, e.State, e.ExitCode = time.Unix(0, when).UTC(), stateOf(state), number(exit)
	return e, err
}

// newRestarts returns the events of restarts that are not stored yet.
func newRestarts(
	ctx context.Context, q querier, seq int64, restarts []spec.Restart,
) (events []history.Event, err error) {
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

// insertRestarts inserts each restart after the end of the attempt that it follows.
func insertRestarts(events, restarts []history.Event) []history.Event {
	for _, r := range restarts {
		at := len(events)
		for i := range events {
			if e := &events[i]; e.Role == r.Role && e.Replica == r.Replica &&
				e.Attempt == r.Attempt && e.State.Terminal() {
				at = i + 1
			}
		}
		events = slices.Insert(events, at, r)
	}
	return events
}
