package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// sized is a fake with app sizes, and with a hook before deletion.
type sized struct {
	*fake
	sizes  map[string]int64
	before func(id string) error
}

func (s *sized) Capabilities() backend.Capabilities {
	return backend.Capabilities{Storage: backend.Storage{Size: s}}
}

func (s *sized) Size(_ context.Context, id string, _ backend.DeleteOptions) (int64, error) {
	if _, err := s.Describe(context.Background(), id); err != nil {
		return 0, err
	}
	return s.sizes[id], nil
}

func (s *sized) Delete(ctx context.Context, id string, o backend.DeleteOptions) error {
	if s.before != nil {
		if err := s.before(id); err != nil {
			return err
		}
	}
	return s.fake.Delete(ctx, id, o)
}

// prunes returns a world with five ended apps, a to e in the order of their ends, of 10
// bytes each; d has failed. App live is running.
func prunes(t *testing.T) (*world, *sized) {
	t.Helper()
	w := newWorld(t)
	s := &sized{fake: w.local, sizes: map[string]int64{}}
	reg := backend.NewRegistry()
	reg.Add("local", func() (backend.Backend, error) { return s, nil })
	w.Backends = reg
	for i, id := range []string{"a", "b", "c", "d", "e", "live"} {
		at := w.clock.Add(time.Duration(i) * time.Hour)
		row := history.App{AppKey: history.AppKey{Backend: "local", ID: id}, Name: "n-" + id, Outcome: history.Outcome{State: spec.Running}, SubmittedAt: new(at)}
		if err := w.History.Insert(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		end := at.Add(time.Minute)
		st := &spec.Status{State: spec.Succeeded, SubmittedAt: &at, StartedAt: &at, FinishedAt: &end}
		switch id {
		case "d":
			st.State = spec.Failed
		case "live":
			st.State, st.FinishedAt = spec.Running, nil
		}
		w.local.set(id, st)
		s.sizes[id] = 10
	}
	return w, s
}

func prunableIDs(t *testing.T, w *world, f PruneFilter) string {
	t.Helper()
	apps, err := w.Prunable(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, p := range apps {
		s = append(s, p.ID)
	}
	return strings.Join(s, " ")
}

func TestPrunable(t *testing.T) {
	t.Parallel()
	w, _ := prunes(t)
	start := w.clock
	for name, c := range map[string]struct {
		f    PruneFilter
		want string
	}{
		"all":               {PruneFilter{MaxBytes: -1}, "a b c d e"},
		"named":             {PruneFilter{MaxBytes: -1, Backend: "local"}, "a b c d e"},
		"age":               {PruneFilter{MaxBytes: -1, Before: start.Add(2*time.Hour + time.Minute)}, "a b"},
		"count":             {PruneFilter{MaxBytes: -1, Keep: 2}, "a b c"},
		"count of all":      {PruneFilter{MaxBytes: -1, Keep: 9}, ""},
		"state":             {PruneFilter{MaxBytes: -1, States: []spec.State{spec.Failed}}, "d"},
		"count of a state":  {PruneFilter{MaxBytes: -1, Keep: 1, States: []spec.State{spec.Succeeded}}, "a b c"},
		"age and count":     {PruneFilter{MaxBytes: -1, Keep: 4, Before: start.Add(3 * time.Hour)}, "a"},
		"count and age":     {PruneFilter{MaxBytes: -1, Keep: 1, Before: start.Add(time.Hour)}, "a"},
		"size":              {PruneFilter{MaxBytes: 35}, "a b c"},
		"exactly that size": {PruneFilter{MaxBytes: 40}, "a b"},
		"no size":           {PruneFilter{MaxBytes: 0}, "a b c d e"},
		"small enough":      {PruneFilter{MaxBytes: 60}, ""},
		"size and count":    {PruneFilter{MaxBytes: 0, Keep: 3}, "a b"},
		"size and state":    {PruneFilter{MaxBytes: 55, States: []spec.State{spec.Failed}}, "d"},
	} {
		if got := prunableIDs(t, w, c.f); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		first, count, err := w.FirstPrunable(t.Context(), c.f, 2)
		all := strings.Fields(c.want)
		if err != nil || count != len(all) || len(first) != min(2, len(all)) {
			t.Errorf("%s, the first two: got %d of %d, %v, want two of %q", name, len(first), count, err, c.want)
			continue
		}
		for i, p := range first {
			if p.ID != all[i] || p.Bytes == nil || *p.Bytes != 10 {
				t.Errorf("%s, number %d of the first: got %s, want %s of 10 bytes", name, i, p.ID, all[i])
			}
		}
	}
}

func (w *world) prunable(t *testing.T, id string) Prunable {
	t.Helper()
	apps, err := w.Prunable(t.Context(), PruneFilter{MaxBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range apps {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("app %s: not prunable, want it prunable", id)
	return Prunable{}
}

func TestPruneLeavesTombstone(t *testing.T) {
	t.Parallel()
	w, _ := prunes(t)
	a := w.prunable(t, "a")
	if done, err := w.Prune(t.Context(), a, backend.DeleteOptions{}); !done || err != nil {
		t.Fatalf("got %v, %v, want true", done, err)
	}
	ref := history.AppKey{Backend: "local", ID: "a"}
	if got, err := w.Resolve(t.Context(), "a"); got != ref || err != nil {
		t.Errorf("resolve: got %v, %v, want %v", got, err, ref)
	}
	_, err := w.Status(t.Context(), ref)
	for _, want := range []string{"local://torchx/a", "SUCCEEDED at 2026-01-01T00:01:00Z", "with its logs by `torchx prune` at 2026-01-01T00:00:0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("status: got %v, want %q", err, want)
		}
	}
	if _, err := w.Logs(t.Context(), ref, "", nil, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("logs: got %v, want not found", err)
	}
	if got := w.list(t, Filter{Backend: "local"}); slices.Contains(got, "a") {
		t.Errorf("list: got %v, want it without the app", got)
	}
	if done, err := w.Prune(t.Context(), a, backend.DeleteOptions{}); done || err != nil {
		t.Errorf("second Prune: got %v, %v, want false", done, err)
	}
}

// Before the removal, the ID may have been reused by another app.
func TestPruneLeavesOtherAppsAlone(t *testing.T) {
	t.Parallel()
	w, _ := prunes(t)
	a := w.prunable(t, "a")
	later := w.clock.Add(time.Hour)
	end := later.Add(time.Second)
	for _, s := range []*spec.Status{
		{State: spec.Running, SubmittedAt: &later},
		{State: spec.Succeeded, SubmittedAt: &later, FinishedAt: &end},
	} {
		w.local.set("a", s)
		if done, err := w.Prune(t.Context(), a, backend.DeleteOptions{}); done || err != nil {
			t.Errorf("%s: got %v, %v, want false", s.State, done, err)
		}
	}
	if len(w.local.deleted) > 0 {
		t.Errorf("got deletions %v, want none", w.local.deleted)
	}
}

func TestPruneFailureChangesNothing(t *testing.T) {
	t.Parallel()
	w, s := prunes(t)
	s.before = func(string) error { return errors.New("the disk is on fire") }
	a := w.prunable(t, "a")
	if done, err := w.Prune(t.Context(), a, backend.DeleteOptions{}); done || err == nil || !strings.Contains(err.Error(), "on fire") {
		t.Errorf("got %v, %v, want false and the error", done, err)
	}
	if pending, err := w.History.PendingRemovals(t.Context()); err != nil || len(pending) > 0 {
		t.Errorf("pending removals: got %+v, %v, want none", pending, err)
	}
	w.prunable(t, "a")
}

// Two concurrent removals: the app is removed once, and both succeed.
func TestPruneTwice(t *testing.T) {
	t.Parallel()
	w, s := prunes(t)
	a := w.prunable(t, "a")
	s.before = func(id string) error {
		s.before = nil
		return s.fake.Delete(t.Context(), id, backend.DeleteOptions{})
	}
	if _, err := w.Prune(t.Context(), a, backend.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := w.History.Tombstone(t.Context(), "local", "a"); err != nil {
		t.Error(err)
	}
}

func TestInterruptedRemovalIsFinished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world)
		gone   bool // removed in the end
		alive  bool // the process that removes it
	}{
		"before the app went":    {func(*world) {}, true, false},
		"after the app went":     {func(w *world) { w.local.remove("a") }, true, false},
		"the removal is running": {func(*world) {}, false, true},
		"the id was taken": {func(w *world) {
			later := w.clock.Add(time.Hour)
			w.local.set("a", &spec.Status{State: spec.Succeeded, SubmittedAt: &later, FinishedAt: &later})
		}, false, false},
		"the id is live": {func(w *world) { w.local.set("a", &spec.Status{State: spec.Running}) }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := prunes(t)
			s, err := w.local.Describe(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			err = w.History.BeginRemoval(t.Context(), history.Tombstone{
				AppKey:      history.AppKey{Backend: "local", ID: "a"},
				State:       s.State,
				SubmittedAt: s.SubmittedAt,
				FinishedAt:  s.FinishedAt,
				RemovedAt:   w.clock,
				Command:     "prune",
				Owner:       "1:2:3",
			})
			if err != nil {
				t.Fatal(err)
			}
			c.change(w)
			w.submittersDead = !c.alive
			w.Reconcile(t.Context())
			_, descErr := w.local.Describe(t.Context(), "a")
			_, recordErr := w.History.Get(t.Context(), "local", "a")
			if (descErr != nil) != c.gone || (recordErr != nil) != c.gone {
				t.Errorf("got app %v, record %v, want gone: %v", descErr, recordErr, c.gone)
			}
			if _, err := w.History.Tombstone(t.Context(), "local", "a"); (err == nil) != c.gone {
				t.Errorf("tombstone: got %v, want one: %v", err, c.gone)
			}
			if left, err := w.History.PendingRemovals(t.Context()); err != nil || len(left) > 0 != c.alive {
				t.Errorf("pending removals: got %+v, %v, want one: %v", left, err, c.alive)
			}
		})
	}
}

// An app that disappeared without torchx: the message dates the loss, always the same.
func TestLogsOfMissingApp(t *testing.T) {
	t.Parallel()
	w, _ := prunes(t)
	ref := history.AppKey{Backend: "local", ID: "a"}
	if _, err := w.Status(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if err := w.History.SetStatus(t.Context(), "local", "a", roles(spec.Succeeded, "r", 1)); err != nil {
		t.Fatal(err)
	}
	w.local.remove("a")
	var first string
	for range 2 {
		_, err := w.Logs(t.Context(), ref, "", nil, backend.LogOptions{})
		if err == nil || !strings.Contains(err.Error(), "have been gone since 2026-") || !strings.Contains(err.Error(), "or earlier") {
			t.Fatal(err)
		}
		if first != "" && err.Error() != first {
			t.Errorf("got %v, want %s", err, first)
		}
		first = err.Error()
	}
}

// TestRemoveWithoutBackend: an app that never reached its backend is removed without it.
func TestRemoveWithoutBackend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ended := w.run(t, "docker", "ended")
	w.other.finish(ended.ID, spec.Failed, 7)
	if _, err := w.Status(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	off := fmt.Errorf("engine is off: %w", backend.ErrUnavailable)
	w.other.describe, w.other.list = func(string) error { return off }, off
	submit := func(cause error) history.AppKey {
		w.other.submit = func(*backend.Plan) error { return cause }
		p, err := w.Plan(t.Context(), PlanRequest{Backend: "docker", App: echo(1)})
		if err != nil {
			t.Fatal(err)
		}
		var start *backend.StartError
		if _, err := w.Submit(t.Context(), p); !errors.As(err, &start) || start.Code != spec.ExitNotStarted || !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("submit: got %v, want a start error with code 125", err)
		}
		return p.Ref()
	}
	never, pruned := submit(off), submit(off)
	part := submit(backend.Errorf(backend.ErrPartLeft, "%w", off))
	if err := w.Delete(t.Context(), never, DeleteOptions{}); err != nil || w.row(t.Context(), never) != nil {
		t.Errorf("delete of an app that never started: got %v, row %v, want neither", err, w.row(t.Context(), never))
	}
	for _, ref := range []history.AppKey{ended, part} {
		if err := w.Delete(t.Context(), ref, DeleteOptions{}); !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("delete of %v: got %v, want that the backend is unavailable", ref, err)
		}
	}
	apps, err := w.Prunable(t.Context(), PruneFilter{MaxBytes: -1})
	if err != nil || len(apps) != 1 || apps[0].ID != pruned.ID {
		t.Fatalf("prunable: got %v, %v, want only %v", apps, err, pruned)
	}
	if len(w.warnings) == 0 || !strings.Contains(w.warnings[len(w.warnings)-1], "apps of docker are skipped") {
		t.Errorf("warnings: got %q, want that others are skipped", w.warnings)
	}
	if done, err := w.Prune(t.Context(), apps[0], backend.DeleteOptions{}); !done || err != nil {
		t.Errorf("prune: got %v, %v, want true", done, err)
	}
}
