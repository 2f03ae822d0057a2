package main

import (
	"io"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"torchx/runtime/spec"
)

// TestTopGivesTheTerminalBack: whatever ends top, the terminal is as it was.
func TestTopGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	handle := detached(t, dir, "echo this is the last line; sleep 300")
	for name, c := range map[string]struct {
		end  func(s *session)
		code int
	}{
		"q":       {func(s *session) { s.typed("q") }, exitOK},
		"Ctrl-C":  {func(s *session) { s.typed("\x03") }, exitOK},
		"SIGTERM": {func(s *session) { s.signals <- syscall.SIGTERM }, exitInterrupted},
		"SIGHUP":  {func(s *session) { s.signals <- syscall.SIGHUP }, exitHangup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			if code := <-s.ended; code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			text := s.shown.String()
			if !strings.HasPrefix(text, screenTake) || !strings.Contains(text, screenGive) {
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

// TestTopAfterPanic: a defect must not leave a terminal that cannot be used.
func TestTopAfterPanic(t *testing.T) {
	t.Parallel()
	pts, screen := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(pts.Fd()), unix.TCGETS)
	must(t, err)
	tool := &tool{console: newConsole(streams{pts, pts, pts})}
	func() {
		defer func() { _ = recover() }()
		_ = tool.watchTop(t.Context(), nil, pts, "cpu") // there is no sampler
		t.Error("it went on")
	}()
	after, err := unix.IoctlGetTermios(int(pts.Fd()), unix.TCGETS)
	must(t, err)
	if *after != *before {
		t.Error("the terminal is not in the mode it was in")
	}
	got := make([]byte, len(screenTake+screenGive))
	_, err = io.ReadFull(screen, got)
	must(t, err)
	if string(got) != screenTake+screenGive {
		t.Errorf("%q", got)
	}
	must(t, pts.Close())
	_, err = screen.WriteString("\n") // wakes up the reader of keys
	must(t, err)
}

func mode(t *testing.T, s *session) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(s.screen.Fd()), unix.TCGETS)
	must(t, err)
	return *m
}

func TestLastPart(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                       "",
		"a\n":                    "a",
		"10%\r20%\r30%\r":        "30%",
		"\x1b[31mred\n":          `\x1bred`,
		strings.Repeat("x", 500): strings.Repeat("x", maxLastLine),
	} {
		if got := lastPart(in); got != want && in != "\x1b[31mred\n" || strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTopKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys  string
		first int
	}{{"[A", 4}, {"OB", 6}, {"[H", 0}, {"[1~", 0}, {"[F", math.MaxInt}, {"[4~", math.MaxInt}, {"[Z", 5}} {
		v := &topScreen{first: 5}
		keys := make(chan byte, len(c.keys))
		for _, k := range []byte(c.keys) {
			keys <- k
		}
		if quit := v.key('\x1b', keys); quit || v.first != c.first {
			t.Errorf("%q: first row %d, want %d", c.keys, v.first, c.first)
		}
	}
}

// TestTopWidth: no line is wider than the terminal, however narrow it is.
func TestTopWidth(t *testing.T) {
	t.Parallel()
	line, bytes, percent := strings.Repeat("loss ", 50), int64(900<<20), 99.5
	for width := 13; width < 300; width++ {
		tab := topTable([]*topApp{{
			Name: "a-rather-long-name-pmh49wllj3gz9", State: spec.Cancelled, RSS: &bytes, CPU: &percent, Elapsed: &percent,
			Replicas: []topReplica{{Role: "trainer", ID: 299, State: spec.Running, LastLine: &line, RSS: &bytes}},
		}})
		cutLines(tab, width)
		var text strings.Builder
		must(t, tab.write(&text, style{}))
		for l := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > width {
				t.Errorf("%d columns where there are %d: %q", n, width, l)
			}
		}
		if shows := "a-rather-"; width >= 30 && !strings.Contains(text.String(), shows) || width >= 40 && !strings.Contains(text.String(), "CANCELLED") {
			t.Errorf("%d columns:\n%s", width, text.String())
		}
	}
}

func TestSortTop(t *testing.T) {
	t.Parallel()
	f := func(v float64) *float64 { return &v }
	n := func(v int64) *int64 { return &v }
	for order, want := range map[string]string{"cpu": "b a c", "memory": "a b c", "elapsed": "c a b", "name": "a b c"} {
		apps := []*topApp{
			{Name: "a", CPU: f(1), RSS: n(9), Elapsed: f(2)},
			{Name: "c", Elapsed: f(3)},
			{Name: "b", CPU: f(50), RSS: n(1), Elapsed: f(1)},
		}
		sortTop(apps, order)
		var got []string
		for _, a := range apps {
			got = append(got, a.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", order, got, want)
		}
	}
}

func TestUsageTexts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 99 << 20: "99.0 MiB", 100 << 20: "100 MiB", 1000 << 20: "1.0 GiB", 3 << 40: "3.0 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0.00 s", 59.99: "59.99 s", 61: "1:01", 3723: "1:02:03", 90061: "1d01:01:01"} {
		if got := secondsText(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
