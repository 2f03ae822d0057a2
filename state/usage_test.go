package state

import (
	"reflect"
	"testing"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// TestUsageIsKept: the resource usage of an attempt is stored with its result, and kept when a
// later status lacks it.
func TestUsageIsKept(t *testing.T) {
	t.Parallel()
	db := openAt(t, t.TempDir()+"/state.db", Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{ID: "a", Backend: "local"}})
	rss, cpu, code := int64(123<<20), 0.125, 0
	replica := spec.ReplicaStatus{Role: "r", State: spec.Succeeded, ExitCode: &code, MaxRSSBytes: &rss, CPUSeconds: &cpu}
	for range 2 {
		s := &spec.Status{State: spec.Running, Roles: []spec.RoleStatus{{Role: "r", Replicas: []spec.ReplicaStatus{replica}}}}
		if err := db.SetStatus(t.Context(), "local", "a", s); err != nil {
			t.Fatal(err)
		}
		got, err := db.Attempts(t.Context(), "local", "a")
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0].MaxRSSBytes, &rss) || !reflect.DeepEqual(got[0].CPUSeconds, &cpu) {
			t.Fatalf("got %+v, %v, want the usage", got, err)
		}
		replica.MaxRSSBytes, replica.CPUSeconds = nil, nil
	}
}
