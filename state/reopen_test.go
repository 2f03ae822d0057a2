package state

import (
	"errors"
	"strings"
	"testing"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// TestReopen: an app that has ended runs again, without what its end left, and ends once more.
func TestReopen(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	app := fullApp("a")
	app.ExitCode, app.StartedAt, app.FinishedAt, app.Msg = nil, nil, nil, ""
	mustInsert(t, db, app)
	failed := spec.ReplicaStatus{Role: "r", State: spec.Failed, ExitCode: new(3)}
	ended := spec.Status{State: spec.Failed, ExitCode: new(3), Msg: "r/0 failed", SubmittedAt: &clock, StartedAt: &clock, FinishedAt: &clock, FirstFailure: &failed, Roles: oneReplica(failed)}
	mustSet(t, db, ended)
	if err := db.Reopen(t.Context(), "local", "a"); err != nil {
		t.Fatal(err)
	}
	row, err := db.Get(t.Context(), "local", "a")
	if err != nil || row.State != spec.Running || row.ExitCode != nil || row.FinishedAt != nil || row.Msg != "" {
		t.Errorf("got %+v, %v; want RUNNING without an end", row.Outcome, err)
	}
	if row.StartedAt == nil || row.Name != app.Name {
		t.Errorf("got %+v; want the rest as it was", row)
	}
	if s, err := db.Status(t.Context(), "local", "a"); err != nil || s.FirstFailure != nil {
		t.Errorf("got %+v, %v; want no first failure", s, err)
	}
	if text := eventText(t, db); !strings.HasSuffix(text, "app:=RUNNING") {
		t.Errorf("got events %s, want the last to be app:=RUNNING", text)
	}
	again := spec.ReplicaStatus{Role: "r", State: spec.Succeeded, ExitCode: new(0)}
	mustSet(t, db, spec.Status{State: spec.Succeeded, ExitCode: new(0), SubmittedAt: &clock, StartedAt: &clock, FinishedAt: &clock, Roles: oneReplica(again)})
	if row, err = db.Get(t.Context(), "local", "a"); err != nil || row.State != spec.Succeeded {
		t.Errorf("got %v, %v; want SUCCEEDED after the second end", row.State, err)
	}
	if err := db.Reopen(t.Context(), "local", "other"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("got %v of an unknown app, want ErrNotFound", err)
	}
}
