package machine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// smi puts a stand-in for nvidia-smi on PATH.
func smi(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestGPUUsage(t *testing.T) {
	smi(t, `case $1 in
--query-compute-apps=*) echo '41, GPU-aa, 512'; echo '42, GPU-bb, [N/A]'; echo 'No devices'; echo '-, GPU-cc, 1';;
--query-gpu=*) echo '0, GPU-aa, 87, 1024'; echo '1, GPU-bb, [Not Supported], [N/A]';;
esac`)
	apps, err := GPUProcesses(t.Context())
	if err != nil || len(apps) != 2 || apps[0].PID != 41 || apps[0].GPU != "GPU-aa" || *apps[0].Memory != 512<<20 || apps[1].Memory != nil {
		t.Errorf("processes: got %+v, %v", apps, err)
	}
	loads, err := GPULoads(t.Context())
	if err != nil || len(loads) != 2 || loads[0].ID != "0" || *loads[0].Percent != 87 || *loads[0].Memory != 1<<30 || loads[1].Percent != nil || loads[1].Memory != nil {
		t.Errorf("loads: got %+v, %v", loads, err)
	}
}

// TestGPUUsageFails checks that a failing program is an error and that one that hangs is killed with
// the processes that it started.
func TestGPUUsageFails(t *testing.T) {
	smi(t, "echo '41, GPU-aa, 512'; exit 9")
	if apps, err := GPUProcesses(t.Context()); err == nil {
		t.Errorf("exit code 9: got %v, want an error", apps)
	}
	pipe := filepath.Join(t.TempDir(), "pid")
	smi(t, "sleep 1000 & echo $! >"+pipe+"; wait")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if apps, err := GPUProcesses(ctx); err == nil { // returns although the child has the pipe open
		t.Errorf("hanging: got %v, want an error", apps)
	}
	if QueryPID() != 0 {
		t.Errorf("got process %d after the query, want none", QueryPID())
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := GPULoads(t.Context()); err == nil {
		t.Error("without the program: want an error")
	}
}
