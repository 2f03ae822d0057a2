package observe

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/job"
	"torchx/runtime/spec"
)

func at(n int64) time.Time { return time.Unix(n, 0).UTC() }

func ref(n int64) *time.Time { t := at(n); return &t }

// twoRoles returns an app of a/0, a/1 and b/0.
func twoRoles() *spec.App {
	a, b := spec.NewRole("a", ""), spec.NewRole("b", "")
	a.NumReplicas = 2
	return &spec.App{Name: "x", Roles: []spec.Role{a, b}, Metadata: map[string]any{"torchx": map[string]any{"timeout": "1m"}}}
}

func started(host string, n int64) folder.Attempt {
	return folder.Attempt{Start: at(n), Host: host, PID: 7}
}

func exited(code int, how string, n int64) folder.Attempt {
	return folder.Attempt{Start: at(1), Host: "n1", Exit: &folder.Exit{Time: at(n), Code: code, How: how}}
}

func second(a folder.Attempt) folder.Attempt { a.Number = 1; return a }

// jobOf returns the only job of an app.
func jobOf(status string, change ...func(*job.Job)) []job.Job {
	j := job.Job{ID: 5, Status: status, Ended: ref(50)}
	for _, c := range change {
		c(&j)
	}
	return []job.Job{j}
}

var (
	a0, a1, b0 = spec.Replica{Role: "a"}, spec.Replica{Role: "a", ID: 1}, spec.Replica{Role: "b"}
	begin      = []folder.Begin{{Time: at(1), Job: 5}}
)

type attempts = map[spec.Replica][]folder.Attempt

