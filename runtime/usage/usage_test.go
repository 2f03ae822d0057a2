package usage

import (
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func TestVisiblePart(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                       "",
		"a\n":                    "a",
		"10%\r20%\r30%\r":        "30%",
		strings.Repeat("x", 500): strings.Repeat("x", maxLineBytes),
	} {
		if got := visiblePart(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := &Sampler{cpu: map[int]time.Duration{1: time.Second, 2: 9 * time.Second}, at: now.Add(-2 * time.Second)}
	attempt, none := 10.0, 0.0
	for _, c := range []struct {
		pid     int
		elapsed *float64
		want    float64 // -1: unknown
	}{
		{1, &attempt, 100}, // 2 s more in 2 s
		{2, &attempt, 30},  // another process: 3 s of 10 s
		{3, &attempt, 30},
		{3, nil, -1},
		{3, &none, -1},
	} {
		got := s.percent(c.pid, 3*time.Second, c.elapsed, now)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("process %d: got %v, want %v", c.pid, got, c.want)
		}
	}
}

// TestEndOfApp: a replica without an end of its own has ended with its app.
func TestEndOfApp(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	began, ended := now.Add(-10*time.Second), now.Add(-5*time.Second)
	app := newApp(history.View{}, &spec.Status{
		State: spec.Cancelled, StartedAt: &began, FinishedAt: &ended,
		Roles: []spec.RoleStatus{{Role: "r", Replicas: []spec.ReplicaStatus{{State: spec.Cancelled, StartedAt: &began}}}},
	}, now)
	if got := app.Replicas[0].Elapsed; got == nil || *got != 5 {
		t.Errorf("got %v, want 5 s", got)
	}
}

func TestNewApp(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	began, ended := now.Add(-10*time.Second), now.Add(-5*time.Second)
	seconds, peak := 2.5, int64(7)
	app := newApp(history.View{}, &spec.Status{
		State: spec.Running, StartedAt: &began,
		Roles: []spec.RoleStatus{{Role: "r", Replicas: []spec.ReplicaStatus{
			{State: spec.Running, PID: 5, StartedAt: &began},
			{ID: 1, State: spec.Succeeded, PID: 6, StartedAt: &began, FinishedAt: &ended, CPUSeconds: &seconds, MaxRSSBytes: &peak},
		}}},
	}, now)
	app.sum()
	live, done := app.Replicas[0], app.Replicas[1]
	if *app.Elapsed != 10 || *live.PID != 5 || live.CPU != nil || app.RSS != nil {
		t.Errorf("live replica: got %+v of %+v", live, app)
	}
	if done.PID != nil || *done.CPU != 50 || *done.RSS != 7 || *done.Elapsed != 5 {
		t.Errorf("ended replica: got %+v", done)
	}
	app.State = spec.Succeeded // all replicas count, not only running ones
	if app.sum(); *app.CPU != 50 || *app.RSS != 7 {
		t.Errorf("sum: got %v CPU, %v bytes, want 50 and 7", *app.CPU, *app.RSS)
	}
}
