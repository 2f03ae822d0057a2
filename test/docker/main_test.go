//go:build unix

// Package docker runs the torchx program on a real Docker Engine, as users do. It tests the
// errors of mistakes, that apps leave nothing, and (more with TORCHX_KILLS, see `make
// torture-docker`) that results are correct after agents or engines were killed.
package docker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"torchx/runtime/spec"
	"torchx/test/binary"
	"torchx/test/enginetest"
	"torchx/test/homedir"
)

// labelApp is the label with the app of a container, as in TorchX.
const labelApp = "torchx.pytorch.org/app-id"

const testTimeout = 2 * time.Minute

// program is the torchx that all tests run, engine the engine of most of them.
var (
	program string
	engine  *enginetest.Engine
	missing error
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "torchx-docker-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if engine, missing = enginetest.Get(); missing == nil {
		defer engine.Stop()
		if program, err = binary.Build(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// component runs a shell script. Tests can make parts of it invalid.
const component = `
def app(script = "true", image = "` + enginetest.Image + `", entrypoint = "sh", num_replicas = 1,
        bind = "", device = "", port = 0, max_retries = 0, ready = ""):
    """A shell script

    Args:
        script (str): what each replica runs
        image (str): where
        entrypoint (str): what runs it
        num_replicas (int): how many
        bind (str): a folder to mount at /mnt
        device (str): a device to mount at the same place
        port (int): what it listens on
        max_retries (int): how often one starts again
        ready (str): what must answer for it to be ready: port, or a line of its log
    """
    mounts = []
    if bind:
        mounts.append(specs.BindMount(bind, "/mnt"))
    if device:
        mounts.append(specs.DeviceMount(device, device))
    return specs.AppDef(name = "app", roles = [specs.Role(
        name = "r", image = image, entrypoint = entrypoint, args = ["-c", script.replace("$", "$$")],
        num_replicas = num_replicas, mounts = mounts, max_retries = max_retries, port_map = {"http": port} if port else {},
        metadata = {"torchx": {"ready": {"port": "http"} if ready == "port" else {"log": ready}}} if ready else {},
    )])
`

// home is a TORCHX_HOME with an engine.
type home struct {
	*testing.T
	engine *enginetest.Engine
	dir    string
	work   string // where commands run; t.star has the component
	env    []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	if engine == nil {
		enginetest.Missing(t, missing)
	}
	return homeOn(t, engine)
}

func homeOn(t *testing.T, e *enginetest.Engine) *home {
	t.Helper()
	h := &home{T: t, engine: e, dir: homedir.New(t), work: homedir.New(t)}
	if err := os.WriteFile(filepath.Join(h.work, "t.star"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"TORCHX_HOME=" + h.dir, "DOCKER_HOST=" + e.Host, "TORCHX_OFFLINE=", "NO_COLOR=1"}
	t.Cleanup(h.endAll)
	return h
}

// endAll removes all apps from the engine.
func (h *home) endAll() {
	h.torchx("cancel", "--all", "--force", "--wait")
	for _, a := range h.list("docker") {
		if a.Name != "" { // apps of other homes have no name
			h.torchx("delete", "-f", a.AppID)
		}
	}
}

type result struct {
	stdout, stderr string
	code           int
}

// command returns a torchx command, which can reach containers.
func (h *home) command(args ...string) *exec.Cmd {
	cmd := h.engine.InNetwork(program, args...)
	cmd.Dir, cmd.Env = h.work, append(os.Environ(), h.env...)
	return cmd
}

func (h *home) torchx(args ...string) result {
	h.Helper()
	return h.finish(h.command(args...))
}

// finish runs a command to its end.
func (h *home) finish(cmd *exec.Cmd) result {
	h.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	timer := time.AfterFunc(testTimeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.Fatalf("torchx %q: %v", cmd.Args[1:], err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// run runs the component on the engine with the options of cfg, which may be "".
func (h *home) run(cfg string, args ...string) result {
	h.Helper()
	return h.torchx(append([]string{"run", "-b", "docker", "-cfg", strings.Trim("pull=never,grace_period=1,"+cfg, ",")}, append([]string{"t.star:app"}, args...)...)...)
}

// start runs an app in the background and returns its ID.
func (h *home) start(args ...string) string {
	h.Helper()
	r := h.torchx(append([]string{"run", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=1", "t.star:app"}, args...)...)
	id := strings.TrimSpace(r.stdout[strings.LastIndex(r.stdout, "/")+1:])
	if r.code != 0 || id == "" {
		h.Fatalf("run: %+v", r)
	}
	return id
}

// app is an element of `list --json`.
type app struct {
	AppID    string     `json:"app_id"`
	Name     string     `json:"name"`
	Handle   string     `json:"handle"`
	State    spec.State `json:"state"`
	ExitCode *int       `json:"exit_code"`
}

func (h *home) list(backend string) (apps []app) {
	h.Helper()
	r := h.torchx("list", "--all", "--json", "-b", backend)
	if err := json.Unmarshal([]byte(r.stdout), &apps); err != nil {
		h.Fatalf("list: %v %+v", err, r)
	}
	return apps
}

// containers returns the number of an app's containers in the engine, or of all apps for "".
func (h *home) containers(id string) int { return h.count(id, true) }

// running returns the number of an app's containers that run.
func (h *home) running(id string) int { return h.count(id, false) }

func (h *home) count(id string, ended bool) int {
	h.Helper()
	label := labelApp
	if id != "" {
		label += "=" + id
	}
	all, err := h.engine.Client.ContainerList(h.Context(), container.ListOptions{All: ended, Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		h.Fatal(err)
	}
	return len(all)
}

func (h *home) waitFor(what string, ok func() bool) {
	h.Helper()
	for deadline := time.Now().Add(testTimeout); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.Fatalf("timed out waiting for %s", what)
		}
	}
}
