//go:build linux

package torture

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torchx/runtime/spec"
)

// Many commands at once share a history: every app is in it, nobody finds it locked.
func TestManyAppsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for n := range manyApps {
		wg.Go(func() {
			cmd := h.command("", "run", h.file, "--script", fmt.Sprintf("echo line of %d; exit %d", n, n%3))
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // the exit code is looked at
			mu.Lock()
			defer mu.Unlock()
			text := errs.String()
			if cmd.ProcessState.ExitCode() != n%3 || strings.Contains(text, "locked") || !strings.Contains(text, fmt.Sprintf("line of %d\n", n)) {
				t.Errorf("app %d: exit %d\n%s", n, cmd.ProcessState.ExitCode(), text)
			}
		})
	}
	wg.Wait()
	t.Logf("%d apps at once took %v", manyApps, time.Since(begun))
	counts := map[int]int{}
	for _, a := range h.list() {
		if a.ExitCode == nil || (a.State == spec.Succeeded) != (*a.ExitCode == 0) {
			t.Errorf("got %v", a)
			continue
		}
		counts[*a.ExitCode]++
	}
	for code := range 3 {
		if want := (manyApps + 2 - code) / 3; counts[code] != want {
			t.Errorf("%d apps ended with %d, want %d", counts[code], code, want)
		}
	}
	h.settled()
	for _, a := range h.list() {
		data, err := os.ReadFile(filepath.Join(h.dir, "apps", a.AppID, "agent.log"))
		for line := range strings.Lines(string(data)) {
			// With so many at once the history may be late: that is said, and made good.
			if !strings.Contains(line, "history was not updated in time") {
				t.Errorf("the agent of %v had trouble: %s", a, line)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// Many replicas that run at the same time: each has its result and its lines.
func TestManyReplicasAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gate := filepath.Join(h.scratch, "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	r := h.torchx("", "run", "-d", h.file, "--script", "echo out; read x < gate; echo err >&2", "--num_replicas", strconv.Itoa(manyReplicas))
	if limit := openFiles(t); limit < 48+8*manyReplicas {
		if r.code != 125 || !strings.Contains(r.stderr, "too many open files") {
			t.Errorf("with a limit of %d open files: exit %d\n%s", limit, r.code, r.stderr)
		}
		return
	}
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	t.Logf("%d replicas ran after %v", manyReplicas, time.Since(begun))
	if n := strings.Count(h.torchx("", "status", "--format", "torchx", "-").stdout, ":RUNNING"); n != manyReplicas {
		t.Errorf("%d replicas are running, want %d", n, manyReplicas)
	}
	h.eventually("the end", func() bool {
		// Opened as long as somebody waits there: a reader that comes late waits for the next time.
		if f, err := os.OpenFile(gate, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
		return h.only().State.Terminal()
	})
	t.Logf("it ended after %v", time.Since(begun))
	if a := h.only(); !a.is(spec.Succeeded, 0) {
		t.Errorf("got %v", a)
	}
	log := h.torchx("", "log", "-").stdout
	for n := range manyReplicas {
		for _, line := range []string{"out", "err"} {
			if !strings.Contains(log, fmt.Sprintf("sh/%d %s\n", n, line)) {
				t.Errorf("replica %d: the line %q is lost", n, line)
			}
		}
	}
	if n := strings.Count(h.torchx("", "status", "--format", "torchx", "-").stdout, ":SUCCEEDED"); n != manyReplicas {
		t.Errorf("%d replicas have succeeded, want %d", n, manyReplicas)
	}
}

func openFiles(t *testing.T) uint64 {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return limit.Max
}

// A replica with many children, half of them in sessions of their own: its result
// is its own, and none of them outlives it.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := time.Now()
	r := h.torchx("", "run", h.file, "--script", fmt.Sprintf(
		`i=0; while [ $i -lt %d ]; do sleep 600 & setsid sleep 600 & i=$((i+2)); done; echo "$i children"; exit 6`, manyChildren))
	if r.code != 6 || !strings.Contains(r.stderr, fmt.Sprintf("sh/0 %d children\n", manyChildren)) {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	t.Logf("%d children took %v", manyChildren, time.Since(begun))
	h.clean(h.only())
}

// A limit of open files that is too low is said in one line: by an app before
// anything starts, by a command that reads too many logs.
func TestTooFewOpenFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	limited := func(args ...string) (int, string) {
		cmd := h.command("", args...)
		sh := exec.Command("sh", append([]string{"-c", `ulimit -n 128; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)...)
		sh.Dir, sh.Env = cmd.Dir, cmd.Env
		out, _ := sh.CombinedOutput() // the exit code is looked at
		return sh.ProcessState.ExitCode(), string(out)
	}
	code, out := limited("run", h.file, "--script", "echo started >> up", "--num_replicas", "40")
	if code != 125 || !strings.Contains(out, "too many open files") {
		t.Errorf("exit %d, want 125 and a line that says why:\n%s", code, out)
	}
	if a := h.only(); !a.is(spec.Failed, 125) {
		t.Errorf("got %v", a)
	}
	if r := h.torchx("", "run", h.file, "--script", "echo out", "--num_replicas", "100"); r.code != 0 {
		t.Errorf("without the limit: exit %d\n%s", r.code, r.stderr)
	}
	code, out = limited("log", "-")
	if code != 1 || strings.Count(out, "torchx: error: ") != 1 || !strings.Contains(out, "ulimit -n") {
		t.Errorf("exit %d, want 1 and one line that says what to do:\n%s", code, out)
	}
}
