package runner

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func names(inputs []LogInput) string {
	var s []string
	for _, in := range inputs {
		s = append(s, in.Role+"/"+string(rune('0'+in.ID)))
	}
	return strings.Join(s, " ")
}

func roles(state spec.State, counts ...any) *spec.Status {
	s := &spec.Status{State: state}
	for i := 0; i < len(counts); i += 2 {
		rs := spec.RoleStatus{Role: counts[i].(string)}
		for id := range counts[i+1].(int) {
			rs.Replicas = append(rs.Replicas, spec.ReplicaStatus{ID: id, Role: rs.Role})
		}
		s.Roles = append(s.Roles, rs)
	}
	return s
}

func TestLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := history.AppKey{Backend: "local", ID: "app"}
	w.local.set("app", roles(spec.Running, "a", 2, "purged", 1, "b", 1))
	for _, tt := range []struct {
		role      string
		ids       []int
		want, err string
	}{
		{"", nil, "a/0 a/1 b/0", ""},
		{"a", nil, "a/0 a/1", ""},
		{"a", []int{1}, "a/1", ""},
		{"a", []int{1, 0}, "a/1 a/0", ""},
		{"c", nil, "", `no role "c" in app local://torchx/app: it has a, purged, b`},
		{"c", []int{0}, "", `no role "c"`},
		{"a", []int{2}, "", "no replica 2 in role a of app local://torchx/app: it has 0 to 1"},
		{"purged", nil, "", "no log of purged/0: purged since noon"},
		{"purged", []int{0}, "", "purged since noon"},
	} {
		inputs, err := w.Logs(t.Context(), ref, tt.role, tt.ids, backend.LogOptions{})
		if tt.err != "" {
			if !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %v: got %v, want %q", tt.role, tt.ids, err, tt.err)
			}
			continue
		}
		if err != nil || names(inputs) != tt.want {
			t.Errorf("%s %v: got %s, %v, want %s", tt.role, tt.ids, names(inputs), err, tt.want)
		}
		CloseLogs(inputs)
	}
	w.warned(t, "no log of purged/0: purged since noon")
	if _, err := w.Logs(t.Context(), history.AppKey{Backend: "local", ID: "nope"}, "", nil, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("unknown app: got %v, want not found", err)
	}
}

func TestLogsWaitForStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := history.AppKey{Backend: "local", ID: "app"}
	w.local.set("app", roles(spec.Pending, "a", 1))
	var queries atomic.Int32
	w.local.describe = func(string) error {
		if queries.Add(1) == 3 {
			go w.local.set("app", roles(spec.Running, "a", 2))
		}
		return nil
	}
	if inputs, err := w.Logs(t.Context(), ref, "a", []int{0}, backend.LogOptions{}); err != nil || queries.Load() >= 3 {
		t.Errorf("named: got %v, %v after %d queries, want one open log without waiting", names(inputs), err, queries.Load())
	}
	if inputs, err := w.Logs(t.Context(), ref, "", nil, backend.LogOptions{}); err != nil || names(inputs) != "a/0 a/1" {
		t.Errorf("all: got %v, %v, want a/0 a/1", names(inputs), err)
	}
}

// TestLogsOfEndedApp: an app that its backend has is read once before its logs are opened.
func TestLogsOfEndedApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.local.set("app", roles(spec.Succeeded, "a", 2))
	var queries atomic.Int32
	w.local.describe = func(string) error {
		queries.Add(1)
		return nil
	}
	inputs, err := w.Logs(t.Context(), history.AppKey{Backend: "local", ID: "app"}, "", nil, backend.LogOptions{})
	if n := queries.Load() - 2; err != nil || names(inputs) != "a/0 a/1" || n != 1 { // the fake's Logs queries, too
		t.Errorf("got %v, %v after %d queries, want two logs after one", names(inputs), err, n)
	}
}

func TestLogsOfAppThatNeverStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.crashed(t)
	w.submittersDead = true
	_, err := w.Logs(t.Context(), ref, "", nil, backend.LogOptions{})
	if !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), "torchx ended before the app was started") {
		t.Errorf("got %v, want that the app was not started", err)
	}
	w.local.set("empty", &spec.Status{State: spec.Failed, Msg: "no such program"})
	_, err = w.Logs(t.Context(), history.AppKey{Backend: "local", ID: "empty"}, "", nil, backend.LogOptions{})
	if !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), "no such program") {
		t.Errorf("got %v, want no such program", err)
	}
}
