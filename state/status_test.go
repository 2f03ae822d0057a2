package state

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func oneReplica(r spec.ReplicaStatus) []spec.RoleStatus {
	return []spec.RoleStatus{{Role: "r", Replicas: []spec.ReplicaStatus{r}}}
}

func mustSet(t *testing.T, db *DB, s spec.Status) {
	t.Helper()
	if err := db.SetStatus(t.Context(), "local", "a", &s); err != nil {
		t.Fatal(err)
	}
}

// eventText formats events: kind:role/replica#attempt=STATE.
func eventText(t *testing.T, db *DB) string {
	t.Helper()
	events, err := db.Events(t.Context(), "local", "a")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range events {
		where := ""
		if e.Role != "" {
			where = e.Role + "/" + string(rune('0'+e.Replica)) + "#" + string(rune('0'+e.Attempt))
		}
		words = append(words, string(e.Kind)+":"+where+"="+e.State.String())
	}
	return strings.Join(words, " ")
}

func TestSetStatusLife(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	app := fullApp("a")
	app.ExitCode, app.StartedAt, app.FinishedAt, app.Msg = nil, nil, nil, ""
	app.Spec = []byte(`{"name":"x","roles":[{"name":"z"},{"name":"b"}]}`)
	mustInsert(t, db, app)
	start, end := clock.Add(time.Second), clock.Add(time.Minute)
	running := func(role string) spec.RoleStatus {
		return spec.RoleStatus{Role: role, Replicas: []spec.ReplicaStatus{{Role: role, State: spec.Running, Hostname: "h", Pod: "p", Node: "n", PID: 7, StartedAt: &start}}}
	}
	mustSet(t, db, spec.Status{State: spec.Running, StartedAt: &start, Roles: []spec.RoleStatus{running("z"), running("b")}})

	want := spec.Status{
		Handle: "local://torchx/a", State: spec.Failed, NumRestarts: 2, Msg: "b/0 failed", StructuredErrorMsg: []byte(`{"message":"boom"}`),
		UIURL: new("file:///x"), ExitCode: new(137), SubmittedAt: app.SubmittedAt, StartedAt: &start, FinishedAt: &end,
		Roles: []spec.RoleStatus{running("z"), running("b")},
	}
	want.Roles[0].Replicas[0].State, want.Roles[0].Replicas[0].ExitCode, want.Roles[0].Replicas[0].FinishedAt = spec.Cancelled, new(130), &end
	failed := spec.ReplicaStatus{
		Role: "b", State: spec.Failed, ExitCode: new(137), Signal: "SIGKILL", Hostname: "h", Pod: "p", Node: "n", PID: 7,
		StartedAt: &start, FinishedAt: &end, Msg: "killed", StructuredErrorMsg: []byte(`{"message":"boom"}`),
	}
	want.Roles[1].Replicas[0], want.FirstFailure = failed, &failed
	mustSet(t, db, want)

	got, err := db.Status(t.Context(), "local", "a")
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got status %+v, %v\nwant %+v", got, err, want)
	}
	if got, want := eventText(t, db), "recorded:=SUBMITTED replica:z/0#0=RUNNING replica:b/0#0=RUNNING app:=RUNNING "+
		"replica:z/0#0=CANCELLED replica:b/0#0=FAILED app:=FAILED"; got != want {
		t.Errorf("got events %s\nwant %s", got, want)
	}
	events, _ := db.Events(t.Context(), "local", "a")
	if e := events[5]; !e.Time.Equal(end) || *e.ExitCode != 137 || e.Signal != "SIGKILL" || e.Msg != "killed" {
		t.Errorf("got event of the failure %+v", e)
	}
	a, err := db.Get(t.Context(), "local", "a")
	if err != nil || a.State != spec.Failed || *a.ExitCode != 137 || !a.FinishedAt.Equal(end) || !a.StartedAt.Equal(start) || a.NumRestarts != 2 {
		t.Errorf("got app %+v, %v, want the result", a, err)
	}
}

