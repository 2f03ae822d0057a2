//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/spec"
	"torchx/test/homedir"
)

// foreground is a `torchx run` in its own process.
type foreground struct {
	t      *testing.T
	cmd    *exec.Cmd
	handle string
	home   string
	err    *watched
}

// watched keeps what is written; waitFor waits for a text.
type watched struct {
	t    *testing.T
	mu   sync.Mutex
	cond *sync.Cond
	buf  bytes.Buffer
}

func newWatched(t *testing.T) *watched {
	w := &watched{t: t}
	w.cond = sync.NewCond(&w.mu)
	return w
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cond.Broadcast()
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// waitFor waits until text has been written.
func (w *watched) waitFor(text string) { w.t.Helper(); w.waitForAll(text, 1) }

// forget drops what has been written.
func (w *watched) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Reset()
}

// waitForAll waits until text has been written n times.
func (w *watched) waitForAll(text string, n int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	expired := false
	timer := time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		expired = true
		w.cond.Broadcast()
	})
	defer timer.Stop()
	for strings.Count(w.buf.String(), text) < n {
		if expired {
			w.t.Fatalf("%q was not written within %v, but %q", text, patience, w.buf.String())
		}
		w.cond.Wait()
	}
}

// start runs a shell line in the foreground and waits for its first output, "ready".
func start(t *testing.T, line string) *foreground {
	t.Helper()
	f := &foreground{t: t, home: homedir.New(t), err: newWatched(t)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	f.cmd = exec.CommandContext(ctx, "torchx", "run", "-cfg", "grace_period=30", "comps.star:two", "--first", line, "--second", "sleep 300")
	f.cmd.Dir = caseDir(t)
	f.cmd.Env = append(os.Environ(), "TORCHX_HOME="+f.home, "HOME="+f.home, "GORACE=atexit_sleep_ms=0")
	f.cmd.Stderr = f.err
	out, err := f.cmd.StdoutPipe()
	must(t, err)
	must(t, f.cmd.Start())
	f.handle, err = bufio.NewReader(out).ReadString('\n')
	must(t, err)
	f.handle = strings.TrimSpace(f.handle)
	f.err.waitFor("a/0 ready\n")
	t.Cleanup(func() { f.torchx("delete", "-f", f.handle) })
	return f
}

func (f *foreground) signal(s syscall.Signal) { must(f.t, f.cmd.Process.Signal(s)) }

// wait returns the exit code, or minus the signal that ended it.
func (f *foreground) wait() int {
	err := f.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		must(f.t, err)
		return 0
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -int(ws.Signal())
	}
	return exit.ExitCode()
}

// torchx runs another command with the same home and returns its output.
func (f *foreground) torchx(args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, "torchx", args...)
	c.Env = f.cmd.Env
	out, _ := c.CombinedOutput() // the output tells how it ended
	return string(out)
}

func TestInterruptCancels(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		f := start(t, `trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done`)
		f.signal(s)
		if code := f.wait(); code != spec.ExitCancelled {
			t.Errorf("%v: exit code %d", s, code)
		}
		for _, want := range []string{"canceling " + f.handle, "a/0 bye\n", f.handle + ": CANCELLED"} {
			if !strings.Contains(f.err.String(), want) {
				t.Errorf("%v: no %q in\n%s", s, want, f.err)
			}
		}
	}
}

