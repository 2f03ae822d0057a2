package state

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func leasesOf(id string, devices ...string) []history.Lease {
	var all []history.Lease
	for i, d := range devices {
		all = append(all, history.Lease{App: history.AppKey{Backend: "local", ID: id}, Device: d, Role: "r", Replica: i, Since: time.Unix(7, 0).UTC()})
	}
	return all
}

func keys(ids ...string) []history.AppKey {
	var all []history.AppKey
	for _, id := range ids {
		all = append(all, history.AppKey{Backend: "local", ID: id})
	}
	return all
}

// rows returns the leases as "device=app", in order.
func rows(t *testing.T, db *DB) string {
	t.Helper()
	leases, err := db.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range leases {
		all = append(all, l.Device+"="+l.App.ID)
	}
	return strings.Join(all, " ")
}

func mustLease(t *testing.T, db *DB, r history.LeaseRequest) []history.Lease {
	t.Helper()
	held, err := db.Lease(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func TestLeaseIsAllOrNothing(t *testing.T) {
	t.Parallel()
	db := openAt(t, t.TempDir()+"/state.db", Options{})
	mustLease(t, db, history.LeaseRequest{Own: leasesOf("a", "0", "1"), Live: keys("a")})
	held := mustLease(t, db, history.LeaseRequest{Own: leasesOf("b", "1", "2"), Live: keys("a", "b")})
	if len(held) != 1 || held[0] != leasesOf("a", "0", "1")[1] {
		t.Errorf("got held %+v, want the lease of a", held)
	}
	if got := rows(t, db); got != "0=a 1=a" {
		t.Errorf("got leases %s, want those of a", got)
	}
	// a has ended: its devices are freed in the same step.
	if held := mustLease(t, db, history.LeaseRequest{Own: leasesOf("b", "1", "2"), Live: keys("b")}); held != nil {
		t.Errorf("got held %+v, want none", held)
	}
	if got := rows(t, db); got != "1=b 2=b" {
		t.Errorf("got leases %s, want those of b", got)
	}
}

// TestLeasesOfOthersAreRestored: a history that was lost gets them again.
func TestLeasesOfOthersAreRestored(t *testing.T) {
	t.Parallel()
	db := openAt(t, t.TempDir()+"/state.db", Options{})
	r := history.LeaseRequest{Own: leasesOf("b", "1"), Others: leasesOf("a", "0"), Live: keys("a", "b")}
	for range 2 { // the second call changes nothing
		mustLease(t, db, r)
		if got := rows(t, db); got != "0=a 1=b" {
			t.Errorf("got leases %s, want both", got)
		}
	}
}

func TestLeasesEndWithTheApp(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(db *DB) error{
		"status": func(db *DB) error {
			running := &spec.Status{State: spec.Running}
			if err := db.SetStatus(t.Context(), "local", "a", running); err != nil {
				return err
			}
			if got := rows(t, db); got != "0=a 1=b" {
				return fmt.Errorf("while it runs: got leases %s, want both", got)
			}
			return db.SetStatus(t.Context(), "local", "a", &spec.Status{State: spec.Failed})
		},
		"delete": func(db *DB) error { return db.Delete(t.Context(), "local", "a") },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			db := openAt(t, t.TempDir()+"/state.db", Options{})
			mustInsert(t, db, history.App{AppKey: history.AppKey{ID: "a", Backend: "local"}}, history.App{AppKey: history.AppKey{ID: "b", Backend: "local"}})
			mustLease(t, db, history.LeaseRequest{Own: leasesOf("a", "0"), Live: keys("a")})
			mustLease(t, db, history.LeaseRequest{Own: leasesOf("b", "1"), Live: keys("a", "b")})
			if err := end(db); err != nil {
				t.Fatal(err)
			}
			if got := rows(t, db); got != "1=b" {
				t.Errorf("got leases %s, want that of b", got)
			}
		})
	}
}

// TestConcurrentLeases: each device goes to one app.
func TestConcurrentLeases(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/state.db"
	const apps = 8
	var ids []string
	for i := range apps {
		ids = append(ids, fmt.Sprintf("app-%d", i))
	}
	got := make([]bool, apps)
	var all sync.WaitGroup
	for i, id := range ids {
		db := openAt(t, path, Options{}) // a separate connection, as in another process
		all.Go(func() {
			held, err := db.Lease(t.Context(), history.LeaseRequest{Own: leasesOf(id, "0", "1"), Live: keys(ids...)})
			if err != nil {
				t.Error(err)
			}
			got[i] = len(held) == 0
		})
	}
	all.Wait()
	winners := 0
	for _, ok := range got {
		if ok {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("got %d apps with the devices, want 1", winners)
	}
}

// TestWaitReasonEndsWithTheWait: the wait reason of a queued app is dropped when it runs.
func TestWaitReasonEndsWithTheWait(t *testing.T) {
	t.Parallel()
	db := openAt(t, t.TempDir()+"/state.db", Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{ID: "a", Backend: "local"}})
	for _, s := range []*spec.Status{{State: spec.Pending, Msg: "queued: waits"}, {State: spec.Pending, Msg: "queued: behind b"}, {State: spec.Running}} {
		if err := db.SetStatus(t.Context(), "local", "a", s); err != nil {
			t.Fatal(err)
		}
		got, err := db.Status(t.Context(), "local", "a")
		if err != nil || got.Msg != s.Msg {
			t.Errorf("got msg %q, want %q: %v", got.Msg, s.Msg, err)
		}
	}
}
