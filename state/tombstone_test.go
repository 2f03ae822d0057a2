package state

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func tombstone(id string) history.Tombstone {
	return history.Tombstone{
		AppKey:      history.AppKey{Backend: "local", ID: id},
		Name:        "n",
		State:       spec.Failed,
		SubmittedAt: new(clock),
		FinishedAt:  new(clock.Add(time.Second)),
		RemovedAt:   clock.Add(time.Hour),
		Command:     "prune",
		Kept:        []byte(`{"dir":"/x"}`),
		KeepLogs:    true,
		Owner:       "1:2:b",
	}
}

func TestFinishRemoval(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"), fullApp("b"))
	want := tombstone("a")
	if err := errors.Join(db.BeginRemoval(ctx, want), db.SetPositions(ctx, "local", "a", map[string]string{"me": "1"})); err != nil {
		t.Fatal(err)
	}
	if got, err := db.PendingRemovals(ctx); err != nil || !reflect.DeepEqual(got, []history.Tombstone{want}) {
		t.Errorf("pending removals: got %+v, %v, want the app", got, err)
	}
	if _, err := db.Tombstone(ctx, "local", "a"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("tombstone during the removal: got %v, want not found", err)
	}
	if _, err := db.Get(ctx, "local", "a"); err != nil {
		t.Errorf("record during the removal: got %v, want it", err)
	}
	if known, err := db.FinishRemoval(ctx, want); !known || err != nil {
		t.Fatalf("FinishRemoval: got %v, %v, want true", known, err)
	}
	want.Owner = ""
	if got, err := db.Tombstone(ctx, "local", "a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
	if got, err := db.FindTombstones(ctx, ""); err != nil || len(got) != 1 {
		t.Errorf("FindTombstones: got %+v, %v, want one", got, err)
	}
	if _, ok, err := db.GetPosition(ctx, "local", "a", "me"); ok || err != nil {
		t.Errorf("position: got one, %v, want none", err)
	}
	if apps, err := db.List(ctx, history.Filter{}); err != nil || ids(apps) != "b" {
		t.Errorf("list: got %q, %v, want b", ids(apps), err)
	}
	if known, err := db.FinishRemoval(ctx, want); known || err != nil {
		t.Errorf("second FinishRemoval: got %v, %v, want false", known, err)
	}

	mustInsert(t, db, fullApp("a")) // the ID is reused
	if got, err := db.FindTombstones(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("tombstones of the new app: got %+v, %v, want none", got, err)
	}
}

// A removal that finishes late must not affect a later app with the same ID.
func TestFinishRemovalSparesLaterApp(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"))
	first := tombstone("a")
	first.SubmittedAt = new(clock.Add(time.Millisecond)) // as reported by the backend
	if _, err := db.FinishRemoval(ctx, first); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Get(ctx, "local", "a"); err != nil {
		t.Errorf("an app without BeginRemoval: got %v, want it kept", err)
	}
	if got, err := db.FindTombstones(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("a live app: got tombstones %+v, %v, want none", got, err)
	}
	if err := errors.Join(db.BeginRemoval(ctx, first), db.Delete(ctx, "local", "a")); err != nil {
		t.Fatal(err)
	}
	later := fullApp("a")
	later.SubmittedAt = new(clock.Add(time.Hour))
	mustInsert(t, db, later)
	if known, err := db.FinishRemoval(ctx, first); known || err != nil {
		t.Errorf("FinishRemoval: got %v, %v, want false", known, err)
	}
	if got, err := db.Get(ctx, "local", "a"); err != nil || !got.SubmittedAt.Equal(*later.SubmittedAt) {
		t.Errorf("later app: got %+v, %v, want it kept", got, err)
	}
}

// The row of an app that was half deleted and then restored is deleted as well.
func TestFinishRemovalOfRestoredApp(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	if err := db.BeginRemoval(ctx, tombstone("a")); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, SubmittedAt: new(clock)})
	if known, err := db.FinishRemoval(ctx, tombstone("a")); !known || err != nil {
		t.Errorf("got %v, %v, want true", known, err)
	}
}

func TestTombstonesAreBounded(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	if err := db.BeginRemoval(ctx, tombstone("pending")); err != nil {
		t.Fatal(err)
	}
	_, err := db.sql.Exec(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO tombstones (backend, id, name, state, gone_at, command, owner) SELECT 'local', 'old-' || i, '', 1, 0, 'x', '' FROM n`, MaxTombstones+5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.FinishRemoval(ctx, tombstone("last")); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.sql.QueryRow(`SELECT count(*) FROM tombstones WHERE owner = ''`).Scan(&n); err != nil || n != MaxTombstones {
		t.Errorf("got %d tombstones, want %d, %v", n, MaxTombstones, err)
	}
	if got, err := db.PendingRemovals(ctx); err != nil || len(got) != 1 {
		t.Errorf("pending removals: got %+v, %v, want one", got, err)
	}
	if _, err := db.Tombstone(ctx, "local", "last"); err != nil {
		t.Error(err)
	}
	if err := db.AbortRemoval(ctx, "local", "pending"); err != nil {
		t.Error(err)
	}
	if got, err := db.PendingRemovals(ctx); err != nil || len(got) != 0 {
		t.Errorf("after AbortRemoval: got %+v, %v, want none", got, err)
	}
}

// The most recent app stays the most recent one when it is removed.
func TestLastRemoved(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	remove := func(id string) {
		t.Helper()
		if err := db.BeginRemoval(ctx, tombstone(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.FinishRemoval(ctx, tombstone(id)); err != nil {
			t.Fatal(err)
		}
	}
	last := func(want string) {
		t.Helper()
		got, err := db.LastRemoved(ctx)
		if want == "" && !errors.Is(err, history.ErrNotFound) || want != "" && err != nil || got.ID != want {
			t.Errorf("got %q, %v, want %q", got.ID, err, want)
		}
	}
	last("")
	mustInsert(t, db, fullApp("a"), fullApp("b"), fullApp("c"))
	remove("b")
	last("")
	if err := db.BeginRemoval(ctx, tombstone("c")); err != nil {
		t.Fatal(err)
	}
	last("") // the removal has not finished
	remove("c")
	last("c")
	mustInsert(t, db, fullApp("d"))
	last("")
}
