package app

import (
	"testing"
	"time"

	"torchx/cmd/internal/program"
)

func TestLogRequest(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	given := func(text string) *string { return &text }
	o := logOptions{regex: "a|b", stream: "stderr", since: "10m", until: "1700000000", last: given("0"), line: "3:7", attempt: given("2")}
	q, err := o.request(now)
	must(t, err)
	if q.Read.Tail != 0 || *q.Read.Attempt != 2 || q.Read.FromLine != 3 || q.Read.ToLine != 7 ||
		!q.Read.Since.Equal(now.Add(-10*time.Minute)) || !q.Read.Until.Equal(now) || !q.Regex.MatchString("xb") {
		t.Errorf("got %+v", q)
	}
	q, err = logOptions{}.request(now)
	must(t, err)
	if q.Read.Tail != -1 || q.Read.Attempt != nil || q.Regex != nil {
		t.Errorf("defaults: %+v", q)
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
