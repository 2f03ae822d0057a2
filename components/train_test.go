//go:build linux

package components_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTraining trains for real on two nodes with two processes each. It needs a
// Python with torch: $PYTHON, or Debian's /usr/bin/python3 with python3-torch.
func TestTraining(t *testing.T) {
	t.Parallel()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if out, err := exec.Command(python, "-c", "import torch.distributed").CombinedOutput(); err != nil {
		missing(t, "torch", fmt.Errorf("%s has no torch: %w: %s", python, err, out))
	}
	script, err := filepath.Abs("../examples/ddp/train.py")
	if err != nil {
		t.Fatal(err)
	}
	app := mustBuild(t, "dist.ddp", "--nnodes", "2", "--nproc_per_node", "2", "--launcher", "env", "--script", script)
	var nodes []*node
	port := "TORCHX_PORT_C10D=" + freePort(t)
	for id := range 2 {
		nodes = append(nodes, start(t, []string{"sh"}, app, id, "PYTHON="+python, port))
	}
	for id, n := range nodes {
		lines, code := n.wait(t)
		if code != 0 {
			t.Errorf("node %d: code %d: %s", id, code, &n.stderr)
		}
		trained := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "trained on 4 processes") })
		if trained != (id == 0) {
			t.Errorf("node %d printed %q", id, lines)
		}
	}
}

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
