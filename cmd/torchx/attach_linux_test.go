package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torchx/backends/all"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// session is a command that runs in this process, with or without its own terminal.
type session struct {
	t       *testing.T
	dir     string
	signals chan os.Signal
	screen  *os.File // the user's side of the terminal; nil without one
	shown   *watched
	ended   chan int
	before  unix.Termios  // the terminal's mode
	after   *unix.Termios // at the end
}

// begin starts a command with TORCHX_HOME set to home.
func begin(t *testing.T, home string, terminal bool, args ...string) *session {
	t.Helper()
	exe, err := exec.LookPath("torchx")
	must(t, err)
	s := &session{t: t, dir: filepath.Dir(home), signals: make(chan os.Signal, 4), shown: newWatched(t), ended: make(chan int, 1)}
	in := ui.Streams{In: strings.NewReader(""), Out: s.shown, Err: s.shown}
	var pts *os.File
	copied := make(chan struct{})
	if terminal {
		pts, s.screen = openTerminal(t)
		must(t, unix.IoctlSetWinsize(int(pts.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
		in = ui.Streams{In: pts, Out: pts, Err: pts}
		s.before = mode(t, s)
		go s.copyScreen(copied)
	}
	env := program.Environment{
		Vars: []string{"TORCHX_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm"},
		Dir:  filepath.Dir(home), Exe: exe, Signals: s.signals, Registry: all.New,
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		code := program.Run(ctx, append([]string{"torchx"}, args...), in, env, torchxProgram())
		if pts != nil {
			s.after, _ = unix.IoctlGetTermios(int(pts.Fd()), unix.TCGETS) // the test checks for nil
			_ = pts.Close()                                               // ends copyScreen
			// A blocked reader keeps the terminal open until it wakes up.
			_, _ = s.screen.WriteString("\n")
			<-copied
		}
		s.ended <- code
	}()
	return s
}

func (s *session) copyScreen(done chan<- struct{}) {
	defer close(done)
	buf := make([]byte, 4096)
	for {
		n, err := s.screen.Read(buf)
		_, _ = s.shown.Write(buf[:n]) // cannot fail
		if err != nil {
			return // EIO: the pts's end is closed
		}
	}
}

// wait returns the exit code of the command.
func (s *session) wait() int {
	s.t.Helper()
	select {
	case code := <-s.ended:
		return code
	case <-time.After(patience):
		s.t.Fatalf("the command did not end within %v; it wrote %q", patience, s.shown)
		return 0
	}
}

func (s *session) typed(text string) {
	_, err := s.screen.WriteString(text)
	must(s.t, err)
}

// detached starts an app that keeps running and returns its handle.
func detached(t *testing.T, dir string, line string) string {
	t.Helper()
	r := torchx(t, dir, nil, "", "run", "-d", "comps.star:two", "--first", line, "--second", "sleep 300")
	if r.code != program.ExitOK {
		t.Fatalf("%+v", r)
	}
	handle := strings.TrimSpace(r.out)
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", handle) })
	return handle
}

const slowly = `echo before; while [ ! -e go ]; do sleep 0.02; done; while :; do echo after; sleep 0.1; done`

func TestAttachOnATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(s *session)
		code int
		says string
		left string // state of the app
	}{
		"enter detaches":  {func(s *session) { s.typed("\n") }, program.ExitOK, "keeps running: torchx attach", "RUNNING"},
		"d detaches":      {func(s *session) { s.typed("d\n") }, program.ExitOK, "keeps running: torchx attach", "RUNNING"},
		"end of input":    {func(s *session) { s.typed("\x04") }, program.ExitOK, "keeps running: torchx attach", "RUNNING"},
		"asks again":      {func(s *session) { s.typed("x\n\n") }, program.ExitOK, "keeps running: torchx attach", "RUNNING"},
		"second Ctrl-C":   {func(s *session) { s.signals <- os.Interrupt }, spec.ExitCancelled, "keeps running: torchx attach", "RUNNING"},
		"the hang-up":     {func(s *session) { s.signals <- syscall.SIGHUP }, program.ExitHangup, "keeps running", "RUNNING"},
		"c cancels":       {func(s *session) { s.typed("c\n") }, spec.ExitCancelled, ": CANCELLED", "CANCELLED"},
		"cancel cancels":  {func(s *session) { s.typed("CANCEL\n") }, spec.ExitCancelled, ": CANCELLED", "CANCELLED"},
		"SIGTERM as well": {func(s *session) { s.signals <- syscall.SIGTERM }, spec.ExitCancelled, "keeps running: torchx attach", "RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			handle := detached(t, dir, slowly)
			s := begin(t, filepath.Join(dir, "home"), true, "attach", "--all", handle)
			s.shown.waitFor("before")
			s.signals <- os.Interrupt
			s.shown.waitFor("d detach from it (default): ")
			c.act(s)
			if code := s.wait(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(s.shown.String(), c.says) {
				t.Errorf("no %q in %q", c.says, s.shown)
			}
			if r := torchx(t, dir, nil, "", "status", handle); !strings.Contains(r.out, "State: "+c.left) {
				t.Errorf("%s", r.out)
			}
		})
	}
}

// TestAttachFromNow: earlier output is printed only with --all.
func TestAttachFromNow(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	handle := detached(t, dir, slowly)
	seen := begin(t, filepath.Join(dir, "home"), false, "log", "-t", handle)
	seen.shown.waitFor("a/0 before\n")
	s := begin(t, filepath.Join(dir, "home"), false, "attach", handle)
	all := begin(t, filepath.Join(dir, "home"), false, "attach", handle, "--all")
	all.shown.waitFor("a/0 before\n")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	all.shown.waitFor("a/0 after\n")
	if s.shown.waitFor("a/0 after\n"); strings.Contains(s.shown.String(), "before") {
		t.Errorf("%q", s.shown)
	}
	for _, one := range []*session{s, all, seen} {
		one.signals <- os.Interrupt
		if code := one.wait(); code != spec.ExitCancelled {
			t.Errorf("exit code %d", code)
		}
	}
	if !strings.Contains(s.shown.String(), "detached, "+handle+" keeps running") {
		t.Errorf("%q", s.shown)
	}
	if r := torchx(t, dir, nil, "", "status", handle); !strings.Contains(r.out, "State: RUNNING") {
		t.Errorf("%s", r.out)
	}
}

// TestAttachEndsWhileAsking: the app may end while attach asks whether to cancel it.
func TestAttachEndsWhileAsking(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	handle := detached(t, dir, slowly)
	s := begin(t, filepath.Join(dir, "home"), true, "attach", "--all", handle)
	s.shown.waitFor("before")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	s.shown.waitFor("after")
	s.signals <- os.Interrupt
	s.shown.waitFor("d detach from it (default): ")
	if r := torchx(t, dir, nil, "", "cancel", "--wait", handle); r.code != program.ExitOK {
		t.Fatalf("%+v", r)
	}
	s.typed("d\n")
	if code := s.wait(); code != spec.ExitCancelled || !strings.Contains(s.shown.String(), ": CANCELLED") {
		t.Errorf("exit code %d: %q", code, s.shown)
	}
	if strings.Contains(s.shown.String(), "keeps running") {
		t.Errorf("%q", s.shown)
	}
}
