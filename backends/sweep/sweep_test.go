package sweep

import (
	"testing"
	"time"

	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// TestHowItEnded: each fact is said once.
func TestHowItEnded(t *testing.T) {
	t.Parallel()
	one := []spec.RoleStatus{{Role: "b", Replicas: make([]spec.ReplicaStatus, 1)}}
	three := []spec.RoleStatus{{Role: "a", Replicas: make([]spec.ReplicaStatus, 2)}, one[0]}
	for _, test := range []struct {
		s    spec.Status
		want string
	}{
		{spec.Status{ExitCode: new(3), Roles: one, Msg: "replica b/0 failed first with exit code 3", FirstFailure: &spec.ReplicaStatus{Role: "b"}}, "exit code 3"},
		{spec.Status{ExitCode: new(3), Roles: three, Msg: "replica b/0 failed first with exit code 3", FirstFailure: &spec.ReplicaStatus{Role: "b"}}, "exit code 3, replica b/0"},
		{spec.Status{ExitCode: new(137), Roles: three, Msg: "replica b/0 failed first with signal SIGKILL", FirstFailure: &spec.ReplicaStatus{Role: "b", Signal: "SIGKILL"}}, "exit code 137, replica b/0: killed by SIGKILL"},
		{spec.Status{ExitCode: new(1), Roles: one, Msg: "replica b/0 failed first: out of memory", FirstFailure: &spec.ReplicaStatus{Role: "b", Msg: "out of memory"}}, "exit code 1, out of memory"},
		{spec.Status{ExitCode: new(127), Roles: one, Msg: "replica b/0 could not start: no sh", FirstFailure: &spec.ReplicaStatus{Role: "b", Msg: "no sh"}}, "exit code 127, replica b/0 could not start: no sh"},
		{spec.Status{Msg: "evicted"}, "evicted"},
		{spec.Status{}, "exit code not known"},
	} {
		test.s.State = spec.Failed
		e := endOf(&test.s)
		if got := howItEnded(&sweep.TrialState{Code: e.Code, Msg: e.Msg}); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestProgressOfTheJournal: a sweep whose trials have run is not PENDING.
func TestProgressOfTheJournal(t *testing.T) {
	t.Parallel()
	m := sweep.NewMachine(sweep.MachineConfig{Trials: 3, Parallel: 1})
	s := spec.Status{State: spec.Pending}
	if addProgress(&s, m); s.State != spec.Pending || s.StartedAt != nil || s.Msg != "0/3 done" {
		t.Errorf("got %+v before the first trial, want PENDING", s)
	}
	for _, e := range []sweep.Event{{Kind: sweep.Launch, App: "a"}, {Kind: sweep.Up, Time: start}, {Kind: sweep.End, State: spec.Succeeded, Time: start}} {
		if err := m.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if addProgress(&s, m); s.State != spec.Running || s.StartedAt == nil || !s.StartedAt.Equal(start) || s.Msg != "1/3 done" {
		t.Errorf("got %+v after it, want RUNNING since %v", s, start)
	}
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
