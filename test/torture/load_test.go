//go:build linux

package torture

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"torchx/runtime/spec"
)

// Many commands at once share a history: every app is in it, nobody finds it locked.
func TestManyAppsAtOnce(t *testing.T) {
	t.Parallel()
	const apps = 50
	h := newHome(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for n := range apps {
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
	counts := map[int]int{}
	for _, a := range h.list() {
		if a.ExitCode == nil || (a.State == spec.Succeeded) != (*a.ExitCode == 0) {
			t.Errorf("got %v", a)
			continue
		}
		counts[*a.ExitCode]++
	}
	if counts[0] != 17 || counts[1] != 17 || counts[2] != 16 {
		t.Errorf("exit codes in the history: %v", counts)
	}
}

// A limit of open files that is too low is said in one line before anything starts.
func TestTooFewOpenFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	cmd := h.command("", "run", h.file, "--script", "echo started >> up", "--num_replicas", "40")
	limited := exec.Command("sh", append([]string{"-c", `ulimit -n 128; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)...)
	limited.Dir, limited.Env = cmd.Dir, cmd.Env
	out, _ := limited.CombinedOutput() // the exit code is looked at
	if code := limited.ProcessState.ExitCode(); code != 125 || !strings.Contains(string(out), "too many open files") {
		t.Errorf("exit %d, want 125 and a line that says why:\n%s", code, out)
	}
	if a := h.only(); !a.is(spec.Failed, 125) {
		t.Errorf("got %v", a)
	}
	if r := h.torchx("", "run", h.file, "--script", "exit 0", "--num_replicas", "40"); r.code != 0 {
		t.Errorf("without the limit: exit %d\n%s", r.code, r.stderr)
	}
}
