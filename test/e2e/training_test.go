//go:build e2e

// Package e2e runs torchx as users do, with real training and a real Docker Engine.
package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/test/binary"
	"torchx/test/homedir"
)

// build builds the binary for a test.
func build(t *testing.T) string {
	t.Helper()
	bin, err := binary.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// result is the output and exit code of a command.
type result struct {
	stdout, stderr string
	code           int
}

// user runs torchx with its own home and working folder.
type user struct {
	*testing.T
	bin, home, dir string
	env            []string
}

func newUser(t *testing.T) *user {
	return &user{T: t, bin: build(t), home: homedir.New(t), dir: homedir.New(t)}
}

func (u *user) torchx(args ...string) result {
	u.Helper()
	cmd := exec.Command(u.bin, args...)
	cmd.Dir = u.dir
	cmd.Env = append(append(os.Environ(), "TORCHX_HOME="+u.home), u.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		u.Fatalf("torchx %v: %v", args, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// require skips a test if err says that a part is missing, or fails it if TORCHX_REQUIRE has the part.
func require(t *testing.T, part string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), part):
		t.Fatalf("%s is required: %v", part, err)
	default:
		t.Skipf("%s is missing: %v", part, err)
	}
}

// torchPython returns a Python with torch: $PYTHON, or Debian's with python3-torch.
func torchPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	require(t, "torch", exec.Command(python, "-c", "import torch.distributed").Run())
	return python
}

// Two nodes with two processes each train together and converge. Log and status are
// available afterwards.
func TestTraining(t *testing.T) {
	t.Parallel()
	python := torchPython(t)
	script, err := filepath.Abs("../../examples/ddp/train.py")
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t)
	u.env = []string{"PYTHON=" + python}
	r := u.torchx("run", "components/dist.star:ddp", "--nnodes", "2", "--nproc_per_node", "2", "--launcher", "env", "--script", script)
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	if !strings.Contains(r.stderr, "train/0 [rank0]:trained on 4 processes") {
		t.Errorf("stderr does not have the result:\n%s", r.stderr)
	}
	handle := strings.TrimSpace(r.stdout)
	if !strings.HasPrefix(handle, "local://torchx/train-") || strings.Contains(handle, "\n") {
		t.Errorf("got stdout %q, want only the handle", r.stdout)
	}
	if log := u.torchx("log", handle+"/train/0"); !strings.Contains(log.stdout, "trained on 4 processes") {
		t.Errorf("got log %q, want the result", log.stdout)
	}
	var status struct {
		State string
		Roles []struct {
			Replicas []struct {
				State    string
				ExitCode *int `json:"exit_code"`
			}
		}
	}
	if err := json.Unmarshal([]byte(u.torchx("status", "--json", "-").stdout), &status); err != nil {
		t.Fatal(err)
	}
	if status.State != "SUCCEEDED" || len(status.Roles) != 1 || len(status.Roles[0].Replicas) != 2 {
		t.Errorf("got status %+v, want two succeeded replicas", status)
	}
}

// If a process of the training fails, the app ends with its exit code.
func TestTrainingFails(t *testing.T) {
	t.Parallel()
	python := torchPython(t)
	u := newUser(t)
	u.env = []string{"PYTHON=" + python}
	script := filepath.Join(u.dir, "bad.py")
	source := "import os, sys, time\nif os.environ['RANK'] == '3':\n    print('rank 3 gives up', flush=True)\n    sys.exit(41)\ntime.sleep(600)\n"
	if err := os.WriteFile(script, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	r := u.torchx("run", "dist.ddp", "-j", "2x2", "--launcher", "env", "--script", "bad.py")
	if r.code != 41 {
		t.Errorf("exit code %d, want 41\n%s", r.code, r.stderr)
	}
	for _, want := range []string{"bad/1 [rank1]:rank 3 gives up", "exit code 41", "torchx log"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("stderr does not have %q:\n%s", want, r.stderr)
		}
	}
}