func TestSetStatusSameWritesNothing(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, fullApp("a"))
	s := spec.Status{State: spec.Running, Roles: oneReplica(spec.ReplicaStatus{State: spec.Running, StartedAt: &clock})}
	mustSet(t, db, s)
	var before, after int
	version := func(n *int) {
		if err := db.sql.QueryRow("SELECT total_changes()").Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	version(&before)
	mustSet(t, db, s)
	local := clock.Local() // the same instant
	s.Roles[0].Replicas[0].StartedAt = &local
	mustSet(t, db, s)
	if version(&after); after != before {
		t.Errorf("got %d written rows, want none", after-before)
	}
}

func TestTerminalStays(t *testing.T) {
	t.Parallel()
	end := clock.Add(time.Minute)
	for _, first := range []spec.State{spec.Succeeded, spec.Failed, spec.Cancelled} {
		for _, second := range []spec.State{spec.Running, spec.Succeeded, spec.Failed, spec.Cancelled, spec.Unknown} {
			if first == second {
				continue
			}
			t.Run(first.String()+" then "+second.String(), func(t *testing.T) {
				t.Parallel()
				db := openTest(t, Options{})
				mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
				mustSet(t, db, spec.Status{State: first, Roles: oneReplica(spec.ReplicaStatus{State: first})})
				told := eventText(t, db)
				mustSet(t, db, spec.Status{
					State: second, ExitCode: new(9), Msg: "late", FinishedAt: &end, NumRestarts: 5,
					Roles: oneReplica(spec.ReplicaStatus{State: second, ExitCode: new(9)}),
				})
				got, err := db.Status(t.Context(), "local", "a")
				if err != nil || got.State != first || got.ExitCode != nil || got.Msg != "" || got.FinishedAt != nil || got.NumRestarts != 0 {
					t.Errorf("got status %+v, %v, want it unchanged", got, err)
				}
				if r := got.Roles[0].Replicas[0]; r.State != first || r.ExitCode != nil {
					t.Errorf("got replica %+v, want it unchanged", r)
				}
				if now := eventText(t, db); now != told {
					t.Errorf("got events %s, want %s", now, told)
				}
			})
		}
	}
}

