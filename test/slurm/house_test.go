//go:build unix

package slurm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/test/slurmtest"
)

// TestRecords: metrics, outputs and usage of apps can be read and compared, and a sweep uses them.
func TestRecords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script := "echo '{\"loss\": '$0', \"step\": 1}' >>$TORCHX_METRICS; echo result >$TORCHX_OUTPUT/file.txt; sleep 2"
	a, b := h.run("utils.sh", "sh", "-c", script, "0.5"), h.run("utils.sh", "sh", "-c", script, "0.25")
	h.torchx("", "wait", a, b)
	if r := h.torchx("", "list", "--sort", "loss", "-o", "name"); r.stdout != b+"\n"+a+"\n" { // before anything reads the metrics
		t.Errorf("list by a metric: got %+v, want %s before %s", r, b, a)
	}
	for _, check := range []struct {
		args []string
		want string
	}{
		{[]string{"compare", a, b}, "last loss"},
		{[]string{"metrics", a}, "0.5"},
		{[]string{"output", a}, "file.txt"},
		{[]string{"usage", a}, "MiB"},
		{[]string{"events", a}, "SUCCEEDED"},
		{[]string{"list", "--sort", "loss"}, "SUCCEEDED"},
	} {
		if r := h.torchx("", check.args...); r.code != 0 || !strings.Contains(r.stdout, check.want) {
			t.Errorf("torchx %q: got %+v, want %q", check.args, r, check.want)
		}
	}
	component := `
def tune(lr = 0.1):
    """Record a loss

    Args:
        lr (float): learning rate
    """
    return specs.AppDef(name = "tune", roles = [specs.Role(name = "r", image = "", entrypoint = "sh",
        args = ["-c", "echo '{\"loss\": %s, \"step\": 1}' >>$$TORCHX_METRICS" % lr])])
`
	if err := os.WriteFile(filepath.Join(h.work, "tune.star"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	r := h.torchx("", "sweep", "-b", "slurm", "--workspace=", "--grid", "lr=0.3,0.2", "--metric", "loss:min", "tune.star:tune")
	if r.code != 0 || !strings.Contains(r.stdout+r.stderr, "best loss: 0.2") {
		t.Errorf("sweep: got %+v, want the best loss 0.2", r)
	}
}

// smi is a stand-in for nvidia-smi on a node with four GPUs that are all busy.
const smi = `#!/bin/sh
case $1 in
--query-gpu=*) for i in 0 1 2 3; do echo "$i, GPU-$i, 42, 1000"; done ;;
esac
`

// TestUsage: the GPUs of a replica and its memory are measured on its node.
func TestUsage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(smi), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+":"+os.Getenv("PATH"))
	handle := h.run("utils.sh", "--gpu", "1", "sh", "-c", `until test -e "$TORCHX_OUTPUT/go"; do sleep 0.2; done`)
	last := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last)
		}
	})
	slurmtest.Eventually(t, "the use of one GPU", func() bool {
		last = h.torchx("", "usage", handle).stdout
		return strings.Contains(last, "42.0%") && strings.Contains(last, "1.0 GiB")
	})
	h.write(handle, "go")
	h.torchx("", "wait", handle)
	if r := h.torchx("", "status", handle); !strings.Contains(r.stdout, "PEAK MEM") || !strings.Contains(r.stdout, "(tree)") {
		t.Errorf("status: got %+v, want the memory of the replica", r)
	}
}

// shim is torchrun as it is, but for a mistake of PyTorch 1.13 with Python 3.11: to_map does not
// know the default of its first argument.
const shim = `#!/usr/bin/python3
import torch.distributed.elastic.multiprocessing as m
from torch.distributed.elastic.multiprocessing.api import Std
from torch.distributed.run import main
known = m.to_map
m.to_map = lambda value, n: known(Std.NONE if value is None else value, n)
main()
`

const training = `
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
t = torch.ones(1)
dist.all_reduce(t)
print("rank", dist.get_rank(), "of", dist.get_world_size(), "sum", int(t[0]), flush=True)
`

// TestTraining: torchrun and the env launcher train over four nodes, also with a range of nodes.
func TestTraining(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import torch").Run(); err != nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "torch") {
			t.Fatal("/usr/bin/python3 has no torch: install python3-torch")
		}
		t.Skip("/usr/bin/python3 has no torch: install python3-torch")
	}
	bin := t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(bin, "torchrun"), []byte(shim), 0o700), //nolint:gosec // a program
		os.WriteFile(filepath.Join(h.work, "train.py"), []byte(training), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+":"+os.Getenv("PATH"), "PYTHON=/usr/bin/python3")
	for _, launcher := range []string{"torchrun", "env", "elastic"} {
		args := []string{"dist.ddp", "-j", "4x1", "--cpu", "1", "--memMB", "1000", "--script", "train.py", "--launcher", launcher}
		if launcher == "elastic" {
			args[2], args[len(args)-1] = "2:4x1", "torchrun"
		}
		handle := h.run(args...)
		h.torchx("", "wait", handle)
		s, log := h.torchx("", "status", handle), h.torchx("", "log", handle).stdout
		if !strings.Contains(s.stdout, "SUCCEEDED") || launcher != "elastic" && strings.Count(log, "of 4 sum 4") != 4 {
			t.Errorf("%s: got %+v, want four ranks on four nodes; log:\n%s", launcher, s, log)
		}
	}
}
