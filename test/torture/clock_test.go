//go:build linux

package torture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// setBack sets the clock of all commands, agents included, back by an hour.
func (h *home) setBack() {
	h.Helper()
	if err := os.WriteFile(h.clock, []byte("-1h"), 0o600); err != nil {
		h.Fatal(err)
	}
}

func (h *home) status() (s spec.Status) {
	h.Helper()
	r := h.torchx("", "status", "--json", "-")
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		h.Fatalf("status: exit %d, %v\n%s", r.code, err, r.stderr)
	}
	return s
}

// inOrder checks that nothing ended before it began.
func (h *home) inOrder(s spec.Status) {
	h.Helper()
	times := []*time.Time{s.SubmittedAt, s.StartedAt, s.FinishedAt}
	for _, r := range append(s.Past, s.Roles[0].Replicas...) {
		times = append(times, s.StartedAt, r.StartedAt, r.FinishedAt)
	}
	for i, t := range times {
		if t == nil || i%3 > 0 && t.Before(*times[i-1]) || t.Sub(*times[0]) > 10*time.Minute {
			h.Errorf("time %d of %v is out of order", i, times)
		}
	}
}

// The clock is set back by an hour while an agent runs: times never go back, and
// every line is found.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.clock = filepath.Join(t.TempDir(), "clock")
	h.torchx("", "run", "-d", h.file, "--max_retries", "1", "--script",
		"echo before; while ! test -e go; do sleep 0.01; done; echo after; if test -e again; then exit 0; fi; touch again; exit 1")
	h.eventually("output", func() bool { return h.torchx("", "log", "-").stdout != "" })
	h.setBack()
	if err := os.WriteFile(filepath.Join(h.scratch, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.torchx("", "wait", "-"); r.code != 0 {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	h.inOrder(h.status())
	h.linesInOrder("0")
	h.linesInOrder("1")
	for _, since := range []string{"1m", "2h"} {
		if out := h.torchx("", "log", "--attempt", "0", "--since", since, "-/sh/0").stdout; out != "before\nafter\n" {
			t.Errorf("log --since %s: %q", since, out)
		}
	}
	if out := h.torchx("", "list").stdout; strings.Contains(out, "-1h") || strings.Contains(out, "-59m") {
		t.Errorf("list has an age below zero:\n%s", out)
	}
	if out := h.torchx("", "list", "--since", "1m", "--json").stdout; !strings.Contains(out, "app_id") {
		t.Errorf("list --since does not find the app: %s", out)
	}
}

// linesInOrder checks the times of an attempt's log, and that each line is found
// by its own time.
func (h *home) linesInOrder(attempt string) {
	h.Helper()
	last := ""
	for line := range strings.Lines(h.torchx("", "log", "--attempt", attempt, "--timestamps", "-/sh/0").stdout) {
		at, text, _ := strings.Cut(line, " ")
		if at < last {
			h.Errorf("the time of %q goes back from %s to %s", text, last, at)
		}
		last = at
		if out := h.torchx("", "log", "--attempt", attempt, "--since", at, "-/sh/0").stdout; !strings.Contains(out, text) {
			h.Errorf("log --since %s has no line %q, but %q", at, text, out)
		}
	}
	if last == "" {
		h.Errorf("the log of attempt %s is empty", attempt)
	}
}

// What is printed has no duration below zero either, whoever works out the result.
func TestDurationsAfterClockSetBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.clock = filepath.Join(t.TempDir(), "clock")
	r := h.torchx("", "run", h.file, "--script", "sleep 0.1; printf -- -1h > "+h.clock+"; sleep 0.1; exit 3")
	said := regexp.MustCompile(`exit code 3 after (\S+)`).FindStringSubmatch(r.stderr)
	if r.code != 3 || said == nil {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	if d, err := time.ParseDuration(said[1]); err != nil || d < 100*time.Millisecond || d > time.Minute {
		t.Errorf("it took %s", said[1])
	}
	if err := os.Remove(h.clock); err != nil {
		t.Fatal(err)
	}
	h.torchx("", "run", "-d", h.file, "--script", "exec sleep 600")
	h.setBack()
	h.killAgents()
	h.eventually("the result", func() bool { return h.status().State.Terminal() })
	h.inOrder(h.status())
}
