package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// view is what an app's row says of its status.
type view struct {
	State                 spec.State
	NumRestarts           int
	Msg                   string
	StructuredErrorMsg    string // JSON, "" for none
	UIURL                 *string
	ExitCode              *int
	FirstRole             *string // the replica that failed first for good
	FirstReplica          *int
	StartedAt, FinishedAt *time.Time
}

// SetStatus records what was seen of an app: its row, the last attempt of each
// replica, and an event for each change, in one transaction; an end also ends the
// app's leases. Seeing the same again writes nothing. An end is never changed to another state: a second look
// may only fill in what the first did not know. Errors: ErrNotFound.
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

// change is what a new status adds to what is stored.
type change struct {
	seq      int64
	row      *view // nil: the row stays
	attempts []spec.ReplicaStatus
	events   []history.Event
}

func (c *change) empty() bool { return c.row == nil && len(c.attempts) == 0 }

func (c *change) apply(ctx context.Context, tx *sql.Tx) error {
	if c.row != nil {
		if err := putView(ctx, tx, c.seq, *c.row); err != nil {
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

func (db *DB) difference(ctx context.Context, q querier, backend, id string, s *spec.Status) (change, error) {
	seq, before, err := queryView(ctx, q, backend, id)
	if err != nil {
		return change{}, err
	}
	old, err := queryAttempts(ctx, q, seq)
	if err != nil {
		return change{}, err
	}
	c := change{seq: seq}
	c.attempts, c.events = db.replicaChanges(old, s)
	after := before.merge(viewOf(s))
	if !reflect.DeepEqual(after, before) {
		c.row = &after
	}
	if after.State != before.State {
		c.events = append(c.events, history.Event{
			Time: db.eventTime(after.State, after.StartedAt, after.FinishedAt), Kind: history.EventApp,
			State: after.State, ExitCode: after.ExitCode, Msg: after.Msg,
		})
	}
	return c, nil
}

// replicaChanges compares the replicas of a status with the stored attempts. An
// earlier attempt that was never seen to end has ended: nobody saw how.
func (db *DB) replicaChanges(old []spec.ReplicaStatus, s *spec.Status) ([]spec.ReplicaStatus, []history.Event) {
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
	events := make([]history.Event, len(news))
	for i, a := range news {
		events[i] = history.Event{
			Time: db.eventTime(a.State, a.StartedAt, a.FinishedAt), Kind: history.EventReplica, State: a.State,
			Role: a.Role, Replica: a.ID, Attempt: a.Attempt, ExitCode: a.ExitCode, Signal: a.Signal, Msg: a.Msg,
		}
	}
	return changed, events
}

// eventTime is when the change happened, else when it was seen.
func (db *DB) eventTime(s spec.State, started, finished *time.Time) time.Time {
	switch {
	case s.Terminal() && finished != nil:
		return *finished
	case s == spec.Running && started != nil:
		return *started
	}
	return db.now()
}

func viewOf(s *spec.Status) view {
	v := view{
		State: s.State, NumRestarts: s.NumRestarts, Msg: s.Msg, StructuredErrorMsg: string(s.StructuredErrorMsg),
		UIURL: s.UIURL, ExitCode: s.ExitCode, StartedAt: normalTime(s.StartedAt), FinishedAt: normalTime(s.FinishedAt),
	}
	if f := s.FirstFailure; f != nil {
		v.FirstRole, v.FirstReplica = &f.Role, &f.ID
	}
	return v
}

// merge is mergeAttempt for the app.
func (v view) merge(next view) view {
	if v.State.Terminal() && next.State != v.State {
		return v
	}
	ended := v.State.Terminal()
	if next.State != v.State {
		v.Msg = "" // why an app waited says nothing about one that runs
	}
	first := v
	if v.FirstRole == nil {
		first = next
	}
	return view{
		State: next.State, NumRestarts: max(v.NumRestarts, next.NumRestarts),
		Msg:                pick(ended, v.Msg, next.Msg),
		StructuredErrorMsg: pick(ended, v.StructuredErrorMsg, next.StructuredErrorMsg),
		UIURL:              pick(ended, v.UIURL, next.UIURL), ExitCode: pick(ended, v.ExitCode, next.ExitCode),
		FirstRole: first.FirstRole, FirstReplica: first.FirstReplica,
		StartedAt: pick(ended, v.StartedAt, next.StartedAt), FinishedAt: pick(ended, v.FinishedAt, next.FinishedAt),
	}
}

func queryView(ctx context.Context, q querier, backend, id string) (int64, view, error) {
	var v view
	var seq, state int64
	var exit, first, started, finished *int64
	var structured *string
	err := q.QueryRowContext(ctx,
		`SELECT seq, state, num_restarts, msg, structured_error, ui_url, exit_code, first_role, first_replica, started_at, finished_at
		FROM apps WHERE id = ? AND backend = ?`, id, backend,
	).Scan(&seq, &state, &v.NumRestarts, &v.Msg, &structured, &v.UIURL, &exit, &v.FirstRole, &first, &started, &finished)
	if err != nil {
		return 0, view{}, notFound(err, backend, id)
	}
	v.State, v.StructuredErrorMsg = stateOf(state), string(raw(structured))
	v.ExitCode, v.FirstReplica, v.StartedAt, v.FinishedAt = number(exit), number(first), timeOf(started), timeOf(finished)
	return seq, v, nil
}

func putView(ctx context.Context, tx *sql.Tx, seq int64, v view) error {
	var structured any
	if v.StructuredErrorMsg != "" {
		structured = v.StructuredErrorMsg
	}
	_, err := tx.ExecContext(ctx,
		`UPDATE apps SET state = ?, num_restarts = ?, msg = ?, structured_error = ?, ui_url = ?, exit_code = ?,
		first_role = ?, first_replica = ?, started_at = ?, finished_at = ? WHERE seq = ?`,
		int(v.State), v.NumRestarts, v.Msg, structured, v.UIURL, optional(v.ExitCode),
		v.FirstRole, optional(v.FirstReplica), nanos(v.StartedAt), nanos(v.FinishedAt), seq)
	return err
}

// Status returns the status as it was last seen, for when the backend cannot
// tell (any more). Roles are in the order of the recorded app. Errors: ErrNotFound.
func (db *DB) Status(ctx context.Context, backend, id string) (*spec.Status, error) {
	a, err := db.Get(ctx, backend, id)
	if err != nil {
		return nil, err
	}
	var v view
	var attempts []spec.ReplicaStatus
	err = db.read(ctx, "read status of app "+id, func() (err error) {
		var seq int64
		if seq, v, err = queryView(ctx, db.sql, backend, id); err != nil {
			return err
		}
		attempts, err = queryAttempts(ctx, db.sql, seq)
		return err
	})
	if err != nil {
		return nil, err
	}
	return v.status(a, attempts), nil
}

func (v view) status(a history.App, attempts []spec.ReplicaStatus) *spec.Status {
	s := &spec.Status{
		Handle: spec.Handle{Backend: a.Backend, Session: spec.Session, AppID: a.ID}.String(),
		State:  v.State, NumRestarts: v.NumRestarts, Msg: v.Msg, UIURL: v.UIURL, ExitCode: v.ExitCode,
		SubmittedAt: &a.SubmittedAt, StartedAt: v.StartedAt, FinishedAt: v.FinishedAt,
	}
	if v.StructuredErrorMsg != "" {
		s.StructuredErrorMsg = json.RawMessage(v.StructuredErrorMsg)
	}
	s.Roles = rolesOf(a, attempts)
	if v.FirstRole != nil && v.FirstReplica != nil {
		s.FirstFailure = s.Replica(spec.Replica{Role: *v.FirstRole, ID: *v.FirstReplica})
	}
	return s
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
	if json.Unmarshal(a.App, &def) == nil { // without a readable app: the order of the attempts
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