func TestTerminalIsCompleted(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	end, later := clock.Add(time.Minute), clock.Add(time.Hour)
	mustSet(t, db, spec.Status{State: spec.Failed, Msg: "first", Roles: oneReplica(spec.ReplicaStatus{State: spec.Failed})})
	told := eventText(t, db)
	mustSet(t, db, spec.Status{
		State: spec.Failed, Msg: "second", ExitCode: new(3), FinishedAt: &end,
		Roles: oneReplica(spec.ReplicaStatus{State: spec.Failed, ExitCode: new(3)}),
	})
	mustSet(t, db, spec.Status{State: spec.Failed, ExitCode: new(4), FinishedAt: &later})
	got, err := db.Status(t.Context(), "local", "a")
	if err != nil || got.Msg != "first" || *got.ExitCode != 3 || !got.FinishedAt.Equal(end) || *got.Roles[0].Replicas[0].ExitCode != 3 {
		t.Errorf("got status %+v, %v, want the first result, completed", got, err)
	}
	if now := eventText(t, db); now != told {
		t.Errorf("got events %s, want %s", now, told)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	replica := func(attempt int, s spec.State) spec.Status {
		return spec.Status{State: spec.Running, NumRestarts: attempt, Roles: oneReplica(spec.ReplicaStatus{Attempt: attempt, State: s})}
	}
	mustSet(t, db, replica(0, spec.Running))
	mustSet(t, db, replica(0, spec.Failed))
	mustSet(t, db, replica(1, spec.Running))
	mustSet(t, db, replica(2, spec.Running)) // the end of attempt 1 was missed
	mustSet(t, db, replica(2, spec.Succeeded))
	attempts, err := db.Attempts(t.Context(), "local", "a")
	if err != nil {
		t.Fatal(err)
	}
	var got []spec.State
	for i, a := range attempts {
		if a.Attempt != i || a.Role != "r" {
			t.Errorf("attempt %d: got %+v", i, a)
		}
		got = append(got, a.State)
	}
	if want := []spec.State{spec.Failed, spec.Unknown, spec.Succeeded}; !reflect.DeepEqual(got, want) {
		t.Errorf("got attempts %v, want %v", got, want)
	}
	if s, err := db.Status(t.Context(), "local", "a"); err != nil || len(s.Roles[0].Replicas) != 1 || s.Roles[0].Replicas[0].Attempt != 2 {
		t.Errorf("got status %+v, %v, want the last attempt", s, err)
	}
}

// A restart is one event, however often its status is recorded.
func TestRestartEvents(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	failed := spec.ReplicaStatus{Role: "r", State: spec.Failed, ExitCode: new(7), FinishedAt: &clock}
	s := spec.Status{
		State: spec.Running, Roles: oneReplica(failed),
		Restarts: []spec.Restart{spec.RestartOf(&failed, spec.RetryReplica, 1, 2)},
	}
	mustSet(t, db, s)
	mustSet(t, db, s)
	again := spec.ReplicaStatus{Role: "r", Attempt: 1, State: spec.Failed, ExitCode: new(8), FinishedAt: &clock}
	s.Past, s.Roles = []spec.ReplicaStatus{failed}, oneReplica(again)
	s.Restarts = append(s.Restarts, spec.RestartOf(&again, spec.RetryReplica, 2, 2))
	mustSet(t, db, s)
	want := "recorded:=UNSUBMITTED replica:r/0#0=FAILED restart:r/0#0=FAILED app:=RUNNING replica:r/0#1=FAILED restart:r/0#1=FAILED"
	if got := eventText(t, db); got != want {
		t.Errorf("got events %s\nwant %s", got, want)
	}
	events, err := db.Events(t.Context(), "local", "a")
	if e := events[2]; err != nil || e.Msg != "attempt 2 of 3, restarting r/0" || *e.ExitCode != 7 || !e.Time.Equal(clock) {
		t.Errorf("got event of the restart %+v, %v", e, err)
	}
}

func TestPastAttempts(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	want := []spec.ReplicaStatus{
		{Role: "r", Attempt: 0, State: spec.Failed, ExitCode: new(1), Signal: "SIGTERM", Hostname: "h", Pod: "p", Node: "n", PID: 3, StartedAt: &clock, FinishedAt: &clock, Msg: "m", StructuredErrorMsg: []byte(`1`)},
		{Role: "r", Attempt: 1, State: spec.Succeeded},
	}
	if err := db.SetStatus(ctx, "local", "a", &spec.Status{Past: want}); err != nil {
		t.Fatal(err)
	}
	if err := db.SetStatus(ctx, "local", "a", &spec.Status{Past: []spec.ReplicaStatus{{Role: "r", Attempt: 1, State: spec.Running}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Attempts(ctx, "local", "a"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got attempts %+v, %v, want %+v", got, err, want)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	db, ctx := openTest(t, Options{}), t.Context()
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	want := []history.Event{
		{Time: clock.Add(time.Hour), Kind: "cancel", State: spec.Running, Msg: "by user"},
		{Time: clock.Add(time.Minute), Kind: "oom", State: spec.Failed, Role: "r", Replica: 3, Attempt: 1, ExitCode: new(137), Signal: "SIGKILL"},
	}
	if err := db.AddEvents(ctx, "local", "a", want); err != nil {
		t.Fatal(err)
	}
	got, err := db.Events(ctx, "local", "a")
	want = []history.Event{{Time: clock, Kind: history.EventRecorded}, want[1], want[0]}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// TestEventsOfShortApps: an app that was first seen after its end has an event for its start.
func TestEventsOfShortApps(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, Outcome: history.Outcome{State: spec.Submitted}, SubmittedAt: new(clock)})
	at := func(seconds int) *time.Time { return new(clock.Add(time.Duration(seconds) * time.Second)) }
	mustSet(t, db, spec.Status{State: spec.Pending, Roles: oneReplica(spec.ReplicaStatus{Role: "r", State: spec.Pending})})
	ended := spec.Status{
		State: spec.Failed, StartedAt: at(1), FinishedAt: at(6),
		Past: []spec.ReplicaStatus{{Role: "r", State: spec.Failed, StartedAt: at(2), FinishedAt: at(3)}},
		Roles: []spec.RoleStatus{{Role: "r", Replicas: []spec.ReplicaStatus{
			{Role: "r", Attempt: 1, State: spec.Succeeded, StartedAt: at(4), FinishedAt: at(5)},
			{Role: "r", ID: 1, State: spec.Failed, FinishedAt: at(5)}, // could not start
		}}},
	}
	mustSet(t, db, ended)
	want := "recorded:=SUBMITTED replica:r/0#0=PENDING app:=PENDING app:=RUNNING replica:r/0#0=RUNNING replica:r/0#0=FAILED " +
		"replica:r/0#1=RUNNING replica:r/0#1=SUCCEEDED replica:r/1#0=FAILED app:=FAILED"
	if got := eventText(t, db); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	mustSet(t, db, ended)
	if got := eventText(t, db); got != want {
		t.Errorf("second SetStatus: got %s\nwant %s", got, want)
	}
}

// TestOrderOfEvents: times in whole seconds, of another clock, do not put a state before an earlier
// one; a restart follows what it is for.
func TestOrderOfEvents(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	submitted := clock.Add(-300 * time.Millisecond)
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, Outcome: history.Outcome{State: spec.Submitted}, SubmittedAt: new(submitted)})
	at := func(seconds int) *time.Time {
		return new(submitted.Truncate(time.Second).Add(time.Duration(seconds) * time.Second))
	}
	mustSet(t, db, spec.Status{State: spec.Pending, Roles: oneReplica(spec.ReplicaStatus{Role: "r", State: spec.Pending})})
	running := spec.ReplicaStatus{Role: "r", State: spec.Running, StartedAt: at(-5)}
	mustSet(t, db, spec.Status{State: spec.Running, StartedAt: at(-5), Roles: oneReplica(running)})
	waits := running
	waits.State, waits.StartedAt, waits.Msg = spec.Pending, nil, "evicted"
	mustSet(t, db, spec.Status{State: spec.Running, StartedAt: at(-5), Roles: oneReplica(waits)})
	failed := running
	failed.State, failed.FinishedAt = spec.Failed, at(-4)
	mustSet(t, db, spec.Status{
		State: spec.Succeeded, StartedAt: at(-5), FinishedAt: at(-3), Past: []spec.ReplicaStatus{failed},
		Restarts: []spec.Restart{{Role: "r", Time: *at(-4)}},
		Roles:    oneReplica(spec.ReplicaStatus{Role: "r", Attempt: 1, State: spec.Succeeded, StartedAt: at(-4), FinishedAt: at(-3)}),
	})
	late := spec.ReplicaStatus{Role: "s", Attempt: 1, State: spec.Pending}
	mustSet(t, db, spec.Status{State: spec.Succeeded, Roles: []spec.RoleStatus{{Role: "s", Replicas: []spec.ReplicaStatus{late}}}})
	ended := spec.ReplicaStatus{Role: "s", State: spec.Cancelled, StartedAt: at(0), FinishedAt: at(0)}
	mustSet(t, db, spec.Status{State: spec.Succeeded, Past: []spec.ReplicaStatus{ended}, Roles: []spec.RoleStatus{{Role: "s", Replicas: []spec.ReplicaStatus{late}}}})
	want := "recorded:=SUBMITTED replica:s/0#0=RUNNING replica:s/0#0=CANCELLED replica:r/0#0=PENDING app:=PENDING replica:r/0#0=RUNNING app:=RUNNING replica:r/0#0=FAILED restart:r/0#0=FAILED " +
		"replica:r/0#1=RUNNING replica:r/0#1=SUCCEEDED app:=SUCCEEDED replica:s/0#1=PENDING"
	if got := eventText(t, db); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	events, err := db.Events(t.Context(), "local", "a")
	if err != nil || !slices.IsSortedFunc(events, func(a, b history.Event) int { return a.Time.Compare(b.Time) }) {
		t.Errorf("got %+v, %v, want them sorted by time", events, err)
	}
}

// A message of a live attempt is dropped when it no longer applies.
func TestMessageOfTheMoment(t *testing.T) {
	t.Parallel()
	waits := spec.ReplicaStatus{Role: "web", State: spec.Pending, Msg: "waits for role db to be ready"}
	if got := mergeAttempt(waits, spec.ReplicaStatus{Role: "web", State: spec.Running}); got.Msg != "" {
		t.Errorf("running replica: got message %q, want none", got.Msg)
	}
	failed := spec.ReplicaStatus{Role: "web", State: spec.Failed, Msg: "not ready within 30 s"}
	if got := mergeAttempt(failed, spec.ReplicaStatus{Role: "web", State: spec.Failed}); got.Msg != failed.Msg {
		t.Errorf("ended replica: got message %q, want the first", got.Msg)
	}
}
