//go:build unix

package slurm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
	"torchx/test/slurmtest"
)

// TestKilledSubmit: after a kill at any step of a submission, the app is in the list with what
// became of it, its job runs once or never, and delete leaves nothing.
func TestKilledSubmit(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]spec.State{
		failpoint.Recorded:      spec.Failed,
		failpoint.FolderCreated: spec.Failed,
		failpoint.JobSubmitted:  spec.Succeeded,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if r := h.torchx(point, "run", "-b", "slurm", "--workspace=", "-cfg", "archive=true", "utils.sh", "echo", "ran"); r.code != -1 {
				t.Fatalf("got %+v, want it killed", r)
			}
			all := h.list()
			if len(all) != 1 {
				t.Fatalf("got %+v, want one app", all)
			}
			h.torchx("", "wait", all[0].Handle)
			if all = h.list(); all[0].State != want {
				t.Errorf("got %s, want %s", all[0].State, want)
			}
			ran := h.torchx("", "log", all[0].Handle).stdout
			if wanted := want == spec.Succeeded; strings.Count(ran, "ran") == 1 != wanted {
				t.Errorf("got log %q, want it to have run: %v", ran, wanted)
			}
			if r := h.torchx("", "delete", "--yes", all[0].Handle); r.code != 0 {
				t.Errorf("delete: got %+v", r)
			}
			left, _ := filepath.Glob(filepath.Join(h.dir, "slurm*", all[0].AppID))
			if len(h.list()) != 0 || len(left) != 0 {
				t.Errorf("got %+v and %q left, want nothing", h.list(), left)
			}
		})
	}
}

// TestKilledInSbatch: sbatch does not go on when torchx is killed: the job would be one that the
// history does not have.
func TestKilledInSbatch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := t.TempDir()
	begun, marker := filepath.Join(dir, "begun"), filepath.Join(dir, "submitted")
	script := "#!/bin/sh\n: >" + begun + "\nkill -9 $PPID\nsleep 1\n: >" + marker + "\n"
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	old := h.env
	h.env = append(h.env, "PATH="+dir+":"+os.Getenv("PATH"))
	if r := h.torchx("", "run", "-b", "slurm", "--workspace=", "utils.echo"); r.code != -1 {
		t.Fatalf("got %+v, want it killed", r)
	}
	h.env = old
	if all := h.list(); len(all) != 1 || all[0].State != spec.Failed {
		t.Errorf("got %+v, want one failed app", all)
	}
	if _, err := os.Stat(begun); err != nil {
		t.Error(err)
	}
	slurmtest.Output(t, "sleep", "2") // sbatch would end in one second
	if _, err := os.Stat(marker); err == nil {
		t.Error("sbatch went on after torchx was killed")
	}
}

// TestKilledCollector: the logs that an agent copies are complete, each line once, however often the
// agent is killed.
func TestKilledCollector(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	jobs := t.TempDir()
	const lines, kills = 40, 5
	handle := h.run("-cfg", "archive=true,job_dir="+jobs, "utils.sh", "sh", "-c", fmt.Sprintf("for i in $(seq %d); do echo line $i; sleep 0.2; done", lines))
	file := func(name string) string {
		found, _ := filepath.Glob(filepath.Join(h.dir, "slurm-archive", "*", name))
		if len(found) != 1 {
			return ""
		}
		text, _ := os.ReadFile(found[0])
		return string(text)
	}
	last := 0
	for range kills {
		pid := 0
		slurmtest.Eventually(t, "another agent", func() bool {
			pid, _ = strconv.Atoi(strings.TrimSpace(file("agent.lock")))
			return pid > 0 && pid != last
		})
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatalf("kill agent %d: %v", pid, err)
		}
		last = pid
		slurmtest.Eventually(t, "a new agent", func() bool {
			h.torchx("", "list")
			now, _ := strconv.Atoi(strings.TrimSpace(file("agent.lock")))
			return now != last
		})
	}
	slurmtest.Eventually(t, "the agent is done", func() bool { return strings.Contains(file("app.json"), `"done":true`) })
	if err := os.RemoveAll(jobs); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintf(&want, "sh/0 line %d\n", i+1)
	}
	if r := h.torchx("", "log", handle); r.code != 0 || r.stdout != want.String() {
		t.Errorf("got %+v, want each of %d lines once", r, lines)
	}
	r := h.torchx("", "status", "--json", handle)
	var status struct {
		Roles []struct {
			Role     string
			Replicas []struct {
				ExitCode *int `json:"exit_code"`
			}
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &status); err != nil {
		t.Fatal(err)
	}
	if all := status.Roles; len(all) != 1 || all[0].Role != "sh" || len(all[0].Replicas) != 1 || all[0].Replicas[0].ExitCode == nil || *all[0].Replicas[0].ExitCode != 0 {
		t.Errorf("got roles %+v, want sh with a replica that ended with 0", all)
	}
}
