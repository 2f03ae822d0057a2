//go:build e2e

package e2e

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/test/enginetest"
)

// engine returns a Docker Engine for a test.
func engine(t *testing.T) *enginetest.Engine {
	t.Helper()
	e, err := enginetest.Get()
	var missing *enginetest.MissingError
	if err != nil && !errors.As(err, &missing) {
		t.Fatal(err)
	}
	require(t, "docker", err)
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("stop the engine: %v", err)
		}
	})
	return e
}

// ofHost returns read-only mounts of this machine's files. An image with Python and torch
// would have gigabytes.
func ofHost(paths ...string) string {
	var all []string
	for _, p := range paths {
		all = append(all, "type=bind", "src="+p, "dst="+p, "readonly")
	}
	return strings.Join(all, ",")
}

// Both tests use one engine, because starting a second one would remove the bridge of the first.
func TestInContainers(t *testing.T) {
	t.Parallel()
	e := engine(t)
	t.Run("training", func(t *testing.T) { trainInContainers(t, e) })
	t.Run("names", func(t *testing.T) { reachByName(t, e) })
}

// Two containers with two processes each train together. Ranks reach rank 0 by the name of
// its container.
func trainInContainers(t *testing.T, e *enginetest.Engine) {
	python := torchPython(t)
	if python != "/usr/bin/python3" {
		require(t, "docker", errors.New("the containers mount Debian's Python, unset PYTHON"))
	}
	example, err := filepath.Abs("../../examples/ddp")
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t)
	u.env = []string{"DOCKER_HOST=" + e.Host}
	r := u.torchx("run", "-b", "docker", "--workspace=", "dist.ddp", "-j", "2x2", "--launcher", "env",
		"--image", enginetest.Image, "--memMB", "2048", "--env", "PYTHON="+python,
		"--mounts", ofHost("/usr", "/lib", "/lib64", "/etc/alternatives", example), "--script", filepath.Join(example, "train.py"))
	handle := strings.TrimSpace(r.stdout)
	t.Cleanup(func() { u.torchx("delete", "-f", handle) })
	if r.code != 0 || !strings.Contains(r.stderr, "train/0 [rank0]:trained on 4 processes") {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	if plan := u.torchx("describe", "--json", handle); !strings.Contains(plan.stdout, enginetest.Image) {
		t.Errorf("describe: got no image:\n%s", plan.stdout)
	}
}

// Each rank gets the name of rank 0's container.
func reachByName(t *testing.T, e *enginetest.Engine) {
	u := newUser(t)
	u.env = []string{"DOCKER_HOST=" + e.Host}
	const program = `if [ ${replica_id} = 0 ]; then echo hello | nc -l -p 4242; else until nc $TORCHX_RANK0_HOST 4242 </dev/null; do sleep 0.1; done; fi`
	r := u.torchx("run", "-b", "docker", "--workspace=", "utils.sh", "--image", enginetest.Image, "--num_replicas", "2", "--", "sh", "-c", program)
	handle := strings.TrimSpace(r.stdout)
	t.Cleanup(func() { u.torchx("delete", "-f", handle) })
	if r.code != 0 {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr)
	}
	if log := u.torchx("log", handle+"/sh/1"); !slices.Contains(strings.Split(log.stdout, "\n"), "hello") {
		t.Errorf("replica 1: got %q of replica 0, want hello", log.stdout)
	}
}
