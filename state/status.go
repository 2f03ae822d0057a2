package state

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// SetStatus implements history.Recorder: it records the app's row, the last attempt of each
// replica and events, all or none. The end of an app also ends its leases. If nothing changes, it
// writes nothing.
func (db *DB) SetStatus(ctx context.Context, backend, id string, s *spec.Status) error {
	var c change
	err := db.read(ctx, "read status of app "+id, func() (err error) {
		c, err = db.difference(ctx, db.sql, backend, id, s)
		return err
	})
	if err != nil || c.empty() {
		return err
	}
	return db.write(ctx, "record status of app "+id, func(tx *sql.Tx) error {
		c, err := db.difference(ctx, tx, backend, id, s)
		if err != nil || c.empty() {
			return err
		}
		return c.apply(ctx, tx)
	})
}

// change is the difference between a new status and the stored one.
type change struct {
	seq      int64
	row      *spec.Status // nil: unchanged; without replicas
	attempts []spec.ReplicaStatus
	events   []history.Event
}

func (c *change) empty() bool {
	return c.row == nil && len(c.attempts) == 0 && len(c.events) == 0
}

func (c *change) apply(ctx context.Context, tx *sql.Tx) error {
	if c.row != nil {
		if err := putStatus(ctx, tx, c.seq, c.row); err != nil {
			return err
		}
		if c.row.State.Terminal() {
			if err := endLeases(ctx, tx, c.seq); err != nil {
				return err
			}
		}
	}
	if err := putAttempts(ctx, tx, c.seq, c.attempts); err != nil {
		return err
	}
	return addEvents(ctx, tx, c.seq, c.events)
}

func (db *DB) difference(
	ctx context.Context, q querier, backend, id string, s *spec.Status,
) (change, error) {
	seq, before, err := queryStatus(ctx, q, backend, id)
	if err != nil {
		return change{}, err
	}
	old, err := queryAttempts(ctx, q, seq)
	if err != nil {
		return change{}, err
	}
	c := change{seq: seq}
	now := db.now()
	c.attempts, c.events = replicaChanges(old, s, now)
	if len(s.Restarts) > 0 {
		restarts, err := newRestarts(ctx, q, seq, s.Restarts)
		if err != nil {
			return change{}, err
		}
		c.events = insertRestarts(c.events, restarts)
	}
	after := mergeStatus(before, rowStatus(s))
	if !reflect.DeepEqual(after, before) {
		c.row = &after
	}
	if after.State == before.State {
		return c, nil
	}
	if after.State.Terminal() && before.State != spec.Running && before.StartedAt == nil &&
		after.StartedAt != nil {
		c.events = append(c.events, history.Event{Time: *after.StartedAt, Kind: history.EventApp, State: spec.Running})
	}
	started := after.StartedAt
	if before.StartedAt != nil { // it runs again
		started = firstStart(s)
	}
	c.events = append(c.events, history.Event{
		Time: eventTime(after.State, started, after.FinishedAt, now), Kind: history.EventApp,
		State: after.State, ExitCode: after.ExitCode, Msg: after.Msg,
	})
	return c, nil
}

// firstStart returns when the first of the replicas that run began, nil if that is unknown.
func firstStart(s *spec.Status) (at *time.Time) {
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			r := &s.Roles[i].Replicas[j]
			if r.State == spec.Running && r.StartedAt != nil &&
				(at == nil || r.StartedAt.Before(*at)) {
				at = r.StartedAt
			}
		}
	}
	return at
}

// replicaChanges compares the replicas of a status with the stored attempts. An earlier attempt
// without a recorded end becomes UNKNOWN.
func replicaChanges(
	old []spec.ReplicaStatus, s *spec.Status, now time.Time,
) ([]spec.ReplicaStatus, []history.Event) {
	seen := slices.Clone(s.Past)
	last := map[spec.Replica]int{}
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			r.Role = role.Role
			seen = append(seen, r)
			last[spec.Replica{Role: r.Role, ID: r.ID}] = r.Attempt
		}
	}
	for _, a := range old {
		n, ok := last[spec.Replica{Role: a.Role, ID: a.ID}]
		if ok && a.Attempt < n && !a.State.Terminal() {
			a.State = spec.Unknown
			seen = append(seen, a)
		}
	}
	changed, news := mergeAttempts(old, seen)
	if s.State.Terminal() && s.FinishedAt != nil && s.FinishedAt.Before(now) {
		now = *s.FinishedAt
	}
	var events []history.Event
	for _, a := range news {
		if a.State == spec.Unknown {
			continue // nothing happened: its end was not seen
		}
		events = append(events, history.Event{
			Time: eventTime(a.State, a.StartedAt, a.FinishedAt, now), Kind: history.EventReplica, State: a.State,
			Role: a.Role, Replica: a.ID, Attempt: a.Attempt, ExitCode: a.ExitCode, Signal: a.Signal, Msg: a.Msg,
		})
	}
	return changed, events
}

// eventTime returns when the change happened, else now.
func eventTime(s spec.State, started, finished *time.Time, now time.Time) time.Time {
	switch {
	case s.Terminal() && finished != nil:
		return *finished
	case s == spec.Running && started != nil:
		return *started
	}
	return now
}

