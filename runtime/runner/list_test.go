package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func (w *world) list(t *testing.T, f Filter) []string {
	t.Helper()
	rows, err := w.List(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, r := range rows {
		name := r.Name
		if name == "" {
			name = r.ID
		}
		names = append(names, name+":"+r.State.String())
	}
	return names
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if rows, err := w.List(t.Context(), Filter{}); err != nil || rows == nil || len(rows) != 0 {
		t.Errorf("an empty history: got %v, %v, want no rows", rows, err)
	}
	a := w.run(t, "local", "a")
	b := w.run(t, "docker", "b")
	w.run(t, "local", "c")
	w.local.finish(a.ID, spec.Failed, 3) // not in the history yet
	w.other.remove(b.ID)
	w.local.set("only-local", &spec.Status{State: spec.Succeeded})
	since := *w.rowOf(t, b).SubmittedAt
	for _, tt := range []struct {
		f    Filter
		want []string
	}{
		{Filter{}, []string{"c:RUNNING", "b:FAILED", "a:FAILED"}},
		{Filter{Limit: 2}, []string{"c:RUNNING", "b:FAILED"}},
		{Filter{Since: since}, []string{"c:RUNNING", "b:FAILED"}},
		{Filter{States: []spec.State{spec.Failed}}, []string{"b:FAILED", "a:FAILED"}},
		{Filter{States: []spec.State{spec.Failed}, Limit: 1}, []string{"b:FAILED"}},
		{Filter{Backend: "local_cwd"}, []string{"c:RUNNING", "a:FAILED", "only-local:SUCCEEDED"}},
		{Filter{Backend: "local", Limit: 1}, []string{"c:RUNNING"}},
		{Filter{Backend: "local", Since: since}, []string{"c:RUNNING"}},
		{Filter{Backend: "local", States: []spec.State{spec.Succeeded}}, []string{"only-local:SUCCEEDED"}},
		{Filter{Backend: "docker"}, []string{"b:FAILED"}},
	} {
		if got := w.list(t, tt.f); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v: got %v, want %v", tt.f, got, tt.want)
		}
	}
	if got := w.rowOf(t, a); got.State != spec.Failed || *got.ExitCode != 3 {
		t.Errorf("history: got %v, want FAILED with exit code 3", got.State)
	}
}

// TestListStateNotYetSeen: an app is selected by its current state, not the recorded one.
func TestListStateNotYetSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.run(t, "local", "a")
	w.local.finish(a.ID, spec.Succeeded, 0)
	if got := w.list(t, Filter{States: []spec.State{spec.Running}}); len(got) != 0 {
		t.Errorf("running: got %v, want none", got)
	}
	if got := w.list(t, Filter{States: []spec.State{spec.Succeeded}}); len(got) != 1 {
		t.Errorf("succeeded: got %v, want the app", got)
	}
}

// TestListQueriesIncompleteApps: List does not query an app that the backend's list
// describes completely.
func TestListQueriesIncompleteApps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at, code := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 0
	w.local.set("complete", &spec.Status{State: spec.Succeeded, SubmittedAt: &at, FinishedAt: &at, ExitCode: &code})
	w.local.set("half", &spec.Status{State: spec.Failed, SubmittedAt: &at})
	ended := w.run(t, "local", "ended") // recorded as ended, but without an exit code
	if err := w.History.SetStatus(t.Context(), "local", ended.ID, &spec.Status{State: spec.Cancelled, FinishedAt: &at}); err != nil {
		t.Fatal(err)
	}
	var queried []string
	w.local.describe = func(id string) error {
		queried = append(queried, id)
		return nil
	}
	rows, err := w.List(t.Context(), Filter{Backend: "local"})
	if err != nil || len(rows) != 3 || !reflect.DeepEqual(queried, []string{"half"}) {
		t.Fatalf("got %+v, %v, queries of %q, want a query of half", rows, err, queried)
	}
	for _, r := range rows {
		if r.ID == "complete" && (r.ExitCode == nil || *r.ExitCode != 0 || r.FinishedAt == nil || !r.SubmittedAt.Equal(at)) {
			t.Errorf("got %+v, want all values of the backend's list", r)
		}
	}
}

