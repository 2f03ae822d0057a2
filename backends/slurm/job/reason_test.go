package job

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// TestStates: the states of TorchX's table are the same, in each form.
func TestStates(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../runtime/spec/testdata/state_maps.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Slurm map[string]spec.State }
	if err := json.Unmarshal(data, &file); err != nil || len(file.Slurm) == 0 {
		t.Fatalf("got %v, %v, want TorchX's states", file, err)
	}
	for word, want := range file.Slurm {
		var j Job
		j.setState([]string{word})
		if j.State() != want {
			t.Errorf("%s: got %s, want %s", word, j.State(), want)
		}
	}
	for text, want := range map[string]spec.State{
		"COMPLETED COMPLETING": spec.Running, "FAILED COMPLETING": spec.Running, "COMPLETING": spec.Running, "RUNNING CONFIGURING": spec.Pending,
		"PENDING REQUEUED": spec.Pending, "PENDING SPECIAL_EXIT": spec.Pending, "STAGE_OUT": spec.Running, "CANCELLED+": spec.Cancelled,
		"FAILED LAUNCH_FAILED": spec.Failed, "PENDING RESV_DEL_HOLD": spec.Pending, "running": spec.Running, "RUNNING UNHEARD_OF": spec.Running, "UNHEARD_OF": spec.Unknown, "": spec.Unknown,
	} {
		var j Job
		j.setState(strings.Fields(text))
		if j.State() != want {
			t.Errorf("%q: got %s, want %s", text, j.State(), want)
		}
	}
	var j Job
	j.setState([]string{"CANCELLED by 1000"})
	if j.State() != spec.Cancelled || j.Why() != "cancelled by 1000" {
		t.Errorf("got %s, %q, want canceled by 1000", j.State(), j.Why())
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	for states, want := range map[string]spec.State{
		"RUNNING": spec.Running, "RUNNING PENDING": spec.Running, "PENDING PENDING": spec.Pending, "COMPLETED COMPLETED": spec.Succeeded,
		"COMPLETED FAILED": spec.Failed, "CANCELLED COMPLETED": spec.Cancelled, "FAILED CANCELLED": spec.Failed, "COMPLETED PENDING": spec.Pending, "ODD": spec.Unknown,
	} {
		var jobs []Job
		for s := range strings.FieldsSeq(states) {
			var j Job
			j.setState([]string{s})
			jobs = append(jobs, j)
		}
		if got := StateOf(jobs); got != want {
			t.Errorf("%s: got %s, want %s", states, got, want)
		}
		jobs[0].Array.ID = 1
		if got := StateOf(jobs); states == "COMPLETED PENDING" && got != spec.Running {
			t.Errorf("an array with %s: got %s, want it to run", states, got)
		}
	}
}

