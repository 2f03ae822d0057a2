package job

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRecorded: what a cluster of version 22.05 printed. Both forms of scontrol tell the same of
// all jobs, and in the words expected.
func TestRecorded(t *testing.T) {
	t.Parallel()
	queue, err := ParseText(string(read(t, "22.05/scontrol.txt")), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	oneline, err := ParseText(string(read(t, "22.05/scontrol-oneline.txt")), time.UTC)
	if err != nil || len(oneline) != len(queue) {
		t.Fatalf("got %d jobs on one line, %v, want %d", len(oneline), err, len(queue))
	}
	for i := range queue {
		a, b := &queue[i], &oneline[i]
		if line(a) != line(b) || a.Comment != b.Comment || a.Command != b.Command {
			t.Errorf("got  %s %q\nwant %s %q", line(b), b.Comment, line(a), a.Comment)
		}
	}
	for i := range queue {
		j := &queue[i]
		want, ok := recorded[j.ID]
		if got := strings.TrimSpace(j.State().String() + " " + j.Waits() + j.ended()); !ok || got != want {
			t.Errorf("%d: got %q, want %q", j.ID, got, want)
		}
	}
	if _, groups := Groups(queue); len(groups[1]) != 2 || len(groups[8]) != 2 {
		t.Errorf("got groups %v, want two components of 1 and two tasks of 8", groups)
	}
}

// ended returns why a job ended, if it has.
func (j *Job) ended() string {
	if !j.State().Terminal() {
		return ""
	}
	return j.Why()
}

var recorded = map[int64]string{
	1: "RUNNING", 2: "RUNNING", 3: "FAILED", 9: "SUCCEEDED", 10: "CANCELLED cancelled", 13: "RUNNING", 15: "SUCCEEDED", 16: "RUNNING",
	4:  "FAILED its batch script could not be started (see the log of slurmd on its first node: often its folder does not exist there)",
	5:  "PENDING enough resources are not free yet (it starts by itself when other jobs end)",
	6:  "PENDING it is held (release it by `scontrol release 6`)",
	7:  "PENDING its earliest start time has not come (it starts by itself, `scontrol update jobid=7 starttime=now` starts it now)",
	8:  "PENDING the array runs as many tasks at once as it may (it starts by itself)",
	11: "PENDING partition shut is down (see `sinfo`, and choose another by -cfg partition=NAME)",
	12: "PENDING the job that it depends on has failed (it cannot start: cancel it)",
	14: "PENDING you use as much as QOS tiny allows each user: running jobs (it starts by itself when your other jobs end)",
}

// TestRecordedAccounting: sacct of 22.05 knows who canceled a job, and prints the exit code 0 of
// all jobs, which LacksExit tells from success.
func TestRecordedAccounting(t *testing.T) {
	t.Parallel()
	jobs, err := ParseAccounting(read(t, "22.05/sacct.json"))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[int64]*Job{}
	for i := range jobs {
		byID[jobs[i].ID] = &jobs[i]
	}
	if got := byID[10].Why(); got != "cancelled by root" {
		t.Errorf("canceled: got %q, want who", got)
	}
	if !byID[3].LacksExit() || byID[4].LacksExit() || byID[9].LacksExit() {
		t.Errorf("got lacks %v, %v, %v, want only 3 without its exit code", byID[3].LacksExit(), byID[4].LacksExit(), byID[9].LacksExit())
	}
	if got := byID[2]; got.Het != (Het{1, 1}) {
		t.Errorf("component: got %+v, want 1 of 1", got.Het)
	}
}

func TestParseAccountingText(t *testing.T) {
	t.Parallel()
	row := func(values ...string) string { return strings.Join(values, Delimiter) + "\n" }
	text := row("220", "220", "ann", "lab", "gpu", "normal", "FAILED", "7:0", "7:0", "2023-11-14T22:13:20", "2023-11-14T22:13:20", "2023-11-14T22:13:21", "2023-11-14T22:13:24", "01:00:00", "gpu-[1-2,10]", "NonZeroExitCode", "bad", "/home/ann/a b", "") +
		row("220.batch", "220.batch", "", "lab", "", "", "FAILED", "7:0", "", "2023-11-14T22:13:20", "", "", "", "", "gpu-1", "", "batch", "", "") +
		row("205", "204+1", "ann", "lab", "gpu", "normal", "CANCELLED by 1000", "0:15", "0:0", "2023-11-14T22:13:20", "Unknown", "None", "Unknown", "UNLIMITED", "None assigned", "None", "x|y", "/home/ann/a b", "a, b") +
		row("231", "230_1", "ann", "lab", "gpu", "normal", "TIMEOUT", "0:0", "0:0", "2023-11-14T22:13:20", "Unknown", "Unknown", "Unknown", "Partition_Limit", "gpu-1", "TimeLimit", "sweep", "/home/ann/a b", "") +
		"sacct: error: odd\n"
	jobs := ParseAccountingText(text, time.UTC)
	if len(jobs) != 3 {
		t.Fatalf("got %d jobs, want 3", len(jobs))
	}
	if got, want := line(&jobs[0]), strings.Replace(sameJobs[4], "restarts 2", "restarts 0", 1); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if j := jobs[1]; j.Het != (Het{204, 1}) || j.Why() != "cancelled by 1000" || j.Name != "x|y" || j.Comment != "a, b" || j.Started != nil || j.Nodes != nil {
		t.Errorf("component: got %+v, want it canceled by 1000", j)
	}
	if j := jobs[2]; j.Array != (Array{230, "1"}) || j.Main() != 230 || !strings.Contains(j.Why(), "time limit was reached") {
		t.Errorf("task: got %+v, want task 1 of 230, which timed out", j)
	}
}

// TestRecordedEnds: jobs that failed with their nodes, were preempted, requeued, or wait for nodes that are
// down or drained.
func TestRecordedEnds(t *testing.T) {
	t.Parallel()
	jobs, err := ParseListing(string(read(t, "22.05/ended.txt")), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{
		1:  "PENDING it was requeued, restart 1 (it starts by itself about two minutes later)",
		2:  "FAILED a node failed, exit code 1",
		3:  "PENDING it was requeued, restart 1 (it starts by itself about two minutes later)",
		4:  "FAILED preempted by a job of higher priority (-cfg requeue=true starts it again), exit code 143 SIGTERM",
		5:  "RUNNING",
		6:  "FAILED , exit code 7",
		7:  "FAILED , exit code 137 SIGKILL",
		8:  "SUCCEEDED , exit code 0",
		9:  "SUCCEEDED , exit code 0",
		10: "PENDING nodes that it needs are not available: UnavailableNodes:n4 (see `sinfo -R` for nodes that are down or drained)",
		11: "PENDING nodes that it needs are down, drained or reserved (see `sinfo -R`, or wait)",
	}
	for i := range jobs {
		j := &jobs[i]
		got := j.State().String() + " " + j.Waits() + j.ended()
		if code, signal := j.Code(); code != nil {
			got += fmt.Sprintf(", exit code %d %s", *code, signal)
		}
		if got = strings.TrimSpace(got); got != want[j.ID] {
			t.Errorf("%d: got %q, want %q", j.ID, got, want[j.ID])
		}
	}
	if jobs[4].Restarts != 1 {
		t.Errorf("preempted and requeued: got %d restarts, want 1", jobs[4].Restarts)
	}
}
