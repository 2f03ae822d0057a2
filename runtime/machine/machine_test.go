package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTotal(t *testing.T) {
	t.Parallel()
	s, err := Total()
	if err != nil || s.CPU < 1 || s.MemMB < 16 || s.GPU != 0 {
		t.Errorf("got %+v, %v, want CPUs and memory without GPUs", s, err)
	}
}

const listing = `GPU 0: NVIDIA A100 (UUID: GPU-aa11)
GPU 1: NVIDIA A100 (UUID: GPU-aa22)
  MIG 3g.20gb     Device  0: (UUID: MIG-b1)
  MIG 3g.20gb     Device  1: (UUID: MIG-b2)
GPU 2: Tesla T4`

func ids(gpus []GPU) string {
	var all []string
	for _, g := range gpus {
		all = append(all, g.ID)
	}
	return strings.Join(all, " ")
}

func TestParseAndVisible(t *testing.T) {
	t.Parallel()
	gpus := ParseGPUs(strings.Split(listing, "\n"))
	if got := ids(gpus); got != "0 MIG-b1 MIG-b2 2" {
		t.Fatalf("got devices %s, want MIG instances instead of GPU 1", got)
	}
	for value, want := range map[string]string{
		"2,0": "2 0", " 2 , 0 ": "2 0", "0,7,2": "0", "": "", "-1": "", "GPU-aa1,2": "0 2", "GPU-": "0", "MIG-b2": "MIG-b2", "MIG-": "",
	} {
		if got := ids(Visible(gpus, value)); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

// TestGPUsRunsTheProgram uses a fake nvidia-smi.
func TestGPUsRunsTheProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := GPUs(t.Context()); err == nil || !strings.Contains(err.Error(), "nvidia-smi") {
		t.Errorf("without the program: got %v, want an error that names it", err)
	}
	program := "#!/bin/sh\nprintf 'GPU 0: x\\n\\nGPU 1: y\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	gpus, err := GPUs(t.Context())
	if got := ids(gpus); err != nil || got != "0 1" {
		t.Errorf("got %s, %v, want 0 1", got, err)
	}
}
