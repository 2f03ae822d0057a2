package state

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func fullApp(id string) history.App {
	return history.App{
		AppKey: history.AppKey{ID: id, Backend: "local"},
		Name:   "name",
		Spec:   []byte(`{"name":"x"}`), Cfg: []byte(`{"a":null}`),
		Source:      history.Source{Component: "dist.ddp", Args: []string{"--j", "1x2", "", "a b\n\x01é"}, Request: []byte(`{"r":[1,2]}`), Cwd: "/w d", Modules: []byte(`[]`), Getenv: []byte(`{}`), Submission: history.Submission{Host: "h", User: "u", Version: "1", Libraries: []history.Library{{Name: "l", Commit: "c"}}}},
		Outcome:     history.Outcome{State: spec.Submitted, Msg: "m", ExitCode: new(3), NumRestarts: 2, StartedAt: new(clock.Add(time.Second)), FinishedAt: new(clock.Add(time.Minute))},
		SubmittedAt: new(clock),
		Submitter:   "1:2:b",
	}
}

func ids(apps []history.App) string {
	var names []string
	for _, a := range apps {
		names = append(names, a.ID)
	}
	return strings.Join(names, " ")
}

func TestInsertGet(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	for name, want := range map[string]history.App{
		"full":  fullApp("full"),
		"empty": {AppKey: history.AppKey{Backend: "local", ID: "empty"}, SubmittedAt: new(clock)},
	} {
		mustInsert(t, db, want)
		got, err := db.Get(t.Context(), "local", name)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	events, err := db.Events(t.Context(), "local", "full")
	if err != nil || len(events) != 1 || events[0].Kind != history.EventRecorded || !events[0].Time.Equal(clock) {
		t.Errorf("got events %+v, %v, want the record", events, err)
	}
}

func TestInsertTwice(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, fullApp("a"))
	second := fullApp("a")
	second.Name = "other"
	oneLine(t, db.Insert(t.Context(), second), history.ErrExists, "a", "local")
	if a, err := db.Get(t.Context(), "local", "a"); err != nil || a.Name != "name" {
		t.Errorf("after the second Insert: got %+v, %v, want the first app", a, err)
	}
	if events, _ := db.Events(t.Context(), "local", "a"); len(events) != 1 {
		t.Errorf("got %d events, want 1", len(events))
	}
	second.Backend = "docker"
	mustInsert(t, db, second)
}