// rowStatus returns the part of a status that is in the app's row, in its stored form.
func rowStatus(s *spec.Status) spec.Status {
	v := spec.Status{
		State: s.State, NumRestarts: s.NumRestarts, Msg: s.Msg, StructuredErrorMsg: s.StructuredErrorMsg,
		UIURL: s.UIURL, ExitCode: s.ExitCode, StartedAt: normalTime(s.StartedAt), FinishedAt: normalTime(s.FinishedAt),
	}
	if f := s.FirstFailure; f != nil {
		v.FirstFailure = &spec.ReplicaStatus{Role: f.Role, ID: f.ID}
	}
	return v
}

// mergeStatus is mergeAttempt for the app's row.
func mergeStatus(old, next spec.Status) spec.Status {
	ended := old.State.Terminal()
	if ended && next.State != old.State {
		return old
	}
	if next.State != old.State {
		old.Msg = "" // the wait reason does not apply to a running app
	}
	return spec.Status{
		State: next.State, NumRestarts: max(old.NumRestarts, next.NumRestarts), Msg: pick(ended, old.Msg, next.Msg),
		StructuredErrorMsg: pickJSON(ended, old.StructuredErrorMsg, next.StructuredErrorMsg),
		UIURL:              pick(ended, old.UIURL, next.UIURL), ExitCode: pick(ended,
			old.ExitCode, next.ExitCode),
		FirstFailure: cmp.Or(old.FirstFailure, next.FirstFailure),
		StartedAt:    pick(ended, old.StartedAt, next.StartedAt), FinishedAt: pick(ended,
			old.FinishedAt, next.FinishedAt),
	}
}

const statusColumns = `state, num_restarts, msg, structured_error, ui_url, exit_code, first_role, first_replica, started_at, finished_at`

func queryStatus(
	ctx context.Context, q querier, backend, id string,
) (seq int64, v spec.Status, err error) {
	var state int64
	var exit, first, started, finished *int64
	var structured, role *string
	row := q.QueryRowContext(ctx, `SELECT seq, `+statusColumns+` FROM apps WHERE id = ? AND backend = ?`, id, backend)
	err = row.Scan(&seq, &state, &v.NumRestarts, &v.Msg, &structured, &v.UIURL, &exit, &role,
		&first, &started, &finished)
	if err != nil {
		return 0, v, notFound(err, backend, id)
	}
	v.State, v.ExitCode, v.StartedAt, v.FinishedAt = stateOf(state), number(exit), timeOf(started), timeOf(finished)
	v.StructuredErrorMsg = raw(structured)
	if role != nil && first != nil {
		v.FirstFailure = &spec.ReplicaStatus{Role: *role, ID: int(*first)}
	}
	return seq, v, nil
}

func putStatus(ctx context.Context, tx *sql.Tx, seq int64, v *spec.Status) error {
	var role, first any
	if f := v.FirstFailure; f != nil {
		role, first = f.Role, f.ID
	}
	_, err := tx.ExecContext(ctx,
		`UPDATE apps SET (`+statusColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE seq = ?`,
		int(v.State), v.NumRestarts, v.Msg, text(v.StructuredErrorMsg), v.UIURL, optional(v.ExitCode),
		role, first, nanos(v.StartedAt), nanos(v.FinishedAt), seq)
	return err
}

// Status implements history.Apps. Roles are in the order of the recorded app.
func (db *DB) Status(ctx context.Context, backend, id string) (*spec.Status, error) {
	a, err := db.Get(ctx, backend, id)
	if err != nil {
		return nil, err
	}
	var s spec.Status
	var attempts []spec.ReplicaStatus
	err = db.read(ctx, "read status of app "+id, func() (err error) {
		var seq int64
		if seq, s, err = queryStatus(ctx, db.sql, backend, id); err != nil {
			return err
		}
		attempts, err = queryAttempts(ctx, db.sql, seq)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Handle, s.SubmittedAt, s.Roles = a.Handle(), a.SubmittedAt, rolesOf(a, attempts)
	if f := s.FirstFailure; f != nil {
		s.FirstFailure = s.Replica(spec.Replica{Role: f.Role, ID: f.ID})
	}
	return &s, nil
}

// rolesOf groups the last attempts by role.
func rolesOf(a history.App, attempts []spec.ReplicaStatus) []spec.RoleStatus {
	roles := []spec.RoleStatus{}
	index := map[string]int{}
	add := func(role string) int {
		if _, ok := index[role]; !ok {
			index[role] = len(roles)
			roles = append(roles, spec.RoleStatus{Role: role, Replicas: []spec.ReplicaStatus{}})
		}
		return index[role]
	}
	var def struct{ Roles []struct{ Name string } }
	if json.Unmarshal(a.Spec, &def) == nil { // if the app is unreadable, roles are in the order of attempts
		for _, r := range def.Roles {
			add(r.Name)
		}
	}
	for i := range attempts {
		r := &roles[add(attempts[i].Role)]
		n := len(r.Replicas)
		if n > 0 && r.Replicas[n-1].ID == attempts[i].ID {
			r.Replicas[n-1] = attempts[i] // a later attempt of the same replica
			continue
		}
		r.Replicas = append(r.Replicas, attempts[i])
	}
	return roles
}
