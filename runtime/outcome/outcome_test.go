package outcome

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

var (
	first  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	second = first.Add(time.Second)
)

// TestMessage: what all backends say of the replica that failed first.
func TestMessage(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]spec.ReplicaStatus{
		"replica a/1 could not start: no such file":          {ExitCode: new(127), Msg: "no such file"},
		"replica a/1 failed first: the image is missing":     {Msg: "the image is missing"},
		"replica a/1 failed first: out of memory":            {ExitCode: new(137), Signal: "SIGKILL", Msg: "out of memory", StartedAt: &first},
		"replica a/1 failed first with signal SIGSEGV":       {ExitCode: new(139), Signal: "SIGSEGV", StartedAt: &first},
		"replica a/1 failed first with exit code 3":          {ExitCode: new(3), StartedAt: &first},
		"replica a/1 failed first":                           {StartedAt: &first},
		"replica a/1 failed first: its end was not recorded": {Msg: "its end was not recorded", StartedAt: &first},
	} {
		r.Role, r.ID = "a", 1
		if got := Message(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := strings.HasPrefix(Message(&r), FailedFirst(&r)); got == strings.Contains(want, "could not") {
			t.Errorf("%q begins with %q: %t", want, FailedFirst(&r), got)
		}
	}
}

func TestErrorFile(t *testing.T) {
	t.Parallel()
	none, late, early, unknown := spec.ReplicaStatus{FinishedAt: &first}, spec.ReplicaStatus{FinishedAt: &second}, spec.ReplicaStatus{FinishedAt: &first}, spec.ReplicaStatus{}
	late.StructuredErrorMsg, early.StructuredErrorMsg, unknown.StructuredErrorMsg = json.RawMessage(`"late"`), json.RawMessage(`"early"`), json.RawMessage(`"unknown"`)
	for want, replicas := range map[string][]spec.ReplicaStatus{
		"":          {none},
		`"early"`:   {none, unknown, late, early},
		`"late"`:    {unknown, late},
		`"unknown"`: {none, unknown},
	} {
		s := spec.Status{Roles: []spec.RoleStatus{{Replicas: replicas[:1]}, {Replicas: replicas[1:]}}}
		if got := string(ErrorFile(&s)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	a, b := &first, &second
	for _, c := range []struct{ x, y, earlier, later *time.Time }{
		{a, b, a, b}, {b, a, a, b}, {a, nil, a, a}, {nil, a, a, a}, {nil, nil, nil, nil}, {a, a, a, a},
	} {
		if got := Earlier(c.x, c.y); got != c.earlier {
			t.Errorf("earlier of %v and %v: got %v", c.x, c.y, got)
		}
		if got := Later(c.x, c.y); got != c.later {
			t.Errorf("later of %v and %v: got %v", c.x, c.y, got)
		}
		if CompareTimes(c.x, c.y) != -CompareTimes(c.y, c.x) {
			t.Errorf("%v and %v are not ordered", c.x, c.y)
		}
	}
	if got := Newest(make([]int, maxPast+1)); len(got) != maxPast {
		t.Errorf("got %d, want %d", len(got), maxPast)
	}
}
