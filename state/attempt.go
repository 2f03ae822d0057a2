package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"reflect"
	"time"

	"torchx/runtime/spec"
)

// Attempt is one start of one replica.
type Attempt struct {
	Role               string
	Replica            int
	Attempt            int // from 0
	State              spec.State
	ExitCode           *int // 128+n for signal n; nil while it runs
	Signal             string
	Hostname           string
	PID                int
	StartedAt          *time.Time
	FinishedAt         *time.Time
	Msg                string
	StructuredErrorMsg json.RawMessage
	MaxRSSBytes        *int64   // as in spec.ReplicaStatus
	CPUSeconds         *float64 // as in spec.ReplicaStatus
}

type attemptKey struct {
	role             string
	replica, attempt int
}

func (a *Attempt) key() attemptKey { return attemptKey{a.Role, a.Replica, a.Attempt} }

func attemptOf(r spec.ReplicaStatus) Attempt {
	return Attempt{
		Role: r.Role, Replica: r.ID, Attempt: r.Attempt, State: r.State,
		ExitCode: r.ExitCode, Signal: r.Signal, Hostname: r.Hostname, PID: r.PID,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Msg: r.Msg, StructuredErrorMsg: r.StructuredErrorMsg,
		MaxRSSBytes: r.MaxRSSBytes, CPUSeconds: r.CPUSeconds,
	}
}

func (a *Attempt) status() spec.ReplicaStatus {
	return spec.ReplicaStatus{
		Role: a.Role, ID: a.Replica, Attempt: a.Attempt, State: a.State,
		ExitCode: a.ExitCode, Signal: a.Signal, Hostname: a.Hostname, PID: a.PID,
		StartedAt: a.StartedAt, FinishedAt: a.FinishedAt, Msg: a.Msg, StructuredErrorMsg: a.StructuredErrorMsg,
		MaxRSSBytes: a.MaxRSSBytes, CPUSeconds: a.CPUSeconds,
	}
}

// merge returns what is known after seeing next: an end is never undone, and
// what the new view does not know stays.
func (a Attempt) merge(next Attempt) Attempt {
	if a.State.Terminal() && next.State != a.State {
		return a
	}
	ended := a.State.Terminal()
	return Attempt{
		Role: a.Role, Replica: a.Replica, Attempt: a.Attempt, State: next.State,
		ExitCode: pick(ended, a.ExitCode, next.ExitCode), Signal: pickText(ended, a.Signal, next.Signal),
		Hostname: pickText(ended, a.Hostname, next.Hostname), PID: pickNumber(a.PID, next.PID),
		StartedAt: pick(ended, a.StartedAt, next.StartedAt), FinishedAt: pick(ended, a.FinishedAt, next.FinishedAt),
		Msg:                message(ended, a.Msg, next.Msg),
		StructuredErrorMsg: json.RawMessage(pickText(ended, string(a.StructuredErrorMsg), string(next.StructuredErrorMsg))),
		MaxRSSBytes:        pick(ended, a.MaxRSSBytes, next.MaxRSSBytes), CPUSeconds: pick(ended, a.CPUSeconds, next.CPUSeconds),
	}
}

// pick chooses between an old and a new value that may both be missing; keep
// says that the old one wins.
func pick[T any](keep bool, old, next *T) *T {
	if next == nil || keep && old != nil {
		return old
	}
	return next
}

func pickText(keep bool, old, next string) string {
	if next == "" || keep && old != "" {
		return old
	}
	return next
}

// message is pickText for what tells how an attempt stands: until its end that is
// true for as long as it is said ("waits for role db to be ready").
func message(ended bool, old, next string) string {
	if ended {
		return pickText(true, old, next)
	}
	return next
}

func pickNumber(old, next int) int {
	if next == 0 {
		return old
	}
	return next
}

// equal compares what is stored: times by their instant, no text as an empty one.
func (a Attempt) equal(b Attempt) bool {
	return reflect.DeepEqual(a.normal(), b.normal())
}

func (a Attempt) normal() Attempt {
	a.StartedAt, a.FinishedAt = normalTime(a.StartedAt), normalTime(a.FinishedAt)
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

// Attempts returns every attempt known of an app, by role (in name order),
// replica and attempt. Errors: ErrNotFound.
func (db *DB) Attempts(ctx context.Context, backend, id string) ([]Attempt, error) {
	var attempts []Attempt
	err := db.read(ctx, "read attempts of app "+id, func() error {
		seq, err := seqOf(ctx, db.sql, backend, id)
		if err != nil {
			return err
		}
		attempts, err = queryAttempts(ctx, db.sql, seq)
		return err
	})
	return attempts, err
}

// PutAttempts records attempts as they are seen, without events: for a history
// that is filled again. What is known of an ended one stays. Errors: ErrNotFound.
func (db *DB) PutAttempts(ctx context.Context, backend, id string, attempts []Attempt) error {
	return db.write(ctx, "record attempts of app "+id, func(tx *sql.Tx) error {
		seq, err := seqOf(ctx, tx, backend, id)
		if err != nil {
			return err
		}
		old, err := queryAttempts(ctx, tx, seq)
		if err != nil {
			return err
		}
		changed, _ := mergeAttempts(old, attempts)
		return putAttempts(ctx, tx, seq, changed)
	})
}

// mergeAttempts returns the rows that change, and those of them whose change is an event.
func mergeAttempts(old, seen []Attempt) (changed, events []Attempt) {
	known := make(map[attemptKey]Attempt, len(old))
	for _, a := range old {
		known[a.key()] = a
	}
	for _, a := range seen {
		before, ok := known[a.key()]
		after := a
		if ok {
			after = before.merge(a)
		}
		if ok && after.equal(before) {
			continue
		}
		known[a.key()] = after
		changed = append(changed, after)
		if !ok || after.State != before.State {
			events = append(events, after)
		}
	}
	return changed, events
}

const attemptColumns = `role, replica, attempt, state, exit_code, signal, hostname, pid, started_at, finished_at, msg, structured_error, max_rss, cpu_seconds`

func putAttempts(ctx context.Context, tx *sql.Tx, seq int64, attempts []Attempt) error {
	return execAll(ctx, tx, attempts, func(a Attempt) []any {
		return []any{
			seq, a.Role, a.Replica, a.Attempt, int(a.State), optional(a.ExitCode), a.Signal, a.Hostname, a.PID,
			nanos(a.StartedAt), nanos(a.FinishedAt), a.Msg, text(a.normal().StructuredErrorMsg),
			optional(a.MaxRSSBytes), optional(a.CPUSeconds),
		}
	}, `INSERT OR REPLACE INTO attempts (app, `+attemptColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
}

func queryAttempts(ctx context.Context, q querier, seq int64) ([]Attempt, error) {
	return queryAll(ctx, q, scanAttempt, `SELECT `+attemptColumns+` FROM attempts WHERE app = ? ORDER BY role, replica, attempt`, seq)
}

func scanAttempt(row scanner) (a Attempt, err error) {
	var state int64
	var exit, started, finished *int64
	var structured *string
	err = row.Scan(&a.Role, &a.Replica, &a.Attempt, &state, &exit, &a.Signal, &a.Hostname, &a.PID, &started, &finished, &a.Msg, &structured, &a.MaxRSSBytes, &a.CPUSeconds)
	a.State, a.ExitCode, a.StartedAt, a.FinishedAt = stateOf(state), number(exit), timeOf(started), timeOf(finished)
	a.StructuredErrorMsg = raw(structured)
	return a, err
}