// TestInterruptWhilePulling: Ctrl-C ends a slow pull. The app never started, so it is canceled.
func TestInterruptWhilePulling(t *testing.T) {
	t.Parallel()
	home := homedir.New(t)
	dir, err := os.MkdirTemp("", "engine") // a socket's path has to be short
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	slow := &http.Server{Handler: http.HandlerFunc(slowEngine)}
	go slow.Serve(l)
	t.Cleanup(func() { slow.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	f := &foreground{t: t, home: home, err: newWatched(t)}
	f.cmd = exec.CommandContext(ctx, "torchx", "run", "-b", "docker", "--workspace=", "utils.echo", "--image", "slow:1")
	f.cmd.Env = append(os.Environ(), "TORCHX_HOME="+home, "HOME="+home, "DOCKER_HOST=unix://"+l.Addr().String())
	f.cmd.Stderr = f.err
	must(t, f.cmd.Start())
	f.err.waitFor("pull slow:1")
	attached := exec.CommandContext(ctx, "torchx", "attach", "-")
	follower := newWatched(t)
	attached.Env, attached.Stderr = f.cmd.Env, follower
	must(t, attached.Start())
	follower.waitFor(" is SUBMITTED: preparing: pull slow:1\n")
	f.signal(syscall.SIGINT)
	if code := f.wait(); code != spec.ExitCancelled {
		t.Errorf("exit code: got %d, want %d", code, spec.ExitCancelled)
	}
	if got := f.err.String(); !strings.Contains(got, "torchx: interrupted: docker://torchx/echo-") || strings.Contains(got, "context canceled") {
		t.Errorf("stderr: got\n%s\nwant that it was interrupted, and which app was not started", got)
	}
	_ = attached.Wait() // with the exit code of the app
	lines := strings.Split(strings.TrimSpace(follower.String()), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[1], ": CANCELLED: interrupted before it started") {
		t.Errorf("attach: got\n%s\nwant what it waits for and how that ended", follower)
	}
	if got := f.torchx("status", "-"); !strings.Contains(got, "State: CANCELLED: interrupted before it started\n") {
		t.Errorf("status: got\n%s\nwant CANCELLED", got)
	}
}

// slowEngine answers as a Docker Engine without containers and images whose pulls never end.
func slowEngine(w http.ResponseWriter, r *http.Request) {
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/") // without the version
	w.Header().Set("Api-Version", "1.47")
	switch {
	case path == "containers/json":
		fmt.Fprint(w, "[]")
	case strings.HasSuffix(path, "/json"):
		http.Error(w, `{"message": "no such image"}`, http.StatusNotFound)
	case path == "images/create":
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestSecondInterruptKills(t *testing.T) {
	t.Parallel()
	f := start(t, `trap "" TERM; echo ready; while :; do sleep 0.05; done`)
	started := time.Now()
	f.signal(syscall.SIGINT)
	f.err.waitFor("canceling")
	f.signal(syscall.SIGINT)
	if code := f.wait(); code != spec.ExitCancelled {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %v: the grace period of 30 s was not cut short", took)
	}
	if !strings.Contains(f.err.String(), "killing "+f.handle) {
		t.Errorf("stderr:\n%s", f.err)
	}
}

func TestHangupLeavesTheAppRunning(t *testing.T) {
	t.Parallel()
	// Children get the default handling of a signal that this process catches, under nohup, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	f := start(t, "echo ready; sleep 300")
	f.signal(syscall.SIGHUP)
	if code := f.wait(); code != program.ExitHangup {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(f.err.String(), "torchx log -t "+f.handle) {
		t.Errorf("stderr:\n%s", f.err)
	}
	if s := f.torchx("status", f.handle); !strings.Contains(s, "State: RUNNING") {
		t.Errorf("status:\n%s", s)
	}
}

func TestKilledCommandLeavesTheAppRunning(t *testing.T) {
	t.Parallel()
	f := start(t, "echo ready; sleep 300")
	f.signal(syscall.SIGKILL)
	if code := f.wait(); code != -int(syscall.SIGKILL) {
		t.Errorf("exit code %d", code)
	}
	if s := f.torchx("status", "-"); !strings.Contains(s, "State: RUNNING") {
		t.Errorf("status:\n%s", s)
	}
	if out := f.torchx("cancel", "--wait", "-"); !strings.Contains(out, "CANCELLED") {
		t.Errorf("cancel: %s", out)
	}
}

// TestClosedPipe: a reader that closes the pipe ends the command quietly.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	f := start(t, "echo ready; while :; do echo line; done")
	defer f.wait()
	defer f.signal(syscall.SIGKILL)
	c := exec.CommandContext(t.Context(), "torchx", "log", "-t", f.handle)
	c.Env = f.cmd.Env
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	_, err = io.ReadFull(out, make([]byte, 100))
	must(t, err)
	must(t, out.Close())
	if err := c.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("%v: %s", err, errs.String())
	}
}
