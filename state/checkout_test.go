package state

import (
	"errors"
	"reflect"
	"testing"

	"torchx/runtime/history"
)

// TestCheckout: apps share the diff of one state; it goes with the last of them.
func TestCheckout(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"), fullApp("b"), fullApp("clean"))
	dirty := history.Checkout{Root: "/r", Commit: "c0ffee", Branch: "main", Dirty: new(true), Changed: 1, Files: []string{"x"}, DiffSum: "51", DiffBytes: 9}
	for _, id := range []string{"a", "b", "b"} { // a second record of an app changes nothing
		if err := db.SetCheckout(ctx, "local", id, dirty, []byte("gz")); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SetCheckout(ctx, "local", "clean", history.Checkout{Commit: "c0ffee", Dirty: new(false)}, nil); err != nil {
		t.Fatal(err)
	}
	if a, err := db.Get(ctx, "local", "a"); err != nil || !reflect.DeepEqual(a.Checkout, &dirty) {
		t.Errorf("got checkout %+v, %v, want %+v", a.Checkout, err, dirty)
	}
	stored := func() (n int) {
		if err := db.sql.QueryRowContext(ctx, `SELECT count(*) FROM diffs`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := stored(); n != 1 {
		t.Errorf("got %d diffs for two apps, want 1", n)
	}
	if err := db.Delete(ctx, "local", "a"); err != nil {
		t.Fatal(err)
	}
	if diff, err := db.Diff(ctx, "local", "b"); err != nil || string(diff) != "gz" {
		t.Errorf("after the first deletion: got %q, %v, want the diff", diff, err)
	}
	if err := db.Delete(ctx, "local", "b"); err != nil {
		t.Fatal(err)
	}
	if n := stored(); n != 0 {
		t.Errorf("after the last deletion: got %d diffs, want none", n)
	}
	if _, err := db.Diff(ctx, "local", "clean"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("without a diff: got %v, want ErrNotFound", err)
	}
	if err := db.SetCheckout(ctx, "local", "b", dirty, nil); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("of a deleted app: got %v, want ErrNotFound", err)
	}
}
