package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/runtime/spec"
)

// TestSelectedAppsAreConfirmed: on a terminal, a command that changes the apps that flags select
// lists them and asks; --yes and --force do not.
func TestSelectedAppsAreConfirmed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		asks    string
		act     func(s *session)
		code    int
		says    string
		left    string // states of the apps afterwards, the newest first
	}{
		"cancel":         {[]string{"cancel", "--all", "--wait"}, "cancel 1 app? [y/N] ", func(s *session) { s.typed("y\n") }, program.ExitOK, ": CANCELLED", "CANCELLED SUCCEEDED"},
		"no":             {[]string{"cancel", "--all"}, "cancel 1 app? [y/N] ", func(s *session) { s.typed("\n") }, program.ExitError, "nothing canceled", "RUNNING SUCCEEDED"},
		"end of text":    {[]string{"delete", "--name", "ech*"}, "delete 1 app? [y/N] ", func(s *session) { s.typed("\x04") }, program.ExitError, "nothing deleted", "RUNNING SUCCEEDED"},
		"delete":         {[]string{"delete", "--all"}, "delete 1 app? [y/N] ", func(s *session) { s.typed("yes\n") }, program.ExitOK, "deleted local://", "RUNNING"},
		"tag":            {[]string{"tag", "--all", "x=1"}, "tag 2 apps? [y/N] ", func(s *session) { s.signals <- os.Interrupt }, spec.ExitCancelled, "interrupted", "RUNNING SUCCEEDED"},
		"force":          {[]string{"delete", "--all", "--force"}, "", nil, program.ExitOK, "deleted local://", ""},
		"yes":            {[]string{"cancel", "--all", "--wait", "-y"}, "", nil, program.ExitOK, ": CANCELLED", "CANCELLED SUCCEEDED"},
		"nothing to ask": {[]string{"delete", "--state", "failed"}, "", nil, program.ExitOK, "no app to delete", "RUNNING SUCCEEDED"},
		"reads only":     {[]string{"status", "--name", "echo"}, "", nil, program.ExitOK, "SUCCEEDED", "RUNNING SUCCEEDED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := caseDir(t)
			torchx(t, dir, nil, "", "run", "utils.echo")
			torchx(t, dir, nil, "", "run", "-d", "utils.sh", "sleep", "300")
			t.Cleanup(func() { torchx(t, dir, nil, "", "cancel", "--all", "--force", "--wait") })
			s := begin(t, filepath.Join(dir, "home"), true, c.command...)
			if c.asks != "" {
				s.shown.waitFor(c.asks)
				if !strings.Contains(s.shown.String(), "APP HANDLE") {
					t.Errorf("no list of the apps in %q", s.shown)
				}
				c.act(s)
			}
			if code := s.wait(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(s.shown.String(), c.says) || c.asks == "" && strings.Contains(s.shown.String(), "[y/N]") {
				t.Errorf("got %q, want %q and the question %q", s.shown, c.says, c.asks)
			}
			left := torchx(t, dir, nil, "", "list", "-o", "go-template={{.state}}").out
			if got := strings.Join(strings.Fields(left), " "); got != c.left {
				t.Errorf("got apps in state %q afterwards, want %q", got, c.left)
			}
		})
	}
}

// TestWaitInterrupted: Ctrl-C ends the wait for several apps, not the apps.
func TestWaitInterrupted(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	one := detached(t, dir, "sleep 300")
	two := detached(t, dir, "sleep 300")
	s := begin(t, filepath.Join(dir, "home"), true, "wait", one, two)
	s.shown.waitFor("waiting for 2 apps to end")
	s.signals <- os.Interrupt
	if code := s.wait(); code != spec.ExitCancelled || !strings.Contains(s.shown.String(), "torchx: interrupted: 2 of 2 apps have not ended: ") {
		t.Errorf("exit code %d, shown %q, want %d", code, s.shown, spec.ExitCancelled)
	}
	if r := torchx(t, dir, nil, "", "status", one, two); strings.Count(r.out, "State: RUNNING") != 2 {
		t.Errorf("got %+v, want both apps running", r)
	}
}
