package follow

import (
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/spec"
)

func TestLogRequest(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	given := func(text string) *string { return &text }
	o := logOptions{regex: "a|b", stream: "stderr", since: "10m", until: "1700000000", last: given("0"), line: "3:7", attempt: given("2")}
	q, err := o.request(now)
	if err != nil {
		t.Fatal(err)
	}
	if q.Read.Tail != 0 || *q.Read.Attempt != 2 || q.Read.FromLine != 3 || q.Read.ToLine != 7 ||
		!q.Read.Since.Equal(now.Add(-10*time.Minute)) || !q.Read.Until.Equal(now) || !q.Regex.MatchString("xb") {
		t.Errorf("got %+v", q)
	}
	q, err = logOptions{}.request(now)
	if err != nil {
		t.Fatal(err)
	}
	if q.Read.Tail != -1 || q.Read.Attempt != nil || q.Regex != nil {
		t.Errorf("without flags: got %+v, want all lines of the last attempt", q)
	}
	for _, bad := range []logOptions{
		{regex: "("},
		{stream: "stdin"},
		{since: "soon"},
		{until: "x"},
		{last: given("-1")},
		{last: given("")},
		{attempt: given("one")},
		{line: "0"},
		{line: "5:4"},
		{line: ":4"},
		{line: "x"},
	} {
		if _, err := bad.request(now); program.ExitCode(t.Context(), err) != program.ExitUsage {
			t.Errorf("%+v: got %v, want a usage error", bad, err)
		}
	}
}

func TestFailedReplicasOfTarget(t *testing.T) {
	t.Parallel()
	failed := func(id int) spec.ReplicaStatus { return spec.ReplicaStatus{ID: id, State: spec.Failed} }
	s := &spec.Status{Roles: []spec.RoleStatus{
		{Role: "a", Replicas: []spec.ReplicaStatus{failed(0), {ID: 1, State: spec.Cancelled}, failed(2)}},
		{Role: "b", Replicas: []spec.ReplicaStatus{failed(0), {ID: 1, State: spec.Succeeded}}},
	}}
	for _, c := range []struct {
		target LogTarget
		want   string
	}{
		{LogTarget{}, "a0 a2 b0"},
		{LogTarget{Role: "a"}, "a0 a2"},
		{LogTarget{Role: "a", IDs: []int{0, 1}}, "a0"},
		{LogTarget{Role: "c"}, ""},
	} {
		var got []string
		for _, r := range failedReplicas(s, c.target) {
			got = append(got, r.Role+string(rune('0'+r.ID)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %v, want %s", c.target, got, c.want)
		}
	}
}
