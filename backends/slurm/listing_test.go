//go:build unix

package slurm

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/backends/slurm/job"
	"torchx/runtime/spec"
	"torchx/test/slurmtest"
)

// TestListing: the text that squeue is asked for tells of jobs what scontrol does.
func TestListing(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	name := idOf(t, "listing")
	for _, args := range [][]string{
		{"--hold", "--comment=a, b", "--wrap=true"},
		{"--partition=shut", "--wrap=true", "--array=1-4%2"},
		{"--hold", "--time=1:30:00", "--wrap=true", ":", "--ntasks=2"},
		{"--begin=now+1hour", "--time=2-3", "--wrap=true"},
		{"--wrap=exit 3"},
		{"--wrap=kill -9 $$"},
	} {
		id := slurmtest.Output(t, "sbatch", append([]string{"--parsable", "--output=/dev/null", "--job-name=" + name}, args...)...)
		t.Cleanup(func() { // the test's context has ended
			_ = exec.CommandContext(context.Background(), "scancel", "--quiet", id).Run()
		})
	}
	b := newBackend(t, t.TempDir())
	own := func(jobs []job.Job, err error) (lines []string, moving bool) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			j := &jobs[i]
			if !strings.HasPrefix(j.Name, name) {
				continue
			}
			moving = moving || j.State() == spec.Running || j.State() == spec.Pending && j.Reason == ""
			j.Ended = nil // one of the commands invents it for jobs without a limit
			lines = append(lines, fmt.Sprintf("%d of %d: %s %s %s %s|%s exit %+v restarts %d array %q nodes %v tasks %d, %s@%s %s %d %q %q", j.ID, j.Main(), j.Name, j.State(),
				j.Status, j.Reason, j.Detail, j.Exit, j.Restarts, j.Array.Task, j.Nodes, j.Tasks, j.User, j.Partition, j.Account, j.Submitted.Unix(), j.Comment, j.WorkDir))
		}
		slices.Sort(lines)
		return lines, moving
	}
	var got, want []string
	slurmtest.Eventually(t, "the jobs have a state that lasts", func() bool {
		var moves bool
		got, moves = own(b.slurm.QueuedOf(t.Context(), userName()))
		want, _ = own(job.ParseText(slurmtest.Output(t, "scontrol", "--all", "show", "job"), time.Local))
		return !moves && slices.Equal(got, want)
	})
	if len(got) != 7 {
		t.Errorf("got %q, want seven jobs", got)
	}
}