// Parts of a list make the whole, and Count is their length, also while states change.
func TestListParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 40 {
		a := w.run(t, "local", fmt.Sprint("app", i))
		switch i % 4 {
		case 0:
			if err := w.History.SetStatus(t.Context(), "local", a.ID, &spec.Status{State: spec.Succeeded}); err != nil {
				t.Fatal(err)
			}
		case 1:
			w.local.finish(a.ID, spec.Failed, 3) // not in the history
		}
	}
	w.local.set("only-local", &spec.Status{State: spec.Failed})
	for _, f := range []Filter{
		{},
		{NoTrials: true},
		{Backend: "local"},
		{Backend: "local", Recorded: true},
		{States: []spec.State{spec.Failed}},
		{States: []spec.State{spec.Succeeded}},
		{States: []spec.State{spec.Running, spec.Succeeded}},
		{Sort: history.SortState},
		{Name: "app7"},
		{Queued: true},
		{Search: "nothing"},
		{Backend: "local", States: []spec.State{spec.Failed}},
	} {
		f.All = true
		want := w.list(t, f)
		if n, err := w.Count(t.Context(), f); n != len(want) || err != nil {
			t.Errorf("%+v: got %d, %v, want %d", f, n, err, len(want))
		}
		var got []string
		for f.All, f.Limit = false, 7; f.Offset < 50; f.Offset += f.Limit {
			got = append(got, w.list(t, f)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v:\ngot  %q\nwant %q", f, got, want)
		}
		f.All = true
		if got := w.list(t, f); len(got) != 0 {
			t.Errorf("%+v: got %q, want none after the last", f, got)
		}
	}
}

func TestListLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range DefaultLimit + 2 {
		w.run(t, "local", fmt.Sprint("app", i))
	}
	if got := w.list(t, Filter{}); len(got) != DefaultLimit || !strings.HasPrefix(got[0], "app51:") {
		t.Errorf("got %d apps, %v, want the newest %d", len(got), got, DefaultLimit)
	}
	for _, f := range []Filter{{All: true}, {Backend: "local", All: true}, {Limit: 100}} {
		if got := w.list(t, f); len(got) != DefaultLimit+2 {
			t.Errorf("%+v: got %d apps, want %d", f, len(got), DefaultLimit+2)
		}
	}
	if got := w.list(t, Filter{Backend: "local"}); len(got) != DefaultLimit {
		t.Errorf("got %d apps, want %d", len(got), DefaultLimit)
	}
}

func TestListUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t, "docker", "a")
	w.run(t, "docker", "b")
	w.other.describe = func(string) error { return fmt.Errorf("engine is off: %w", backend.ErrUnavailable) }
	if got := w.list(t, Filter{}); !reflect.DeepEqual(got, []string{"b:RUNNING", "a:RUNNING"}) {
		t.Errorf("got %v, want both as recorded", got)
	}
	if len(w.warnings) != 1 {
		t.Errorf("got warnings %q, want one", w.warnings)
	}
	w.warned(t, "states of docker apps may be outdated")
	if _, err := w.List(t.Context(), Filter{Backend: "nope"}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("unknown backend: got %v, want not found", err)
	}
}

func TestListOfUnavailableBackend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t, "docker", "a")
	off := fmt.Errorf("engine is off: %w", backend.ErrUnavailable)
	w.other.list, w.other.describe = off, func(string) error { return off }
	rows, err := w.List(t.Context(), Filter{Backend: "docker"})
	if !errors.Is(err, backend.ErrUnavailable) || len(rows) != 1 || rows[0].State != spec.Running {
		t.Errorf("got %+v, %v, want the recorded app and an error", rows, err)
	}
	if len(w.warnings) != 0 {
		t.Errorf("got warnings %q besides the error, want none", w.warnings)
	}
}

