package state

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"time"

	"torchx/runtime/spec"
)

type attemptKey struct {
	role             string
	replica, attempt int
}

func keyOf(a *spec.ReplicaStatus) attemptKey { return attemptKey{a.Role, a.ID, a.Attempt} }

// mergeAttempt returns an attempt updated by next: a result is final, and values missing in next
// are kept.
func mergeAttempt(old, next spec.ReplicaStatus) spec.ReplicaStatus {
	ended := old.State.Terminal()
	if ended && next.State != old.State {
		return old
	}
	merged := spec.ReplicaStatus{
		Role: old.Role, ID: old.ID, Attempt: old.Attempt, State: next.State, PID: pick(false, old.PID, next.PID),
		ExitCode: pick(ended, old.ExitCode, next.ExitCode), Signal: pick(ended,
			old.Signal, next.Signal),
		Hostname: pick(ended, old.Hostname, next.Hostname), Msg: next.Msg,
		Pod: pick(ended, old.Pod, next.Pod), Node: pick(ended, old.Node, next.Node),
		StartedAt: pick(ended, old.StartedAt, next.StartedAt), FinishedAt: pick(ended,
			old.FinishedAt, next.FinishedAt),
		StructuredErrorMsg: pickJSON(ended, old.StructuredErrorMsg, next.StructuredErrorMsg),
		MaxRSSBytes:        pick(ended, old.MaxRSSBytes, next.MaxRSSBytes), CPUSeconds: pick(ended,
			old.CPUSeconds, next.CPUSeconds),
	}
	if ended { // a message of a live attempt is valid only while it is repeated
		merged.Msg = cmp.Or(old.Msg, next.Msg)
	}
	return merged
}

// pick chooses between two values, each of which may be missing (zero); keep prefers the old
// one.
func pick[T comparable](keep bool, old, next T) T {
	if keep {
		return cmp.Or(old, next)
	}
	return cmp.Or(next, old)
}

// pickJSON is pick for JSON texts; nil means missing.
func pickJSON(keep bool, old, next json.RawMessage) json.RawMessage {
	if picked := pick(keep, string(old), string(next)); picked != "" {
		return json.RawMessage(picked)
	}
	return nil
}

// normalAttempt returns an attempt in its stored form, so that equal ones compare equal.
func normalAttempt(a spec.ReplicaStatus) spec.ReplicaStatus {
	a.StartedAt, a.FinishedAt, a.Devices, a.MaxRSSSource = normalTime(a.StartedAt), normalTime(a.FinishedAt), nil, ""
	if len(a.StructuredErrorMsg) == 0 {
		a.StructuredErrorMsg = nil
	}
	return a
}

func normalTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	n := t.UnixNano()
	return timeOf(&n)
}

// Attempts returns all known attempts of an app, by role (in name order), replica and attempt.
// Errors: ErrNotFound.
func (db *DB) Attempts(
	ctx context.Context, backend, id string,
) (attempts []spec.ReplicaStatus, err error) {
	err = db.readApp(ctx, "read attempts of app "+id, backend, id, func(seq int64) (err error) {
		attempts, err = queryAttempts(ctx, db.sql, seq)
		return err
	})
	return attempts, err
}

// mergeAttempts returns the changed rows, and the changes that are events. An attempt that was
// first seen after its end has an event for its start, too.
func mergeAttempts(old, seen []spec.ReplicaStatus) (changed, events []spec.ReplicaStatus) {
	known := make(map[attemptKey]spec.ReplicaStatus, len(old))
	for _, a := range old {
		known[keyOf(&a)] = a
	}
	for _, a := range seen {
		before, ok := known[keyOf(&a)]
		after := normalAttempt(a)
		if ok {
			after = normalAttempt(mergeAttempt(before, a))
		}
		if ok && reflect.DeepEqual(after, normalAttempt(before)) {
			continue
		}
		known[keyOf(&a)] = after
		changed = append(changed, after)
		if ok && (after.State == before.State || after.State == spec.Pending && before.StartedAt != nil) {
			continue // what replaces an attempt that has begun is the next one
		}
		if after.State.Terminal() && before.State != spec.Running && before.StartedAt == nil &&
			after.StartedAt != nil {
			events = append(events, spec.ReplicaStatus{
				Role: after.Role, ID: after.ID, Attempt: after.Attempt, State: spec.Running, StartedAt: after.StartedAt,
			})
		}
		events = append(events, after)
	}
	return changed, events
}

const attemptColumns = `role, replica, attempt, state, exit_code, signal, hostname, pid, started_at, finished_at, msg, structured_error, max_rss, cpu_seconds, pod, node`

func putAttempts(ctx context.Context, tx *sql.Tx, seq int64, attempts []spec.ReplicaStatus) error {
	return execAll(ctx, tx, attempts, func(a spec.ReplicaStatus) []any {
		return []any{
			seq, a.Role, a.ID, a.Attempt, int(a.State), optional(a.ExitCode), a.Signal, a.Hostname, a.PID,
			nanos(a.StartedAt), nanos(a.FinishedAt), a.Msg, text(a.StructuredErrorMsg),
			optional(a.MaxRSSBytes), optional(a.CPUSeconds), a.Pod, a.Node,
		}
	}, `INSERT OR REPLACE INTO attempts (app, `+attemptColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
}

func queryAttempts(ctx context.Context, q querier, seq int64) ([]spec.ReplicaStatus, error) {
	return queryAll(ctx, q, scanAttempt, `SELECT `+attemptColumns+` FROM attempts WHERE app = ? ORDER BY role, replica, attempt`, seq)
}

func scanAttempt(row scanner) (a spec.ReplicaStatus, err error) {
	var state int64
	var exit, started, finished *int64
	var structured *string
	err = row.Scan(&a.Role, &a.ID, &a.Attempt, &state, &exit, &a.Signal, &a.Hostname, &a.PID,
		&started, &finished, &a.Msg, &structured, &a.MaxRSSBytes, &a.CPUSeconds, &a.Pod, &a.Node)
	a.State, a.ExitCode, a.StartedAt, a.FinishedAt = stateOf(state), number(exit), timeOf(started), timeOf(finished)
	a.StructuredErrorMsg = raw(structured)
	return a, err
}
