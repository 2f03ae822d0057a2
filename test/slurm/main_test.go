//go:build unix

// Package slurm runs the torchx program on a real Slurm cluster, as users do. `make e2e-slurm`
// starts the cluster.
package slurm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
	"torchx/test/binary"
	"torchx/test/homedir"
	"torchx/test/slurmtest"
)

const testTimeout = 4 * time.Minute

// program is the torchx binary of all tests, with failpoints.
var program string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if !slurmtest.Required() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "torchx-slurm-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // other users run the program
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if program, err = binary.Build(dir, "-tags=failpoint"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// home is a TORCHX_HOME, and a folder for projects.
type home struct {
	*testing.T
	dir, work string
	env       []string
	user      *user.User // who runs torchx; nil: this user
}

func newHome(t *testing.T) *home {
	t.Helper()
	slurmtest.Need(t)
	h := &home{T: t, dir: homedir.New(t), work: homedir.New(t)}
	h.env = []string{"TORCHX_HOME=" + h.dir, "HOME=" + h.work, "TORCHX_OFFLINE=", "NO_COLOR=1", "COLUMNS=80"}
	return h
}

type result struct {
	stdout, stderr string
	code           int // -1: killed
}

// torchx runs a command, which a failpoint ends unless that is "".
func (h *home) torchx(point string, args ...string) result {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), testTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = h.work, append(os.Environ(), h.env...)
	if point != "" {
		cmd.Env = append(cmd.Env, failpoint.Variable+"="+point)
	}
	if h.user != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credentialOf(h.user)}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		h.Fatalf("torchx %q: %v", args, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func credentialOf(u *user.User) *syscall.Credential {
	uid, _ := strconv.ParseUint(u.Uid, 10, 32) // numbers on all systems with Slurm
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// run submits an app and returns its handle.
func (h *home) run(args ...string) string {
	h.Helper()
	r := h.torchx("", append([]string{"run", "-b", "slurm", "--workspace="}, args...)...)
	handle := strings.TrimSpace(r.stdout)
	if r.code != 0 || !strings.HasPrefix(handle, "slurm://") {
		h.Fatalf("run %q: got %+v, want a handle", args, r)
	}
	h.Cleanup(func() { // the test's context has ended
		cmd := exec.CommandContext(context.Background(), program, "cancel", "--force", handle)
		cmd.Env = append(os.Environ(), h.env...)
		_ = cmd.Run()
	})
	return handle
}

// app is a part of the output of `list --json`.
type app struct {
	Handle   string     `json:"handle"`
	AppID    string     `json:"app_id"`
	State    spec.State `json:"state"`
	ExitCode *int       `json:"exit_code"`
}

func (h *home) list() (all []app) {
	h.Helper()
	r := h.torchx("", "list", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		h.Fatalf("list: %v %+v", err, r)
	}
	return all
}
