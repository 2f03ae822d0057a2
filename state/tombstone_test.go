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
		SubmittedAt: pointer(clock),
		FinishedAt:  pointer(clock.Add(time.Second)),
		GoneAt:      clock.Add(time.Hour),
		Command:     "prune",
		Kept:        []byte(`{"dir":"/x"}`),
		KeepLogs:    true,
		Owner:       "1:2:b",
	}
}

func TestBurial(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"), fullApp("b"))
	want := tombstone("a")
	if err := errors.Join(db.BeginRemoval(ctx, want), db.SetPositions(ctx, "local", "a", map[string]string{"me": "1"})); err != nil {
		t.Fatal(err)
	}
	if got, err := db.PendingRemovals(ctx); err != nil || !reflect.DeepEqual(got, []history.Tombstone{want}) {
		t.Errorf("while it is removed: %+v, %v", got, err)
	}
	if _, err := db.Tombstone(ctx, "local", "a"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("an app that is still there is gone: %v", err)
	}
	if _, err := db.Get(ctx, "local", "a"); err != nil {
		t.Errorf("its record went too early: %v", err)
	}
	if known, err := db.FinishRemoval(ctx, want); !known || err != nil {
		t.Fatalf("buried: %v, %v", known, err)
	}
	want.Owner = ""
	if got, err := db.Tombstone(ctx, "local", "a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
	if got, err := db.FindTombstones(ctx, ""); err != nil || len(got) != 1 {
		t.Errorf("found %+v, %v", got, err)
	}
	if _, ok, err := db.GetPosition(ctx, "local", "a", "me"); ok || err != nil {
		t.Errorf("the position stayed: %v", err)
	}
	if apps, err := db.List(ctx, history.Filter{}); err != nil || ids(apps) != "b" {
		t.Errorf("list has %q, %v", ids(apps), err)
	}
	if known, err := db.FinishRemoval(ctx, want); known || err != nil {
		t.Errorf("buried again: %v, %v", known, err)
	}

	mustInsert(t, db, fullApp("a")) // the id is free again
	if got, err := db.FindTombstones(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("the new app has the tombstone %+v, %v", got, err)
	}
}

// A removal that ends late must not take the app that got the id meanwhile.
func TestBuriedLeavesLaterAppAlone(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"))
	first := tombstone("a")
	first.SubmittedAt = pointer(clock.Add(time.Millisecond)) // as the backend said
	if _, err := db.FinishRemoval(ctx, first); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Get(ctx, "local", "a"); err != nil {
		t.Errorf("an app that nobody began to remove: %v", err)
	}
	if got, err := db.FindTombstones(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("a live app has a tombstone: %+v, %v", got, err)
	}
	if err := errors.Join(db.BeginRemoval(ctx, first), db.Delete(ctx, "local", "a")); err != nil {
		t.Fatal(err)
	}
	later := fullApp("a")
	later.SubmittedAt = clock.Add(time.Hour)
	mustInsert(t, db, later)
	if known, err := db.FinishRemoval(ctx, first); known || err != nil {
		t.Errorf("buried: %v, %v", known, err)
	}
	if got, err := db.Get(ctx, "local", "a"); err != nil || !got.SubmittedAt.Equal(later.SubmittedAt) {
		t.Errorf("the later app: %+v, %v", got, err)
	}
}

// A history that was filled again from a half-deleted app forgets it all the same.
func TestBuriedForgetsRefilledApp(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	if err := db.BeginRemoval(ctx, tombstone("a")); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, SubmittedAt: clock})
	if known, err := db.FinishRemoval(ctx, tombstone("a")); !known || err != nil {
		t.Errorf("%v, %v", known, err)
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
		t.Errorf("%d tombstones, want %d, %v", n, MaxTombstones, err)
	}
	if got, err := db.PendingRemovals(ctx); err != nil || len(got) != 1 {
		t.Errorf("what is not finished must stay: %+v, %v", got, err)
	}
	if _, err := db.Tombstone(ctx, "local", "last"); err != nil {
		t.Error(err)
	}
	if err := db.AbortRemoval(ctx, "local", "pending"); err != nil {
		t.Error(err)
	}
	if got, err := db.PendingRemovals(ctx); err != nil || len(got) != 0 {
		t.Errorf("unburied: %+v, %v", got, err)
	}
}

// The app that was recorded last stays the last one when it is removed.
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
	last("") // it is still there
	remove("c")
	last("c")
	mustInsert(t, db, fullApp("d"))
	last("")
}
