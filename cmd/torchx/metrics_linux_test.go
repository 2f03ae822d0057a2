package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
)

// TestMetricsFollow: metrics -t shows values as they come and gives the terminal back.
func TestMetricsFollow(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	detached(t, dir, `echo '{"step": 1, "loss": 0.75}' >> $TORCHX_METRICS; sleep 300`)
	s := begin(t, filepath.Join(dir, "home"), true, "metrics", "-t", "-")
	before := s.before
	s.shown.waitFor("0.75")
	s.typed("q")
	if code := s.wait(); code != program.ExitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	if text := s.shown.String(); !strings.HasPrefix(text, tty.ScreenTake) || !strings.Contains(text, tty.ScreenGive) || !strings.Contains(text, "by step") {
		t.Errorf("%q", text)
	}
	if *s.after != before {
		t.Error("the terminal is not in the mode it was in")
	}
}

// TestMetricsFollowToTheEnd: metrics -t ends with the app and leaves its page on the terminal.
func TestMetricsFollowToTheEnd(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	r := torchx(t, dir, nil, "", "run", "-d", "utils.sh", "-c", `echo '{"loss": 0.75}' >> $TORCHX_METRICS; while [ ! -e "`+filepath.Join(dir, "go")+`" ]; do sleep 0.05; done; echo '{"loss": 0.25}' >> $TORCHX_METRICS`)
	handle := strings.TrimSpace(r.out)
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", handle) })
	s := begin(t, filepath.Join(dir, "home"), true, "metrics", "-t", handle, "loss")
	s.shown.waitFor("0.75")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	if code := s.wait(); code != program.ExitOK {
		t.Errorf("exit code %d, want 0", code)
	}
	_, page, _ := strings.Cut(s.shown.String(), tty.ScreenGive)
	if !strings.Contains(page, "0.25") || !strings.Contains(page, "by time") {
		t.Errorf("got %q after the view, want the last page", page)
	}
}
