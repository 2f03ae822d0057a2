package main

import (
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/top"
	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// TestTopGivesTheTerminalBack: top restores the terminal however it ends.
func TestTopGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(s *session)
		code int
	}{
		"q":       {func(s *session) { s.typed("q") }, program.ExitOK},
		"Ctrl-C":  {func(s *session) { s.typed("\x03") }, program.ExitOK},
		"SIGTERM": {func(s *session) { s.signals <- syscall.SIGTERM }, spec.ExitCancelled},
		"SIGHUP":  {func(s *session) { s.signals <- syscall.SIGHUP }, program.ExitHangup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			handle := detached(t, dir, "echo this is the last line; sleep 300")
			s := begin(t, filepath.Join(dir, "home"), true, "top")
			before := s.before
			s.shown.waitFor("this is the last line")
			if mode(t, s) == before {
				t.Error("the terminal is not in raw mode")
			}
			s.typed("m")
			s.shown.waitFor("by memory")
			s.typed("\x1b[B\x1b[A\x1b[6~n")
			s.shown.waitFor("by name")
			c.end(s)
			if code := s.wait(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			text := s.shown.String()
			if !strings.HasPrefix(text, tty.ScreenTake) || !strings.Contains(text, tty.ScreenGive) {
				t.Errorf("%q", text)
			}
			if !strings.Contains(text, handle[strings.LastIndexByte(handle, '/')+1:]) || !strings.Contains(text, "RUNNING") {
				t.Errorf("%q", text)
			}
			if *s.after != before {
				t.Error("the terminal is not in the mode it was in")
			}
		})
	}
}

// TestTopActions: the keys of the last line open a log, cancel after a question, and filter.
func TestTopActions(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	handle := detached(t, dir, "echo this is the last line; sleep 300")
	s := begin(t, filepath.Join(dir, "home"), true, "top")
	s.shown.waitFor("this is the last line")
	for _, step := range []struct{ keys, shows string }{
		{"\x1b[B\r", "log of " + handle + "/a/0"},
		{"q", "enter log"}, // the table is back
		{"x", "cancel " + handle + "? y cancels"},
		{"n", "enter log"},
		{"/no-such", `no app has "no-such"`},
		{"\x1bx", "y cancels"},
		{"y", "canceling " + handle},
	} {
		s.shown.forget()
		s.typed(step.keys)
		s.shown.waitFor(step.shows)
	}
	s.shown.waitFor("CANCELLED")
	s.typed("q")
	if code := s.wait(); code != program.ExitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestTopAfterPanic: top restores the terminal after a panic.
func TestTopAfterPanic(t *testing.T) {
	t.Parallel()
	pts, screen := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(pts.Fd()), unix.TCGETS)
	must(t, err)
	console := ui.NewConsole(ui.Streams{In: pts, Out: pts, Err: pts})
	func() {
		defer func() { _ = recover() }()
		_, _ = top.WatchTop(t.Context(), console, nil, pts, "cpu") // panics without a runner
		t.Error("top continued after the panic")
	}()
	after, err := unix.IoctlGetTermios(int(pts.Fd()), unix.TCGETS)
	must(t, err)
	if *after != *before {
		t.Error("the terminal is not in the mode it was in")
	}
	got := make([]byte, len(tty.ScreenTake+tty.ScreenGive))
	_, err = io.ReadFull(screen, got)
	must(t, err)
	if string(got) != tty.ScreenTake+tty.ScreenGive {
		t.Errorf("%q", got)
	}
	must(t, pts.Close())
	_, err = screen.WriteString("\n") // wakes the reader of keys
	must(t, err)
}

func mode(t *testing.T, s *session) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(s.screen.Fd()), unix.TCGETS)
	must(t, err)
	return *m
}