func TestUnknownApp(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, fullApp("a"))
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Get":            func() error { _, err := db.Get(ctx, "docker", "a"); return err },
		"Delete":         func() error { return db.Delete(ctx, "docker", "a") },
		"SetStatus":      func() error { return db.SetStatus(ctx, "docker", "a", &spec.Status{}) },
		"Status":         func() error { _, err := db.Status(ctx, "docker", "a"); return err },
		"Events":         func() error { _, err := db.Events(ctx, "docker", "a"); return err },
		"AddEvents":      func() error { return db.AddEvents(ctx, "docker", "a", nil) },
		"Attempts":       func() error { _, err := db.Attempts(ctx, "docker", "a"); return err },
		"Checkpoints":    func() error { _, err := db.Checkpoints(ctx, "docker", "a"); return err },
		"PutCheckpoints": func() error { return db.PutCheckpoints(ctx, "docker", "a", nil) },
	} {
		t.Run(name, func(t *testing.T) { oneLine(t, call(), history.ErrNotFound, "app a of backend docker") })
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Insert(ctx, fullApp("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("Insert: got %v, want context.Canceled", err)
	}
	mustInsert(t, db, fullApp("a"))
}

func TestLast(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	_, err := db.Last(t.Context())
	oneLine(t, err, history.ErrNotFound, "no app", db.Path())
	mustInsert(t, db, history.App{AppKey: history.AppKey{ID: "a"}, SubmittedAt: new(clock)}, history.App{AppKey: history.AppKey{ID: "b"}, SubmittedAt: new(clock.Add(-time.Hour))})
	if a, err := db.Last(t.Context()); err != nil || a.ID != "b" {
		t.Errorf("got %s, %v, want the app recorded last, regardless of the clock", a.ID, err)
	}
	trial := history.App{AppKey: history.AppKey{ID: "trial"}, Source: history.Source{ParentRunID: "b"}, Labels: history.Labels{Tags: map[string]string{"sweep": "b"}}}
	tagged := history.App{AppKey: history.AppKey{ID: "tagged"}, Labels: history.Labels{Tags: map[string]string{"sweep": ""}}}
	mustInsert(t, db, trial)
	if a, err := db.Last(t.Context()); err != nil || a.ID != "b" {
		t.Errorf("got %s, %v, want the app before the trial", a.ID, err)
	}
	mustInsert(t, db, tagged)
	if a, err := db.Last(t.Context()); err != nil || a.ID != "tagged" {
		t.Errorf("got %s, %v, want tagged, which is not a trial", a.ID, err)
	}
	for _, id := range []string{"b", "tagged"} {
		if err := db.Delete(t.Context(), "", id); err != nil {
			t.Fatal(err)
		}
	}
	if a, err := db.Last(t.Context()); err != nil || a.ID != "a" {
		t.Errorf("got %s, %v, want a", a.ID, err)
	}
}

func TestFindPrefix(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	for _, id := range []string{"abc", "abd", "ab", "b%c", "bxc", "b_d", "é1", "é2", "z\xff\xff1", "Abc", "ns:pod-1"} {
		mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: id}})
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "docker", ID: "abc"}})
	for prefix, want := range map[string]string{
		"abc": "abc abc", "ab": "ab", "a": "abc ab abd abc", "b%": "b%c", "b_": "b_d", "b": "b_d bxc b%c",
		"é": "é2 é1", "z\xff": "z\xff\xff1", "ns:": "ns:pod-1", "pod": "ns:pod-1", "pod-1": "ns:pod-1", "od": "", "x": "", "A": "Abc", "abcd": "",
	} {
		got, err := db.FindPrefix(t.Context(), prefix)
		if err != nil || ids(got) != want {
			t.Errorf("%q: got %q, %v, want %q", prefix, ids(got), err, want)
		}
	}
	if all, err := db.FindPrefix(t.Context(), ""); err != nil || len(all) != 12 {
		t.Errorf("empty prefix: got %d apps, %v, want 12", len(all), err)
	}
}

func TestFindPrefixIsBounded(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	for i := range history.MaxMatches + 5 {
		mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: fmt.Sprintf("a%d", i)}})
	}
	if got, err := db.FindPrefix(t.Context(), "a"); err != nil || len(got) != history.MaxMatches {
		t.Errorf("got %d apps, %v, want %d", len(got), err, history.MaxMatches)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	at := func(m int) time.Time { return clock.Add(time.Duration(m) * time.Minute) }
	mustInsert(t, db,
		history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, SubmittedAt: new(at(1)), Outcome: history.Outcome{State: spec.Succeeded}},
		history.App{AppKey: history.AppKey{Backend: "docker", ID: "b"}, SubmittedAt: new(at(3)), Outcome: history.Outcome{State: spec.Running}},
		history.App{AppKey: history.AppKey{Backend: "local", ID: "c"}, SubmittedAt: new(at(2)), Outcome: history.Outcome{State: spec.Failed}},
		history.App{AppKey: history.AppKey{Backend: "local", ID: "d"}, SubmittedAt: new(at(3)), Outcome: history.Outcome{State: spec.Running}},
	)
	for name, test := range map[string]struct {
		filter history.Filter
		want   string
	}{
		"all":             {history.Filter{}, "d b c a"},
		"limit":           {history.Filter{Limit: 2}, "d b"},
		"backend":         {history.Filter{Backend: "local"}, "d c a"},
		"state":           {history.Filter{States: []spec.State{spec.Running}}, "d b"},
		"states":          {history.Filter{States: []spec.State{spec.Failed, spec.Running, spec.Failed}}, "d b c"},
		"states, limit":   {history.Filter{States: []spec.State{spec.Succeeded, spec.Failed, spec.Running}, Limit: 3}, "d b c"},
		"live":            {history.Filter{States: history.LiveStates()}, "d b"},
		"since":           {history.Filter{Since: at(2)}, "d b c"},
		"since, later":    {history.Filter{Since: at(2).Add(1)}, "d b"},
		"everything":      {history.Filter{Backend: "local", States: []spec.State{spec.Running, spec.Failed}, Since: at(2), Limit: 1}, "d"},
		"nothing":         {history.Filter{Backend: "none"}, ""},
		"limit, too high": {history.Filter{Limit: 100}, "d b c a"},
	} {
		for _, details := range []bool{false, true} {
			test.filter.Details = details
			got, err := db.List(t.Context(), test.filter)
			if err != nil || ids(got) != test.want {
				t.Errorf("%s, details %v: got %q, %v, want %q", name, details, ids(got), err, test.want)
			}
		}
	}
}

