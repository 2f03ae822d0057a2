//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/backends/supervised"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/backendtest"
	"torchx/test/homedir"
)

// submitWithTerminal submits a shell script that runs on a terminal.
func (f *fixture) submitWithTerminal(script string) string {
	f.Helper()
	p := f.plan(backend.Config{}, sh("r", 1, script))
	p.TTY = &backend.TerminalSize{Rows: 5, Cols: 7}
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

// readUntil reads a terminal until its output contains a text, or to its end for "".
func (f *fixture) readUntil(t backend.Terminal, text string) string {
	f.Helper()
	return backendtest.ReadUntil(f.ctx, f, t, text)
}

// TestTwoTerminalClients: two clients type at the same time; no line is lost or split.
func TestTwoTerminalClients(t *testing.T) {
	t.Parallel()
	const lines = 500
	f := newFixture(t)
	id := f.submitWithTerminal("stty size -echo; echo ready; wc -l; tty; stty size; exit 5")
	watcher := f.openTerminal(id)
	f.readUntil(watcher, "5 7\r\nready\r\n")
	var typing sync.WaitGroup
	for _, text := range []string{"from the first\n", "of the other\n"} {
		c := f.openTerminal(id)
		typing.Go(func() {
			for range lines {
				if _, err := c.Write([]byte(text)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	typing.Wait()
	if err := watcher.Resize(backend.TerminalSize{Rows: 6, Cols: 8}); err != nil {
		t.Fatal(err)
	}
	if err := watcher.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if shown := f.readUntil(watcher, ""); !strings.Contains(shown, "1000\r\n/dev/") || !strings.Contains(shown, "6 8\r\n") {
		t.Errorf("%q", shown)
	}
	if s := f.wait(id); s.ExitCode == nil || *s.ExitCode != 5 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Lstat(supervised.TerminalInput(f.b.Bundle(id))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the FIFO still exists: %v", err)
	}
	if _, err := watcher.Write([]byte("x")); err == nil {
		t.Error("write to an ended app: got no error")
	}
}

// TestTerminalOfBackground: the log has the output of processes that outlive the leader.
func TestTerminalOfBackground(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.submitWithTerminal(`(trap '' HUP; trap 'echo asked to end; exit' TERM; echo begun; while :; do sleep 0.05; done) & sleep 0.3`)
	if shown := f.readUntil(f.openTerminal(id), ""); !strings.HasSuffix(shown, "asked to end\r\n") {
		t.Errorf("%q", shown)
	}
}

// TestTerminalReopened: a program that closes its streams can reopen its terminal.
func TestTerminalReopened(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.submitWithTerminal(`exec <&- >&- 2>&-; sleep 0.2; echo still here >/dev/tty`)
	if shown := f.readUntil(f.openTerminal(id), ""); shown != "still here\r\n" {
		t.Errorf("%q", shown)
	}
}

// TestTerminalClose: Close unblocks a client that waits for the app.
func TestTerminalClose(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.submitWithTerminal("stty raw -echo; echo ready; exec sleep 300")
	c := f.openTerminal(id)
	f.readUntil(c, "ready")
	done := make(chan error)
	go func() {
		_, err := c.Write(make([]byte, 1<<20))
		done <- err
	}()
	if err := c.Close(); err != nil { // whether or not the writer already waits for room
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
	if _, err := c.Next(f.ctx); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
	if _, err := f.b.Capabilities().Terminal.OpenTerminal(f.ctx, "nothing", backend.TerminalOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// BenchmarkTerminalEcho measures the time of a key to the replica and of its echo back.
func BenchmarkTerminalEcho(b *testing.B) {
	home := homedir.New(b)
	lb, err := New(Config{Home: home, Exe: os.Args[0]})
	if err != nil {
		b.Fatal(err)
	}
	defer lb.Close()
	ctx := b.Context()
	plan, err := lb.Plan(ctx, backend.PlanInput{ID: "echo", App: oneRole(sh("r", 1, "stty raw -echo; echo ready; exec cat")), Cwd: home})
	if err != nil {
		b.Fatal(err)
	}
	plan.TTY = &backend.TerminalSize{Rows: 24, Cols: 80}
	if err := lb.Submit(ctx, plan); err != nil {
		b.Fatal(err)
	}
	c, err := lb.Capabilities().Terminal.OpenTerminal(ctx, "echo", backend.TerminalOptions{All: true})
	if err != nil {
		b.Fatal(err)
	}
	for shown := ""; !strings.Contains(shown, "ready\n"); {
		o, err := c.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		shown += string(o.Data)
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := c.Write([]byte("k")); err != nil {
			b.Fatal(err)
		}
		if o, err := c.Next(ctx); err != nil || string(o.Data) != "k" {
			b.Fatalf("%q %v", o.Data, err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	c.Close()
	if err := lb.Cancel(ctx, "echo", backend.CancelOptions{Force: true}); err != nil {
		b.Fatal(err)
	}
	if _, err := lb.Wait(ctx, "echo"); err != nil {
		b.Fatal(err)
	}
	supervised.AwaitAgent(lb.Bundle("echo"))
}

func oneRole(r spec.Role) *spec.App { return &spec.App{Name: "app", Roles: []spec.Role{r}} }
