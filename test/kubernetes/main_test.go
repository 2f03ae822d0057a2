//go:build unix

// Package kubernetes runs the torchx program on a real Kubernetes cluster, as users do:
// gangs, images, training, a server that becomes unreachable, and mistakes. `make e2e-k8s`
// starts the cluster.
package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
	"torchx/test/binary"
	"torchx/test/clustertest"
	"torchx/test/homedir"
)

// testTimeout is far more than a command or a state needs, also on a machine that is busy: a volume may
// take the kubelet a minute, and a node that waits for the name of one that has ended another.
const testTimeout = 8 * time.Minute

// forms lists the values of the option gang.
var forms = []string{"volcano", "jobset", "job"}

// program is the torchx binary of all tests.
var program string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if address, socket, ok := strings.Cut(os.Getenv(forwardVariable), " "); ok {
		fmt.Fprintln(os.Stderr, clustertest.Forward(address, socket))
		return 1
	}
	if !clustertest.Required() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "torchx-kubernetes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = binary.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// component runs a shell script, with arguments for mistakes.
const component = `
def app(script = "true", image = "` + clustertest.Image + `", entrypoint = "sh", num_replicas = 1,
        cpu = 0, gpu = 0, max_retries = 0, policy = "APPLICATION", overlay = "", min_replicas = 0, timeout = "", other = ""):
    """A shell script

    Args:
        script (str): script of each replica
        image (str): image of the containers
        entrypoint (str): program that runs the script
        num_replicas (int): number of replicas
        cpu (int): CPUs of each replica
        gpu (int): GPUs of each replica
        max_retries (int): number of restarts
        policy (str): retry policy
        overlay (str): pod overlay as JSON
        min_replicas (int): replicas that must succeed, 0 for all
        timeout (str): time limit of the app
        other (str): script of the only replica of another role, o
    """
    roles = [specs.Role(
        name = "r", image = image, entrypoint = entrypoint, args = ["-c", script.replace("$", "$$")],
        num_replicas = num_replicas, max_retries = max_retries, retry_policy = policy, min_replicas = min_replicas or None,
        resource = specs.Resource(cpu = cpu, gpu = gpu, memMB = 0),
        metadata = {"kubernetes": json.decode(overlay)} if overlay else {},
    )]
    if other:
        roles.append(specs.Role(name = "o", image = image, entrypoint = "sh", args = ["-c", other.replace("$", "$$")], resource = specs.Resource(cpu = cpu, gpu = 0, memMB = 0)))
    return specs.AppDef(name = "app", roles = roles, metadata = {"torchx": {"timeout": timeout}} if timeout else {})
`

// home is a TORCHX_HOME with a namespace of the cluster.
type home struct {
	*testing.T
	cluster   *clustertest.Cluster
	namespace string
	dir       string
	work      string // working directory of commands; t.star has the component
	env       []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	cluster := clustertest.Need(t)
	h := &home{T: t, cluster: cluster, namespace: cluster.Namespace(t), dir: homedir.New(t), work: homedir.New(t)}
	if err := os.WriteFile(filepath.Join(h.work, "t.star"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"TORCHX_HOME=" + h.dir, "KUBECONFIG=" + cluster.Kubeconfig, "TORCHX_OFFLINE=", "NO_COLOR=1"}
	return h
}

type result struct {
	stdout, stderr string
	code           int
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), program, args...)
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
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	return h.wait(cmd, &out, &errs)
}

// wait waits for a command, and kills it after testTimeout.
func (h *home) wait(cmd *exec.Cmd, out, errs *bytes.Buffer) result {
	h.Helper()
	timer := time.AfterFunc(testTimeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.Fatalf("torchx %q: %v", cmd.Args[1:], err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// run runs the component; cfg may be "".
func (h *home) run(cfg string, args ...string) result {
	h.Helper()
	return h.torchx(h.runArgs(cfg, args...)...)
}

func (h *home) runArgs(cfg string, args ...string) []string {
	cfg = strings.Trim("namespace="+h.namespace+","+cfg, ",")
	return append([]string{"run", "-b", "kubernetes", "--workspace=", "-cfg", cfg, "t.star:app"}, args...)
}

// start submits an app and returns its handle.
func (h *home) start(cfg string, args ...string) string {
	h.Helper()
	r := h.run(cfg, args...)
	handle := strings.TrimSpace(r.stdout)
	if r.code != 0 || !strings.HasPrefix(handle, "kubernetes://") {
		h.Fatalf(`run: %+v, want r.code == 0 and HasPrefix(handle, "kubernetes://")`, r)
	}
	return handle
}

// status is a part of the output of `status --json`.
type status struct {
	State       spec.State `json:"state"`
	NumRestarts int        `json:"num_restarts"`
	Msg         string     `json:"msg"`
	ExitCode    *int       `json:"exit_code"`
	Roles       []struct {
		Replicas []struct {
			State    spec.State `json:"state"`
			ExitCode *int       `json:"exit_code"`
			Attempt  int        `json:"attempt"`
			Pod      string     `json:"pod"`
			Node     string     `json:"node"`
		} `json:"replicas"`
	} `json:"roles"`
}

func (h *home) status(handle string) (s status) {
	h.Helper()
	r := h.torchx("status", "--json", handle)
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		h.Fatalf("status: %v %+v", err, r)
	}
	return s
}

func (h *home) eventually(what string, ok func() bool) {
	h.Helper()
	h.within(testTimeout, what, ok)
}

func (h *home) within(limit time.Duration, what string, ok func() bool) {
	h.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.Fatalf("timed out waiting for %s; pods by phase: %v", what, h.phases())
		}
	}
}

// phases counts the namespace's pods by their phase.
func (h *home) phases() map[string]int {
	h.Helper()
	n := map[string]int{}
	for _, p := range h.cluster.Pods(h.T, h.namespace, "") {
		n[string(p.Status.Phase)]++
	}
	return n
}
