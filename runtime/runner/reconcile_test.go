package runner

import (
	"context"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// restoring is a backend that keeps records of its apps.
type restoring struct {
	*fake
	records []backend.AppRecord
}

func (r restoring) Capabilities() backend.Capabilities {
	return backend.Capabilities{Storage: backend.Storage{History: r}}
}

func (r restoring) AppRecords(context.Context, bool) ([]backend.AppRecord, error) {
	return r.records, nil
}

func (r restoring) MarkRecorded(context.Context, string) error { return nil }

// TestRestoreKeepsOrder: `-` is the most recent app of all backends after the history was lost.
func TestRestoreKeepsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := func(id string, hour int) backend.AppRecord {
		return backend.AppRecord{
			ID: id, App: echo(1), SubmittedAt: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC),
			Status: &spec.Status{State: spec.Succeeded},
		}
	}
	w.Backends = backend.NewRegistry()
	local := restoring{newFake("local"), []backend.AppRecord{record("newest", 3), record("oldest", 1)}}
	docker := restoring{newFake("docker"), []backend.AppRecord{record("middle", 2)}}
	w.Backends.Add("local", func() (backend.Backend, error) { return local, nil })
	w.Backends.Add("docker", func() (backend.Backend, error) { return docker, nil })
	w.Reconcile(t.Context())
	got, err := w.Resolve(t.Context(), "-")
	if err != nil || got.ID != "newest" {
		t.Errorf("-: got %v, %v, want newest", got, err)
	}
	w.warned(t, "3 apps")
}
