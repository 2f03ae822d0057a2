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

// setClockBack sets the clock of all commands and agents back by an hour.
func (h *home) setClockBack() {
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

// checkTimes checks that no start is after its end.
func (h *home) checkTimes(s spec.Status) {
	h.Helper()
	times := []*time.Time{s.SubmittedAt, s.StartedAt, s.FinishedAt}
	for _, r := range append(s.Past, s.Roles[0].Replicas...) {
		times = append(times, s.StartedAt, r.StartedAt, r.FinishedAt)
	}
	for i, t := range times {
		if t == nil || i%3 > 0 && t.Before(*times[i-1]) || t.Sub(*times[0]) > 10*time.Minute {
			h.Errorf("time %d is out of order: got %v", i, times)
		}
	}
}

// If the clock is set back by an hour while an agent runs, times never decrease, and every
// line is found.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.clock = filepath.Join(t.TempDir(), "clock")
	h.torchx("", "run", "-d", h.file, "--max_retries", "1", "--script",
		"echo before; while ! test -e go; do sleep 0.01; done; echo after; if test -e again; then exit 0; fi; touch again; exit 1")
	h.waitFor("output", func() bool { return h.torchx("", "log", "-").stdout != "" })
	h.setClockBack()
	if err := os.WriteFile(filepath.Join(h.scratch, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.torchx("", "wait", "-"); r.code != 0 {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	h.checkTimes(h.status())
	h.checkLineTimes("0")
	h.checkLineTimes("1")
	for _, since := range []string{"1m", "2h"} {
		if out := h.torchx("", "log", "--attempt", "0", "--since", since, "-/sh/0").stdout; out != "before\nafter\n" {
			t.Errorf("log --since %s: %q", since, out)
		}
	}
	if out := h.torchx("", "list").stdout; strings.Contains(out, "-1h") || strings.Contains(out, "-59m") {
		t.Errorf("list: got a negative age:\n%s", out)
	}
	if out := h.torchx("", "list", "--since", "1m", "--json").stdout; !strings.Contains(out, "app_id") {
		t.Errorf("list --since does not find the app: %s", out)
	}
}

// checkLineTimes checks that the times of an attempt's log never decrease, and that each
// line is found by its time.
func (h *home) checkLineTimes(attempt string) {
	h.Helper()
	last := ""
	for line := range strings.Lines(h.torchx("", "log", "--attempt", attempt, "--timestamps", "-/sh/0").stdout) {
		at, text, _ := strings.Cut(line, " ")
		if at < last {
			h.Errorf("got time %s of %q after %s", at, text, last)
		}
		last = at
		if out := h.torchx("", "log", "--attempt", attempt, "--since", at, "-/sh/0").stdout; !strings.Contains(out, text) {
			h.Errorf("log --since %s: got %q, want the line %q", at, out, text)
		}
	}
	if last == "" {
		h.Errorf("the log of attempt %s is empty", attempt)
	}
}

// Printed durations are not negative either, whether the agent or a command computes the result.
func TestDurationsAfterClockSetBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.clock = filepath.Join(t.TempDir(), "clock")
	r := h.torchx("", "run", h.file, "--script", "sleep 0.1; printf -- -1h > \""+h.clock+"\"; sleep 0.1; exit 3")
	m := regexp.MustCompile(`exit code 3 after (\S+)`).FindStringSubmatch(r.stderr)
	if r.code != 3 || m == nil {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	if d, err := time.ParseDuration(m[1]); err != nil || d < 100*time.Millisecond || d > time.Minute {
		t.Errorf("got a duration of %s", m[1])
	}
	if err := os.Remove(h.clock); err != nil {
		t.Fatal(err)
	}
	h.torchx("", "run", "-d", h.file, "--script", "exec sleep 600")
	h.setClockBack()
	h.killAgents()
	h.waitFor("the result", func() bool { return h.status().State.Terminal() })
	h.checkTimes(h.status())
}
