package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/runtime/spec"
)

// waiting is a trial that ends when the test creates the file go.
const waiting = `while [ ! -e go ]; do sleep 0.02; done`

// TestSweepOnATerminal: the trials are one table, however often it is drawn; keys and signals
// cancel the sweep or leave it running, and the terminal is restored.
func TestSweepOnATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(s *session)
		code int
		says string
		left string // state of the sweep
	}{
		"Ctrl-C":  {func(s *session) { s.typed("\x03") }, spec.ExitCancelled, "canceling sweep://", "CANCELLED"},
		"signal":  {func(s *session) { s.signals <- os.Interrupt }, spec.ExitCancelled, "canceling sweep://", "CANCELLED"},
		"q":       {func(s *session) { s.typed("q") }, program.ExitOK, "detached, sweep://", "PENDING|RUNNING"},
		"hang-up": {func(s *session) { s.signals <- unix.SIGHUP }, program.ExitHangup, "terminal closed, sweep://", "PENDING|RUNNING"},
		"the end": {func(s *session) {
			must(s.t, os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600))
		}, program.ExitOK, "9/9 done", "SUCCEEDED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			home := filepath.Join(dir, "home")
			s := begin(t, home, true, "sweep", "--repeat", "9", "--parallel", "2", "comps.star:two", "--first", waiting)
			t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", "-") })
			s.shown.waitFor("2 running")
			size := &unix.Winsize{Row: 6, Col: 40}
			must(t, unix.IoctlSetWinsize(int(s.screen.Fd()), unix.TIOCSWINSZ, size))
			must(t, unix.Kill(unix.Getpid(), unix.SIGWINCH)) // the terminal of a test is not that of its process
			s.shown.waitFor("8 more trials")
			c.act(s)
			if code := <-s.ended; code != c.code {
				t.Errorf("got exit code %d, want %d: %s", code, c.code, s.shown)
			}
			text := s.shown.String()
			begin, end := strings.Index(text, tty.ScreenTake), strings.Index(text, tty.ScreenGive)
			if begin < 0 || end < 0 || strings.Count(text, tty.ScreenTake) != 1 {
				t.Fatalf("got %q, want the screen taken and given back once", text)
			}
			if !strings.Contains(text[:begin], "\nsweep://torchx/two-") || !strings.Contains(text[end:], c.says) {
				t.Errorf("got %q, want the handle before the screen and %q at the end", text, c.says)
			}
			if *s.after != s.before {
				t.Error("the terminal is not in the mode it was in")
			}
			if r := torchx(t, dir, nil, "", "status", "-"); !regexp.MustCompile("State: (" + c.left + ")").MatchString(r.out) {
				t.Errorf("got\n%s%s\nwant %s", r.out, r.err, c.left)
			}
		})
	}
}