// TestOwn: the folder of an app and Slurm together give its status.
func TestOwn(t *testing.T) {
	t.Parallel()
	all := func(a folder.Attempt) attempts { return attempts{a0: {a}, a1: {a}, b0: {a}} }
	for name, c := range map[string]struct {
		o    Observation
		want string
	}{
		"waits":             {Observation{Jobs: jobOf("PENDING", func(j *job.Job) { j.Reason = "Resources" })}, "PENDING a/0=PENDING@ a/1=PENDING@ b/0=PENDING@ waits: enough resources are not free yet (it starts by itself when other jobs end)"},
		"starts":            {Observation{Jobs: jobOf("RUNNING")}, "PENDING a/0=PENDING@ a/1=PENDING@ b/0=PENDING@ its nodes are being prepared"},
		"partly":            {Observation{Jobs: jobOf("RUNNING"), Run: &folder.Run{Begins: begin, Replicas: attempts{a0: {started("n1", 2)}}}}, "RUNNING a/0=RUNNING@n1 a/1=PENDING@ b/0=PENDING@"},
		"running":           {Observation{Jobs: jobOf("RUNNING"), Run: &folder.Run{Begins: begin, Replicas: all(started("n1", 2))}}, "RUNNING a/0=RUNNING@n1 a/1=RUNNING@n1 b/0=RUNNING@n1"},
		"is being canceled": {Observation{Jobs: jobOf("RUNNING"), Cancelled: true, Run: &folder.Run{Begins: begin, Replicas: all(started("n1", 2))}}, "RUNNING a/0=RUNNING@n1 a/1=RUNNING@n1 b/0=RUNNING@n1 is being canceled"},
		"succeeded":         {Observation{Run: &folder.Run{Begins: begin, End: &folder.End{State: spec.Succeeded, Time: at(9)}, Replicas: all(exited(0, folder.HowExited, 8))}}, "SUCCEEDED a/0=SUCCEEDED@n1 a/1=SUCCEEDED@n1 b/0=SUCCEEDED@n1 code 0"},
		"failed": {
			Observation{Run: &folder.Run{Begins: begin, End: &folder.End{State: spec.Failed, Code: 7, Time: at(9)}, Replicas: attempts{
				a0: {exited(143, folder.HowStopped, 8)}, a1: {exited(7, folder.HowExited, 7)}, b0: {exited(0, folder.HowExited, 2)},
			}}},
			"FAILED a/0=CANCELLED@n1 a/1=FAILED@n1 b/0=SUCCEEDED@n1 code 7 replica a/1 failed first with exit code 7",
		},
		"signal": {
			Observation{Run: &folder.Run{Begins: begin, End: &folder.End{State: spec.Failed, Code: 139, Time: at(9)}, Replicas: attempts{a0: {exited(139, folder.HowExited, 8)}}}},
			"FAILED a/0=FAILED@n1 a/1=CANCELLED@ b/0=CANCELLED@ code 139 replica a/0 failed first with signal SIGSEGV",
		},
		"deadline": {Observation{Run: &folder.Run{Begins: begin, End: &folder.End{State: spec.Failed, Code: 124, Time: at(9)}, Replicas: all(exited(143, folder.HowStopped, 8))}}, "FAILED a/0=CANCELLED@n1 a/1=CANCELLED@n1 b/0=CANCELLED@n1 code 124 deadline of 1m exceeded"},
		"canceled by scancel": {
			Observation{Jobs: jobOf("CANCELLED", func(j *job.Job) { j.KilledBy = "ann" }), Run: &folder.Run{Begins: begin, Replicas: all(started("n1", 2))}},
			"CANCELLED a/0=CANCELLED@n1 a/1=CANCELLED@n1 b/0=CANCELLED@n1 code 130 cancelled by ann",
		},
		"canceled by torchx": {Observation{Run: &folder.Run{Begins: begin, End: &folder.End{State: spec.Cancelled, Code: 130, Time: at(9)}, Replicas: all(exited(143, folder.HowStopped, 8))}}, "CANCELLED a/0=CANCELLED@n1 a/1=CANCELLED@n1 b/0=CANCELLED@n1 code 130 cancelled"},
		"time limit": {
			Observation{Jobs: jobOf("TIMEOUT", func(j *job.Job) { j.TimeLimit = time.Minute }), Run: &folder.Run{Begins: begin, Replicas: attempts{a0: {started("n1", 2)}, b0: {exited(0, folder.HowExited, 3)}}}},
			"FAILED a/0=FAILED@n1 a/1=CANCELLED@ b/0=SUCCEEDED@n1 code 124 its time limit of 1m was reached (ask for more by -cfg time=TIME)",
		},
		"node failed": {
			Observation{Jobs: jobOf("NODE_FAIL", func(j *job.Job) { j.FailedNode = "n1" }), Run: &folder.Run{Begins: begin, Replicas: attempts{a0: {started("n1", 2)}}}},
			"FAILED a/0=FAILED@n1 a/1=CANCELLED@ b/0=CANCELLED@ code 1 node n1 failed",
		},
		"requeued": {
			Observation{Jobs: jobOf("PENDING", func(j *job.Job) { j.Restarts, j.Reason = 1, "BeginTime" }), Run: &folder.Run{Begins: begin, Replicas: all(started("n1", 2))}},
			"PENDING a/0=PENDING@ a/1=PENDING@ b/0=PENDING@ restarts 1 waits: it was requeued, restart 1 (it starts by itself about two minutes later)",
		},
		"ended by Slurm": {
			Observation{Jobs: jobOf("RUNNING"), Run: &folder.Run{Begins: begin, Replicas: all(exited(143, folder.HowSignaled, 8))}},
			"RUNNING a/0=RUNNING@n1 a/1=RUNNING@n1 b/0=RUNNING@n1",
		},
		"is being requeued": {
			Observation{Jobs: jobOf("COMPLETING", func(j *job.Job) { j.Restarts = 1 }), Run: &folder.Run{Begins: begin, Replicas: all(exited(143, folder.HowSignaled, 8))}},
			"PENDING a/0=PENDING@ a/1=PENDING@ b/0=PENDING@ restarts 1 is being requeued by Slurm",
		},
		"canceled while it was requeued": {
			Observation{Jobs: jobOf("CANCELLED", func(j *job.Job) { j.Restarts = 1 }), Run: &folder.Run{Begins: begin, Replicas: all(exited(143, folder.HowSignaled, 8))}},
			"CANCELLED a/0=CANCELLED@ a/1=CANCELLED@ b/0=CANCELLED@ code 130 restarts 1 cancelled",
		},
		"requeued after it was stopped": {
			Observation{Jobs: jobOf("PENDING", func(j *job.Job) { j.Restarts, j.Reason = 1, "BeginTime" }), Run: &folder.Run{Begins: begin, Replicas: all(exited(143, folder.HowStopped, 8))}},
			"PENDING a/0=PENDING@ a/1=PENDING@ b/0=PENDING@ restarts 1 waits: it was requeued, restart 1 (it starts by itself about two minutes later)",
		},
		"requeued too often": {
			Observation{Run: &folder.Run{Begins: append(slices.Clone(begin), folder.Begin{Time: at(30), Restart: 1}), End: &folder.End{State: spec.Failed, Code: 125, Time: at(31)}, Replicas: all(exited(143, folder.HowStopped, 8))}},
			"FAILED a/0=CANCELLED@ a/1=CANCELLED@ b/0=CANCELLED@ code 125 restarts 1 Slurm requeued it more often than allowed (raise -cfg max_requeues)",
		},
		"begins again": {
			Observation{Jobs: jobOf("RUNNING", func(j *job.Job) { j.Restarts = 1 }), Run: &folder.Run{Begins: append(slices.Clone(begin), folder.Begin{Time: at(30), Restart: 1}), Replicas: all(exited(143, folder.HowStopped, 8))}},
			"PENDING a/0=PENDING@ a/1=PENDING@ b/0=PENDING@ restarts 1",
		},
		"runs again": {
			Observation{Jobs: jobOf("RUNNING", func(j *job.Job) { j.Restarts = 1 }), Run: &folder.Run{Begins: append(slices.Clone(begin), folder.Begin{Time: at(20), Restart: 1}), Replicas: attempts{a0: {started("n1", 2), second(started("n2", 30))}}}},
			"RUNNING a/0=RUNNING@n2 a/1=PENDING@ b/0=PENDING@ restarts 1",
		},
		"folder lags": {Observation{Jobs: jobOf("FAILED", func(j *job.Job) { j.Exit = job.Exit{Code: 7, Known: true} }), Run: &folder.Run{Begins: begin, Replicas: attempts{a0: {started("n1", 2)}}}}, "FAILED a/0=FAILED@n1 a/1=CANCELLED@ b/0=CANCELLED@ code 7 the job ended with exit code 7"},
		"forgotten":   {Observation{JobID: 5, NotAccounted: true, Run: &folder.Run{Begins: begin, Replicas: attempts{a0: {started("n1", 2)}}}}, "FAILED a/0=FAILED@n1 a/1=CANCELLED@ b/0=CANCELLED@ code 125 its result is unknown: the launcher recorded no end, and Slurm no longer knows job 5 (the cluster has no accounting)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := c.o
			o.App, o.Submitted = twoRoles(), at(0)
			if o.Run == nil {
				o.Run = &folder.Run{}
			}
			s := o.Status()
			if got := line(s); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
			if s.State.Terminal() && s.State != spec.Failed && s.FirstFailure != nil || s.State.Terminal() != (s.ExitCode != nil) {
				t.Errorf("got first failure %+v and exit code %v of an app that is %s", s.FirstFailure, s.ExitCode, s.State)
			}
		})
	}
}

