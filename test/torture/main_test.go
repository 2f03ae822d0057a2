//go:build unix

// Package torture kills torchx: at every failpoint of runtime/failpoint, and at random
// times (in `make torture`, with the build tag "torture"). Afterwards, the next command
// must report the correct result and leave no process.
package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
	"torchx/test/binary"
	"torchx/test/homedir"
	"torchx/test/long"
)

const testTimeout = 60 * time.Second

// program is torchx with failpoints, built once.
type program struct {
	once sync.Once
	dir  string
	err  error
}

func (p *program) path(t *testing.T) string {
	t.Helper()
	p.once.Do(p.build)
	if p.err != nil {
		t.Fatal(p.err)
	}
	return filepath.Join(p.dir, "torchx")
}

func (p *program) build() {
	if p.dir, p.err = os.MkdirTemp("", "torchx-torture-"); p.err != nil {
		return
	}
	_, p.err = binary.Build(p.dir, "-tags=failpoint")
}

var torchx program

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == noMappings {
		runWithoutMappings(os.Args[2:])
	}
	code := m.Run()
	if torchx.dir != "" {
		os.RemoveAll(torchx.dir)
	}
	os.Exit(code)
}

// component runs a shell script in each replica.
const component = `
def app(script, num_replicas = 1, max_retries = 0):
    """A shell script.

    Args:
        script (str): what each replica runs
        num_replicas (int): how many
        max_retries (int): how often one starts again
    """
    return specs.AppDef(name = "app", roles = [specs.Role(
        name = "sh", image = "", entrypoint = "sh", args = ["-c", script.replace("$", "$$")],
        num_replicas = num_replicas, max_retries = max_retries,
    )])
`

// home is a TORCHX_HOME and runs commands with it.
type home struct {
	*testing.T
	bin, dir, file string
	scratch        string // where replicas may write
	clock          string // file with the error of the clock, "": none
}

func newHome(t *testing.T) *home {
	t.Helper()
	long.Test(t) // each of these tests starts, kills and waits
	work := homedir.New(t)
	h := &home{T: t, bin: torchx.path(t), dir: homedir.New(t), file: filepath.Join(work, "t.star") + ":app", scratch: work}
	if err := os.WriteFile(filepath.Join(work, "t.star"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.endAll)
	return h
}

// endAll kills all apps of the home.
func (h *home) endAll() {
	for _, a := range h.list() {
		if !a.State.Terminal() {
			h.torchx("", "cancel", "--force", "--wait", a.AppID)
		}
	}
	h.waitForAgents()
}

// waitForAgents waits until all agents of the home have ended.
func (h *home) waitForAgents() {
	h.waitFor("agents to end", func() bool { return len(h.agents()) == 0 })
}

// agents returns the PIDs of the agents of this home.
func (h *home) agents() (pids []int) {
	for _, p := range procs.List() {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
		if err == nil && !p.Zombie && strings.Contains(string(data), "\x00agent\x00"+h.dir) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// killAgents does not wait until the agents are dead, so that the next command may find them dying.
func (h *home) killAgents() {
	h.Helper()
	for _, pid := range h.agents() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			h.Fatal(err)
		}
	}
}

type result struct {
	stdout, stderr string
	code           int // 128+n for signal n
}

func (h *home) command(point string, args ...string) *exec.Cmd {
	cmd := exec.Command(h.bin, args...)
	cmd.Dir = h.scratch
	cmd.Env = append(os.Environ(), "TORCHX_HOME="+h.dir, failpoint.Variable+"="+point)
	if h.clock != "" {
		cmd.Env = append(cmd.Env, failpoint.ClockVariable+"="+h.clock)
	}
	return cmd
}

// torchx runs a command that dies at a failpoint, "" for none.
func (h *home) torchx(point string, args ...string) result {
	h.Helper()
	cmd := h.command(point, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.Fatalf("torchx %q: %v", args, err)
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		code = 128 + 9
	}
	return result{out.String(), errs.String(), code}
}

// app is an element of `list --json`.
type app struct {
	AppID    string     `json:"app_id"`
	Handle   string     `json:"handle"`
	State    spec.State `json:"state"`
	ExitCode *int       `json:"exit_code"`
}

func (a app) String() string {
	code := "no exit code"
	if a.ExitCode != nil {
		code = strconv.Itoa(*a.ExitCode)
	}
	return fmt.Sprintf("%s %v %s", a.AppID, a.State, code)
}

func (a app) is(s spec.State, code int) bool {
	return a.State == s && a.ExitCode != nil && *a.ExitCode == code
}

func (h *home) list() []app {
	h.Helper()
	r := h.torchx("", "list", "--all", "--json")
	var apps []app
	if err := json.Unmarshal([]byte(r.stdout), &apps); err != nil {
		h.Fatalf("list: exit %d, %v\n%s", r.code, err, r.stderr)
	}
	return apps
}

// onlyApp returns the only app of the home.
func (h *home) onlyApp() app {
	h.Helper()
	apps := h.list()
	if len(apps) != 1 {
		h.Fatalf("got %v, want one app", apps)
	}
	return apps[0]
}

func (h *home) waitFor(what string, ok func() bool) {
	h.Helper()
	for deadline := time.Now().Add(testTimeout); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.Fatalf("timed out waiting for %s", what)
		}
	}
}

// waitFile waits for a line in a file that a replica writes.
func (h *home) waitFile(name string) {
	h.Helper()
	h.waitFor(name, func() bool {
		data, err := os.ReadFile(filepath.Join(h.scratch, name))
		return err == nil && strings.HasSuffix(string(data), "\n")
	})
}

// processes returns the PIDs of the processes that have the app's handle in their environment.
func (h *home) processes(handle string) (pids []int) {
	for _, p := range procs.List() {
		if !p.Zombie && procs.HasEnv(p.PID, spec.JobIDVariable+"="+handle) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// checkNoProcesses checks that an ended app left no processes.
func (h *home) checkNoProcesses(a app) {
	h.Helper()
	if pids := h.processes(a.Handle); len(pids) > 0 {
		h.Errorf("%v: got processes %v after its end, want none", a, pids)
	}
}
