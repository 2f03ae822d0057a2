//go:build unix

package docker

import (
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/test/backendtest"
)

func (f *fixture) startOnTerminal(script string) string {
	f.Helper()
	p := f.plan(shell(script))
	p.TTY = &backend.TerminalSize{Rows: 5, Cols: 70}
	if err := f.b.Submit(f.ctx, p); err != nil {
		f.Fatal(err)
	}
	return p.ID
}

func (f *fixture) openTerminal(id string) backend.Terminal {
	f.Helper()
	t, err := f.b.Capabilities().Terminal.OpenTerminal(f.ctx, id, backend.TerminalOptions{All: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { t.Close() })
	return t
}

func (f *fixture) typed(t backend.Terminal, text string) {
	f.Helper()
	if _, err := t.Write([]byte(text)); err != nil {
		f.Fatal(err)
	}
}

// readUntil reads a terminal until its output contains a text, or to its end for "".
func (f *fixture) readUntil(t backend.Terminal, text string) string {
	f.Helper()
	return backendtest.ReadUntil(f.ctx, f, t, text)
}

// TestTerminal: the program has a terminal with the size of the client, a prompt without a newline
// is shown, and the log has every byte.
func TestTerminal(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	id := f.startOnTerminal(`printf 'name? '; read name; until [ "$(stty size)" = "31 91" ]; do sleep 0.1; done; printf 'hi %s\n' "$name"; exit 5`)
	c := f.openTerminal(id)
	f.readUntil(c, "name? ")
	f.typed(c, "ann\r")
	if err := c.Resize(backend.TerminalSize{Rows: 31, Cols: 91}); err != nil {
		t.Fatal(err)
	}
	f.readUntil(c, "hi ann\r\n")
	f.readUntil(c, "")
	if s := f.wait(id); s.ExitCode == nil || *s.ExitCode != 5 {
		t.Errorf("got %+v, want exit code 5", s)
	}
	if log, notices := f.log(id, 0); log != "name? ann\r\nhi ann\r\n" || len(notices) > 0 {
		t.Errorf("got log %q with %q, want every byte", log, notices)
	}
}

// TestTerminalOfKilledAgent: clients go on with the next agent, which adds what was printed
// meanwhile.
func TestTerminalOfKilledAgent(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	id := f.startOnTerminal(`echo up; while read line; do echo "got $line"; done; exit 4`)
	c := f.openTerminal(id)
	f.readUntil(c, "up\r\n")
	f.typed(c, "one\r")
	f.readUntil(c, "got one\r\n")
	f.killAgent(id)
	if err := f.b.Recover(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.typed(c, "two\r")
	f.readUntil(c, "got two\r\n")
	if err := c.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if s := f.wait(id); s.ExitCode == nil || *s.ExitCode != 4 {
		t.Errorf("got %+v, want exit code 4", s)
	}
	if log, _ := f.log(id, 0); !strings.Contains(log, "got one\r\n") || !strings.Contains(log, "got two\r\n") {
		t.Errorf("got log %q, want both lines", log)
	}
}