func TestListDetails(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	want := fullApp("a")
	mustInsert(t, db, want)
	if got, err := db.List(t.Context(), history.Filter{Details: true}); err != nil || !reflect.DeepEqual(got, []history.App{want}) {
		t.Errorf("with details: got %+v, %v", got, err)
	}
	want.Args, want.Cwd, want.Spec, want.Cfg, want.Request, want.Modules, want.Getenv = nil, "", nil, nil, nil, nil, nil
	want.Submission = history.Submission{}
	if got, err := db.List(t.Context(), history.Filter{}); err != nil || !reflect.DeepEqual(got, []history.App{want}) {
		t.Errorf("without details: got %+v, %v", got, err)
	}
}

func TestDeleteRemovesEverything(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"), fullApp("b"))
	for _, id := range []string{"a", "b"} {
		err := errors.Join(
			db.SetStatus(ctx, "local", id, &spec.Status{State: spec.Running, Roles: oneReplica(spec.ReplicaStatus{State: spec.Running})}),
			db.PutCheckpoints(ctx, "local", id, []history.Checkpoint{{Role: "r", Stream: "stdout", Time: clock}}),
			db.SetPositions(ctx, "local", id, map[string]string{"me": "1"}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Delete(ctx, "local", "a"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"apps", "app_details", "attempts", "checkpoints", "positions"} {
		var n int
		if err := db.sql.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 1 {
			t.Errorf("%s: got %d rows, %v, want 1", table, n, err)
		}
	}
	if events, err := db.Events(ctx, "local", "b"); err != nil || len(events) != 3 {
		t.Errorf("events of b: got %+v, %v, want 3", events, err)
	}
	mustInsert(t, db, fullApp("a"))
	if events, err := db.Events(ctx, "local", "a"); err != nil || len(events) != 1 {
		t.Errorf("events of the new a: got %+v, %v, want 1", events, err)
	}
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, fullApp("a"))
	want := []history.Checkpoint{
		{Role: "r", Stream: "stderr", Time: clock, Line: 1, Offset: 10},
		{Role: "r", Stream: "stdout", Time: clock, Line: 1, Offset: 5},
		{Role: "r", Stream: "stdout", Time: clock.Add(1), Line: 1 << 40, Offset: 1 << 50},
		{Role: "r", Replica: 1, Attempt: 2, Stream: "stdout", Time: clock},
	}
	old := want[1]
	old.Line = 77
	if err := db.PutCheckpoints(ctx, "local", "a", []history.Checkpoint{want[3], old, want[0]}); err != nil {
		t.Fatal(err)
	}
	if err := db.PutCheckpoints(ctx, "local", "a", []history.Checkpoint{want[2], want[1]}); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Checkpoints(ctx, "local", "a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	if got, ok, err := db.GetPosition(ctx, "local", "unknown app", "me"); got != "" || ok || err != nil {
		t.Errorf("before the first position: got %q, %v, %v, want none", got, ok, err)
	}
	for _, p := range []struct{ reader, position string }{{"me", "1"}, {"you", "x"}, {"me", ""}} {
		if err := db.SetPositions(ctx, "local", "unknown app", map[string]string{p.reader: p.position}); err != nil {
			t.Fatal(err)
		}
	}
	for reader, want := range map[string]string{"me": "", "you": "x"} {
		if got, ok, err := db.GetPosition(ctx, "local", "unknown app", reader); got != want || !ok || err != nil {
			t.Errorf("%s: got %q, %v, %v, want %q", reader, got, ok, err, want)
		}
	}
}