// Filters and orders hold for apps that live, that have ended and that only the backend has.
func TestListFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	vision := "vision"
	at := func(minutes int) *time.Time {
		t := time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC)
		return &t
	}
	add := func(name string, p Provenance, s spec.Status) history.AppKey {
		ref := history.AppKey{Backend: "local", ID: name}
		a := history.App{AppKey: ref, Name: name, Source: p.Source, Labels: p.Labels, Outcome: history.Outcome{State: s.State}, SubmittedAt: s.SubmittedAt}
		if err := w.History.Insert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if err := w.History.SetStatus(t.Context(), "local", name, &s); err != nil {
			t.Fatal(err)
		}
		if !s.State.Terminal() {
			w.local.set(name, &s)
		}
		return ref
	}
	tagged := Provenance{Source: history.Source{Component: "dist.ddp", Args: []string{"--lr", "0.1"}, ParentRunID: "exp"}, Labels: history.Labels{Tags: map[string]string{"team": vision}}}
	add("ended", tagged, spec.Status{State: spec.Succeeded, SubmittedAt: at(1), StartedAt: at(2), FinishedAt: at(9)})
	add("failed", Provenance{}, spec.Status{State: spec.Failed, SubmittedAt: at(3), StartedAt: at(3), FinishedAt: at(4)})
	add("live", tagged, spec.Status{State: spec.Running, SubmittedAt: at(4), StartedAt: at(5)})
	add("waits", Provenance{}, spec.Status{State: spec.Pending, SubmittedAt: at(5), Msg: spec.QueuedMark + "waits for 1 GPU"})
	add("pending", Provenance{}, spec.Status{State: spec.Pending, SubmittedAt: at(6), Msg: "pulls an image"})
	w.local.foreign = []history.View{
		{Foreign: true, App: history.App{
			AppKey: history.AppKey{ID: "theirs"}, Name: "theirs", SubmittedAt: at(7),
			Outcome: history.Outcome{State: spec.Succeeded, FinishedAt: at(8), ExitCode: new(int)},
			Source:  history.Source{Component: "dist.ddp", Args: []string{"--lr", "0.1"}, ParentRunID: "exp"},
			Labels:  history.Labels{Tags: map[string]string{"team": vision}, Note: "first"},
		}},
		{Foreign: true, App: history.App{
			AppKey: history.AppKey{ID: "bare"}, Name: "bare", SubmittedAt: at(8),
			Outcome: history.Outcome{State: spec.Succeeded, FinishedAt: at(8), ExitCode: new(int)},
		}},
	}
	w.Now = func() time.Time { return *at(30) }
	for _, tt := range []struct {
		f    Filter
		want string
	}{
		{Filter{Queued: true}, "waits"},
		{Filter{Queued: true, States: []spec.State{spec.Failed}}, "waits failed"},
		{Filter{States: []spec.State{spec.Pending}}, "pending waits"},
		{Filter{Tags: []history.TagFilter{{Key: "team", Value: &vision}}}, "live ended"},
		{Filter{Component: "dist.*", Search: "lr 0.1"}, "live ended"},
		{Filter{Parents: []string{"exp"}, States: []spec.State{spec.Running}}, "live"},
		{Filter{Since: *at(3), Until: *at(5)}, "live failed"},
		{Filter{Sort: history.SortDuration}, "live ended failed pending waits"},
		{Filter{Sort: history.SortDuration, Limit: 2}, "live ended"},
		{Filter{Sort: history.SortStarted}, "live failed ended pending waits"},
		{Filter{Sort: history.SortFinished}, "ended failed pending waits live"},
		{Filter{Sort: history.SortState}, "pending waits live ended failed"},
		{Filter{Backend: "local"}, "bare theirs pending waits live failed ended"},
		{Filter{Backend: "local", Tags: []history.TagFilter{{Key: "team"}}}, "theirs live ended"},
		{Filter{Backend: "local", Component: "dist.ddp", Search: "0.1", Limit: 2}, "theirs live"},
		{Filter{Backend: "local", Parents: []string{"exp"}, Name: "t*"}, "theirs"},
		{Filter{Backend: "local", Search: "first"}, "theirs"},
		{Filter{Backend: "local", Until: *at(8), Since: *at(6)}, "theirs pending"},
	} {
		rows, err := w.List(t.Context(), tt.f)
		names := []string{}
		for i := range rows {
			names = append(names, rows[i].Name)
		}
		if got := strings.Join(names, " "); got != tt.want || err != nil {
			t.Errorf("%+v: got %q, %v, want %q", tt.f, got, err, tt.want)
		}
	}
}

func TestParentIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.run(t, "local", "a")
	for text, want := range map[string][]string{
		"exp-7":           {"exp-7"},
		"-":               {"-", app.ID, app.Handle()},
		app.ID:            {app.ID, app.Handle()},
		"local://x/other": {"local://torchx/other", "local://x/other", "other"},
	} {
		got, err := w.ParentIDs(t.Context(), text)
		slices.Sort(want)
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}

// batched is a fake that describes several apps at once.
type batched struct {
	*fake
	calls [][]string
	err   error
	gone  string // an app that the backend surely does not have, despite err
}

func (b *batched) Capabilities() backend.Capabilities {
	return backend.Capabilities{Reports: backend.Reports{Batch: b}}
}

func (b *batched) DescribeAll(_ context.Context, ids []string) (map[string]*spec.Status, error) {
	b.calls = append(b.calls, ids)
	all := map[string]*spec.Status{}
	for _, id := range ids {
		if s := b.apps[id]; s != nil && b.err == nil {
			all[id] = s
		}
		if id == b.gone {
			all[id] = nil
		}
	}
	return all, b.err
}

// TestListInOneBatch: List describes all apps of a backend together and records their statuses.
func TestListInOneBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := &batched{fake: newFake("slurm")}
	w.Backends.Add("slurm", func() (backend.Backend, error) { return b, nil })
	ended, running, gone := w.run(t, "slurm", "ended"), w.run(t, "slurm", "running"), w.run(t, "slurm", "gone")
	b.finish(ended.ID, spec.Failed, 7)
	b.remove(gone.ID)
	b.describe = func(id string) error {
		if id != gone.ID {
			t.Errorf("got a query of %s alone, want one of all apps", id)
		}
		return nil
	}
	if got, want := w.list(t, Filter{}), []string{"gone:FAILED", "running:RUNNING", "ended:FAILED"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(b.calls) != 1 || len(b.calls[0]) != 3 {
		t.Errorf("got queries %v, want one of three apps", b.calls)
	}
	if got := w.rowOf(t, ended); got.State != spec.Failed || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("history: got %v %v, want FAILED 7", got.State, got.ExitCode)
	}

	// While the backend is unreachable, the recorded states are listed, with one warning.
	b.describe = nil
	w.run(t, "slurm", "second") // a single app is described alone
	b.calls, b.err = nil, backend.Errorf(backend.ErrUnavailable, "away")
	if got, want := w.list(t, Filter{}), []string{"second:RUNNING", "gone:FAILED", "running:RUNNING", "ended:FAILED"}; !reflect.DeepEqual(got, want) {
		t.Errorf("unreachable: got %v, want %v", got, want)
	}
	if len(w.warnings) != 1 {
		t.Errorf("unreachable: got warnings %q, want one", w.warnings)
	}
	w.warned(t, "states of slurm apps may be outdated: away")
	if got := w.rowOf(t, running); got.State != spec.Running {
		t.Errorf("history: got %v, want RUNNING as recorded", got.State)
	}

	// What the backend surely does not have is recorded, although others could not be read.
	b.gone = running.ID
	b.remove(running.ID)
	if got, want := w.list(t, Filter{}), []string{"second:RUNNING", "gone:FAILED", "running:FAILED", "ended:FAILED"}; !reflect.DeepEqual(got, want) {
		t.Errorf("partly read: got %v, want %v", got, want)
	}
}