// TestOwnPast: earlier attempts, restarts and error files are told.
func TestOwnPast(t *testing.T) {
	t.Parallel()
	o := Observation{
		App: twoRoles(), Jobs: jobOf("RUNNING", func(j *job.Job) { j.Restarts = 1 }),
		Run: &folder.Run{
			Begins:   []folder.Begin{{Time: at(1)}, {Time: at(20), Restart: 1}},
			Restarts: []spec.Restart{{Time: at(5), Role: "a", Replica: 0, Policy: spec.RetryReplica}},
			Replicas: attempts{a0: {exited(3, folder.HowExited, 4), second(exited(4, folder.HowExited, 30))}, b0: {started("n3", 2), second(started("n4", 21))}},
		},
		ErrorFile: func(r spec.Replica, attempt int) json.RawMessage {
			if r == a0 && attempt == 1 {
				return json.RawMessage(`{"message":"boom"}`)
			}
			return nil
		},
	}
	s := o.Status()
	if s.NumRestarts != 2 || len(s.Restarts) != 2 || s.Restarts[0].Policy != spec.RetryReplica || !strings.Contains(s.Restarts[1].String(), "Slurm requeued the job") {
		t.Errorf("got %d restarts %+v, want that of a/0 and the requeue", s.NumRestarts, s.Restarts)
	}
	if len(s.Past) != 2 || s.Past[0].State != spec.Failed || *s.Past[0].ExitCode != 3 || s.Past[1].State != spec.Cancelled {
		t.Errorf("got past %+v, want the failed attempt and the lost one", s.Past)
	}
	if string(s.StructuredErrorMsg) != `{"message":"boom"}` || s.StartedAt == nil || s.StartedAt.Unix() != 1 {
		t.Errorf("got error file %s, started %v, want that of a/0 and the first start", s.StructuredErrorMsg, s.StartedAt)
	}
}

