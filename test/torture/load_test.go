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
	"torchx/test/openfiles"
)

// Many concurrent commands share a history: it has every app, and no command finds it locked.
func TestManyApps(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for n := range manyApps {
		wg.Go(func() {
			cmd := h.command("", "run", h.file, "--script", fmt.Sprintf("echo line of %d; exit %d", n, n%3))
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // the exit code is checked below
			mu.Lock()
			defer mu.Unlock()
			text := errs.String()
			if cmd.ProcessState.ExitCode() != n%3 || strings.Contains(text, "locked") || !strings.Contains(text, fmt.Sprintf("line of %d\n", n)) {
				t.Errorf("app %d: exit %d\n%s", n, cmd.ProcessState.ExitCode(), text)
			}
		})
	}
	wg.Wait()
	t.Logf("%d concurrent apps took %v", manyApps, time.Since(start))
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
			t.Errorf("got %d apps with exit code %d, want %d", counts[code], code, want)
		}
	}
	h.waitForAgents()
	for _, a := range h.list() {
		data, err := os.ReadFile(filepath.Join(h.dir, "apps", a.AppID, "agent.log"))
		for line := range strings.Lines(string(data)) {
			// With so many apps the history may be late: the agent logs it, and a later command repairs it.
			if !strings.Contains(line, "history was not updated in time") {
				t.Errorf("agent.log of %v: got %s", a, line)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// Of many concurrent replicas, each has its result and its log.
func TestManyReplicas(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	gate := filepath.Join(h.scratch, "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
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
	t.Logf("%d replicas were running after %v", manyReplicas, time.Since(start))
	if n := strings.Count(h.torchx("", "status", "--format", "torchx", "-").stdout, ":RUNNING"); n != manyReplicas {
		t.Errorf("got %d running replicas, want %d", n, manyReplicas)
	}
	h.waitFor("the end", func() bool {
		// Open it repeatedly, because a replica that reads late waits for the next writer.
		if f, err := os.OpenFile(gate, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
		return h.onlyApp().State.Terminal()
	})
	t.Logf("the app ended after %v", time.Since(start))
	if a := h.onlyApp(); !a.is(spec.Succeeded, 0) {
		t.Errorf("got %v", a)
	}
	log := h.torchx("", "log", "-").stdout
	for n := range manyReplicas {
		for _, line := range []string{"out", "err"} {
			if !strings.Contains(log, fmt.Sprintf("sh/%d %s\n", n, line)) {
				t.Errorf("replica %d: the log has no line %q", n, line)
			}
		}
	}
	if n := strings.Count(h.torchx("", "status", "--format", "torchx", "-").stdout, ":SUCCEEDED"); n != manyReplicas {
		t.Errorf("got %d succeeded replicas, want %d", n, manyReplicas)
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

// A replica with many children, half of them in separate sessions: its result is correct,
// and no child outlives it.
func TestManyChildren(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := time.Now()
	r := h.torchx("", "run", h.file, "--script", fmt.Sprintf(
		`i=0; while [ $i -lt %d ]; do sleep 600 & setsid sleep 600 & i=$((i+2)); done; echo "$i children"; exit 6`, manyChildren))
	if r.code != 6 || !strings.Contains(r.stderr, fmt.Sprintf("sh/0 %d children\n", manyChildren)) {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	t.Logf("%d children took %v", manyChildren, time.Since(start))
	h.checkNoProcesses(h.onlyApp())
}

// A limit of open files that is too low is an error in one line: before an app starts, and
// of a command that reads too many logs.
func TestTooFewOpenFiles(t *testing.T) {
	t.Parallel()
	openfiles.Need(t, 1000)
	h := newHome(t)
	limited := func(args ...string) (int, string) {
		cmd := h.command("", args...)
		sh := exec.Command("sh", append([]string{"-c", `ulimit -n 128; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)...)
		sh.Dir, sh.Env = cmd.Dir, cmd.Env
		out, _ := sh.CombinedOutput() // the exit code is checked below
		return sh.ProcessState.ExitCode(), string(out)
	}
	code, out := limited("run", h.file, "--script", "echo started >> up", "--num_replicas", "40")
	if code != 125 || !strings.Contains(out, "too many open files") {
		t.Errorf("exit %d, want 125 and the reason:\n%s", code, out)
	}
	if a := h.onlyApp(); !a.is(spec.Failed, 125) {
		t.Errorf("got %v", a)
	}
	if r := h.torchx("", "run", h.file, "--script", "echo out", "--num_replicas", "100"); r.code != 0 {
		t.Errorf("without the limit: exit %d\n%s", r.code, r.stderr)
	}
	code, out = limited("log", "-")
	if code != 1 || strings.Count(out, "torchx: error: ") != 1 || !strings.Contains(out, "ulimit -n") {
		t.Errorf("exit %d, want 1 and one line with a remedy:\n%s", code, out)
	}
}
