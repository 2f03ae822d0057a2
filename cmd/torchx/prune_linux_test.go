package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/runtime/spec"
)

func TestPruneAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(s *session)
		code int
		says string
		left bool
	}{
		"yes":         {func(s *session) { s.typed("y\n") }, program.ExitOK, "removed 1 app, ", false},
		"the word":    {func(s *session) { s.typed(" YES \n") }, program.ExitOK, "removed 1 app, ", false},
		"no":          {func(s *session) { s.typed("n\n") }, program.ExitError, "nothing removed", true},
		"by default":  {func(s *session) { s.typed("\n") }, program.ExitError, "nothing removed", true},
		"end of text": {func(s *session) { s.typed("\x04") }, program.ExitError, "nothing removed", true},
		"Ctrl-C":      {func(s *session) { s.signals <- os.Interrupt }, spec.ExitCancelled, "interrupted", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			r := torchx(t, dir, nil, "", "run", "utils.echo")
			handle := strings.TrimSpace(r.out)
			s := begin(t, filepath.Join(dir, "home"), true, "prune", "--all")
			s.shown.waitFor("remove 1 app, ")
			s.shown.waitFor("? [y/N] ")
			c.act(s)
			if code := s.wait(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(s.shown.String(), handle) || !strings.Contains(s.shown.String(), c.says) {
				t.Errorf("no %q in %q", c.says, s.shown)
			}
			if r := torchx(t, dir, nil, "", "status", handle); (r.code == program.ExitOK) != c.left {
				t.Errorf("status: %+v", r)
			}
		})
	}
}

// TestLogNewFollowsAndGoesOn: after an interrupted `log --new -f`, the next --new continues
// where it stopped.
func TestLogNewFollowsAndGoesOn(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	handle := detached(t, dir, "echo one; printf two; while [ ! -e go ]; do sleep 0.02; done; echo end; echo three; sleep 300")
	home := filepath.Join(dir, "home")
	s := begin(t, home, false, "log", "--new", "-t", handle+"/a/0")
	s.shown.waitFor("one\ntwo")
	s.signals <- syscall.SIGINT
	if code := s.wait(); code != spec.ExitCancelled {
		t.Errorf("exit code %d", code)
	}
	if got := torchx(t, dir, nil, "", "log", "--new", handle+"/a/0"); got.out != "" {
		t.Errorf("nothing is new, but: %q", got.out)
	}
	s = begin(t, home, false, "log", "--new", "-t", handle+"/a/0")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	s.shown.waitFor("three\n")
	s.signals <- syscall.SIGINT
	s.wait()
	if got := strings.TrimSuffix(s.shown.String(), "torchx: interrupted: "+handle+" has not ended\n"); got != "end\nthree\n" {
		t.Errorf("shown: %q", got)
	}
}

// TestLogNewWithoutHistory: with a read-only history, --new warns once and prints all lines.
func TestLogNewWithoutHistory(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	handle := strings.TrimSpace(torchx(t, dir, nil, "", "run", "utils.echo").out)
	if r := torchx(t, dir, nil, "", "log", "--new", handle); r.out != "echo/0 hello world\n" {
		t.Fatalf("%+v", r)
	}
	db := filepath.Join(dir, "home", "state.db")
	must(t, os.Rename(db, db+".aside"))
	must(t, os.RemoveAll(db+"-wal"))
	must(t, os.RemoveAll(db+"-shm"))
	must(t, os.Mkdir(db, 0o700))
	for range 2 {
		r := torchx(t, dir, nil, "", "log", "--new", handle)
		if r.code != program.ExitOK || r.out != "echo/0 hello world\n" || strings.Count(r.err, "all lines are printed") != 1 {
			t.Errorf("%+v", r)
		}
	}
}