// TestOutOfMemory: a replica is out of memory if Slurm says so of its node.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"slurmstepd-n1: error: StepId=1.0 exceeded memory limit (127639552 > 104857600), being killed":                     msgOutOfMemory,
		"slurmstepd-n1: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.":      msgOutOfMemory,
		"slurmstepd: error: Detected 1 oom-kill event(s) in step 1.0 cgroup. Some of your processes may have been killed.": msgOutOfMemory,
		"slurmstepd-n2: error: Detected 1 oom_kill event in StepId=1.0.":                                                   "",
		"torchx: oom_kill": "",
	} {
		o := &Observation{Run: &folder.Run{}, Messages: func() string { return "torchx: begins\n" + line + "\n" }}
		var s spec.ReplicaStatus
		o.setExit(&s, &folder.Attempt{Host: "n1", Exit: &folder.Exit{Code: killed, How: folder.HowExited}}, true)
		if s.Msg != want {
			t.Errorf("%s: got %q, want %q", line, s.Msg, want)
		}
	}
}

// TestLostNode: a replica whose node failed is lost, unless that was before the job began again.
func TestLostNode(t *testing.T) {
	t.Parallel()
	app := twoRoles()
	app.Roles[0].MinReplicas = new(int)
	const failure = "srun: error: Node failure on n[1,3]\n"
	for messages, want := range map[string]spec.State{
		"torchx: job 5 begins on n1\n" + failure: spec.Failed, failure + "torchx: job 5 begins on n1\n": spec.Running, "": spec.Running,
		"torchx: job 5 begins on n1\nsrun: error: Node failure on n2\n": spec.Running,
	} {
		o := Observation{App: app, Jobs: jobOf("RUNNING"), Run: &folder.Run{Begins: []folder.Begin{{Time: at(1)}}, Replicas: attempts{a0: {started("n1", 2)}, b0: {started("n1", 2)}}}, Messages: func() string { return messages }}
		s := o.Status()
		if got := s.Replica(a0); got.State != want || (got.Msg == msgLost) != (want == spec.Failed) || s.Replica(b0).State != spec.Running {
			t.Errorf("%q: got %+v, want %s, and that of a role without min_replicas running", messages, got, want)
		}
	}
	o := Observation{App: app, Run: &folder.Run{Begins: []folder.Begin{{Time: at(1)}}, End: &folder.End{Time: at(9)}, Replicas: attempts{a0: {exited(killed, folder.HowExited, 8)}}}, Messages: func() string { return failure }}
	if got := o.Status().Replica(a0); got.State != spec.Failed || got.Msg != msgLost {
		t.Errorf("after the end: got %+v, want it lost", got)
	}
}