// waiting returns a job that waits for a reason, as a command prints it.
func waiting(reason, detail string) *Job {
	j := &Job{ID: 42, Account: "lab", Partition: "gpu", QOS: "long", Status: statusPending}
	j.setReason(reason, detail)
	return j
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for in, want := range map[[2]string]string{
		{"Resources", ""}:              "enough resources are not free yet (it starts by itself when other jobs end)",
		{"Priority", ""}:               "jobs of a higher priority are before it (it starts by itself after them, see `sprio`)",
		{"JobHeldUser", ""}:            "it is held (release it by `scontrol release 42`)",
		{"BeginTime", ""}:              "its earliest start time has not come (it starts by itself, `scontrol update jobid=42 starttime=now` starts it now)",
		{"PartitionDown", ""}:          "partition gpu is down (see `sinfo`, and choose another by -cfg partition=NAME)",
		{"AccountNotAllowed", ""}:      "partition gpu does not allow account lab (choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`)",
		{"QOSMaxJobsPerUserLimit", ""}: "you use as much as QOS long allows each user: running jobs (it starts by itself when your other jobs end)",
		{"AssocGrpCpuLimit", ""}:       "the jobs of account lab use as much as they may together: CPUs (it starts by itself when some of them end)",
		{"AssocMaxCpuPerJobLimit", ""}: "it asks for more than account lab allows one job: CPUs (it cannot start: cancel it and ask for less)",
		{"QOSMinGRES", ""}:             "it asks for less than QOS long requires of each job: GPUs or other devices (cancel it and ask for more)",
		{"MaxJobsPerAccount", ""}:      "your account uses as much as QOS long allows each account: running jobs (it starts by itself when its other jobs end)",
		{"AssocGrpGRESMinutes", ""}:    "account lab has used all time that it may: GPUs or other devices (choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`)",
		{"QOSGrpMemoryRunMinutes", ""}: "the running jobs of QOS long have reserved all time that they may: memory (it starts by itself when they end, a shorter -cfg time=TIME may start it sooner)",
		{"AssocGrpNewThing", ""}:       "the jobs of account lab use as much as they may together: a resource (it starts by itself when some of them end)",
		{"Brand2New", ""}:              "Slurm's reason is Brand2New (see `scontrol show job 42`)",
		{"None", ""}:                   "",
		{"", ""}:                       "",
		{"Dependency", "afterok:7"}:    "another job must end first: afterok:7 (it starts by itself after it)",
		{"ReqNodeNotAvail", "ReqNodeNotAvail, UnavailableNodes:n[1-2]"}:                                     "nodes that it needs are not available: UnavailableNodes:n[1-2] (see `sinfo -R` for nodes that are down or drained)",
		{"ReqNodeNotAvail,_UnavailableNodes:n1", ""}:                                                        "nodes that it needs are not available: UnavailableNodes:n1 (see `sinfo -R` for nodes that are down or drained)",
		{"ReqNodeNotAvail(Unavailable:n1)", ""}:                                                             "nodes that it needs are not available: Unavailable:n1 (see `sinfo -R` for nodes that are down or drained)",
		{"Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions", ""}: "nodes that it needs are down, drained or reserved (see `sinfo -R`, or wait)",
		{"launch_failed_requeued_held", ""}:                                                                 "its batch script could not be started, and it is held (see the log of slurmd on its first node, then `scontrol release 42`)",
		{"BadConstraints", strings.Repeat("é", 500)}:                                                        "no node has what it asks for: " + strings.Repeat("é", maxDetail) + "… (cancel it and change -cfg constraint=FEATURES or its resources, see `sinfo -o '%N %f %c %m %G'`)",
	} {
		if got := waiting(in[0], in[1]).Waits(); got != want {
			t.Errorf("%v:\ngot  %s\nwant %s", in, got, want)
		}
	}
	bare := &Job{ID: 1, Status: statusPending, Reason: "AccountNotAllowed"}
	if got := bare.Waits(); !strings.HasPrefix(got, "its partition does not allow its account (") {
		t.Errorf("without names: got %q, want no gaps", got)
	}
	if got := (&Job{ID: 1, Status: statusRunning, Reason: "Priority"}).Waits(); got != "" {
		t.Errorf("running: got %q, want nothing", got)
	}
	if got := (&Job{ID: 1, Status: statusRunning, Flags: []string{flagConfiguring}}).Waits(); got != "its nodes are being started" {
		t.Errorf("configuring: got %q", got)
	}
}

// TestEveryReason: Slurm's reasons of waiting jobs are explained, with what to do.
func TestEveryReason(t *testing.T) {
	t.Parallel()
	count := 0
	for reason := range strings.FieldsSeq(string(read(t, "reasons.txt"))) {
		count++
		got := waiting(reason, "").Waits()
		switch reason {
		case "None", "NonZeroExitCode", "RaisedSignal": // the exit code says it
			continue
		}
		if got == "" || strings.Contains(got, "Slurm's reason") || strings.Contains(got, "  ") || !strings.Contains(got, "(") && reason != "DeadLine" {
			t.Errorf("%s: got %q, want why and what to do", reason, got)
		}
		for _, name := range []string{"PARTITION", "ACCOUNT", "QOSNAME", " ID"} {
			if strings.Contains(got, name) {
				t.Errorf("%s: got %q, want names instead of %s", reason, got, name)
			}
		}
	}
	if count < 200 {
		t.Errorf("got %d reasons, want all", count)
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()
	for want, j := range map[string]*Job{
		"its time limit of 1h30m was reached (ask for more by -cfg time=TIME)":                       {Status: statusTimeout, Reason: "TimeLimit", TimeLimit: 90 * time.Minute},
		"out of memory: it used more than it asked for (ask for more memory in the role's resource)": {Status: statusMemory, Reason: "OutOfMemory"},
		"node n3 failed": {Status: statusNodeFail, FailedNode: "n3"},
		"a node failed":  {Status: statusNodeFail},
		"preempted by a job of higher priority (-cfg requeue=true starts it again)": {Status: statusPreempted},
		"cancelled by ann": {Status: statusCancelled, KilledBy: "ann"},
		"cancelled":        {Status: statusCancelled},
		"":                 {Status: "FAILED", Reason: "NonZeroExitCode"},
		"its batch script could not be started (see the log of slurmd on its first node: often its folder does not exist there)": {Status: "FAILED", Reason: "JobLaunchFailure"},
		"its nodes could not be started": {Status: statusBootFail},
	} {
		if got := j.Why(); got != want {
			t.Errorf("%+v:\ngot  %s\nwant %s", j, got, want)
		}
	}
}
