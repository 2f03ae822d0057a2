//go:build unix

package kubernetes

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/test/clustertest"
)

// hostMounts returns mounts of folders of this machine, such as those of Python and torch,
// which would take gigabytes in an image.
func hostMounts(paths ...string) string {
	var all []string
	for _, p := range paths {
		all = append(all, "type=bind", "src="+p, "dst="+p, "readonly")
	}
	return strings.Join(all, ",")
}

// TestTraining: in every form, two nodes with two processes each train together, and find
// rank 0 by its host name.
func TestTraining(t *testing.T) {
	h := newHome(t) // not parallel: the node has only two CPUs
	python, err := exec.LookPath("/usr/bin/python3")
	if err == nil {
		err = exec.CommandContext(t.Context(), python, "-c", "import torch.distributed").Run()
	}
	if err != nil {
		t.Fatalf("pods mount this machine's Python: apt-get install python3-torch (%v)", err)
	}
	example, err := filepath.Abs("../../examples/ddp")
	if err != nil {
		t.Fatal(err)
	}
	for _, gang := range forms {
		r := h.torchx("run", "--log", "-b", "kubernetes", "--workspace=", "-cfg", "namespace="+h.namespace+",gang="+gang,
			"dist.ddp", "-j", "2x2", "--cpu", "1", "--memMB", "2048", "--launcher", "env", "--image", clustertest.Image, "--env", "PYTHON="+python,
			"--mounts", hostMounts("/usr", "/lib", "/lib64", "/etc/alternatives", example), "--script", filepath.Join(example, "train.py"))
		if r.code != 0 || !strings.Contains(r.stderr, "train/0 [rank0]:trained on 4 processes") {
			t.Errorf("%s: exit code %d\n%s, want r.code == 0 and Contains(r.stderr, \"train/0 [rank0]:trained on 4 processes\")", gang, r.code, r.stderr)
		}
	}
}

// TestRanks: the launcher's self-check runs in an image without Python, and a replica reaches
// rank 0 by the host name in its variable.
func TestRanks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const program = `i=0; if [ ${replica_id} = 0 ]; then echo hello | nc -l -p 4242; else ` +
		`until nc $${${rank0_env}:=localhost} 4242 </dev/null; do i=$((i+1)); [ $i -lt 100 ] || exit 1; sleep 0.2; done; fi`
	for _, gang := range forms {
		cfg := "reserved_millicpu=2000,namespace=" + h.namespace + ",gang=" + gang
		r := h.torchx("run", "--log", "-b", "kubernetes", "--workspace=", "-cfg", cfg, "dist.ddp", "--self_check", "-j", "3x2", "--image", clustertest.Image)
		for _, want := range []string{"ddp/0 rank 0/6 ", "ddp/0 rank 1/6 ", "ddp/1 rank 2/6 ", "ddp/2 rank 5/6 "} {
			if r.code != 0 || strings.Count(r.stderr, want) != 1 {
				t.Errorf("%s: got %+v, want %q once", gang, r, want)
			}
		}
		r = h.torchx("run", "--wait", "-b", "kubernetes", "--workspace=", "-cfg", cfg, "utils.sh", "--image", clustertest.Image, "--num_replicas", "2", "--", "sh", "-c", program)
		if r.code != 0 {
			t.Fatalf("%s: got %+v, want r.code == 0", gang, r)
		}
		if log := h.torchx("log", strings.TrimSpace(r.stdout)+"/sh/1"); !slices.Contains(strings.Split(log.stdout, "\n"), "hello") {
			t.Errorf("%s: got log %q of replica 1, want the line of replica 0", gang, log.stdout)
		}
	}
}
