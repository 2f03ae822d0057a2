package observe

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"torchx/backends/slurm/job"
	"torchx/runtime/spec"
)

// listing is an output of squeue.
const listing = "squeue.txt"

// groups returns the jobs in an output of squeue or scontrol by main ID.
func groups(t *testing.T, file string) map[int64][]job.Job {
	t.Helper()
	data, err := os.ReadFile("../job/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	parse := job.ParseText
	if file == listing {
		parse = job.ParseListing
	}
	jobs, err := parse(string(data), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	_, all := job.Groups(jobs)
	return all
}

// line describes a status.
func line(s *spec.Status) string {
	text := s.State.String()
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			text += fmt.Sprintf(" %s/%d=%s@%s", r.Role, r.ID, r.State, r.Hostname)
		}
	}
	if s.ExitCode != nil {
		text += fmt.Sprintf(" code %d", *s.ExitCode)
	}
	if s.NumRestarts > 0 {
		text += fmt.Sprintf(" restarts %d", s.NumRestarts)
	}
	return strings.TrimSpace(text + " " + s.Msg)
}

// TestForeign: jobs of TorchX are replicas of roles, others are replicas of their name.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, file := range []string{listing, "20.11/scontrol.txt"} {
		all := groups(t, file)
		for id, want := range map[int64]string{
			204: "RUNNING trainer/0=RUNNING@gpu-1 trainer/1=RUNNING@gpu-2",
			210: "PENDING eval/0=PENDING@ waits: you use as much as QOS normal allows each user: running jobs (it starts by itself when your other jobs end)",
			211: "PENDING wide/0=PENDING@ waits: nodes that it needs are not available: UnavailableNodes:gpu-[3-4] (see `sinfo -R` for nodes that are down or drained)",
			220: "FAILED bad/0=FAILED@gpu-1,gpu-2,gpu-10 code 7 restarts 2 replica bad/0 failed first with exit code 7",
			221: "FAILED big/0=FAILED@gpu-2 code 137 replica big/0 failed first: out of memory: it used more than it asked for (ask for more memory in the role's resource)",
			230: "RUNNING sweep/0=RUNNING@gpu-1 sweep/1=PENDING@",
			240: "RUNNING ending/0=RUNNING@gpu-3",
		} {
			if got := line(Foreign(all[id])); got != want {
				t.Errorf("%s: %d:\ngot  %s\nwant %s", file, id, got, want)
			}
		}
	}
	failed := Foreign(groups(t, listing)[220])
	if f := failed.FirstFailure; f == nil || f.Role != "bad" || *f.ExitCode != 7 || failed.FinishedAt == nil || failed.StartedAt == nil {
		t.Errorf("got %+v, want its first failure and times", failed)
	}
}

func TestApp(t *testing.T) {
	t.Parallel()
	all := groups(t, listing)
	app := App(all[204])
	if app.Name != "trainer" || len(app.Roles) != 1 || app.Roles[0].NumReplicas != 2 || app.Roles[0].Image != "/home/ann/a b" || app.Roles[0].Entrypoint != "/home/ann/torchx-sbatch.sh" {
		t.Errorf("got %+v, want two trainers", app)
	}
	if s := Summary(all[220]); s.ID != "220" || s.Name != "bad" || s.State != spec.Failed || !s.Foreign || *s.ExitCode != 7 || s.FinishedAt.Unix() != 1700000004 {
		t.Errorf("got %+v, want the failed job", s)
	}
}

// TestResults: the job that failed first decides, and the names of TorchX must be unambiguous.
func TestResults(t *testing.T) {
	t.Parallel()
	at := func(n int64) *time.Time { u := time.Unix(n, 0); return &u }
	jobs := []job.Job{
		{ID: 1, Het: job.Het{Leader: 1}, Name: "a-0", Status: "FAILED", Exit: job.Exit{Code: 9, Known: true}, Ended: at(20)},
		{ID: 2, Het: job.Het{Leader: 1, Offset: 1}, Name: "b-1", Status: "FAILED", Exit: job.Exit{Code: 3, Known: true}, Ended: at(10)},
	}
	if got, want := line(Foreign(jobs)), "FAILED a/0=FAILED@ b/1=FAILED@ code 3 replica b/1 failed first with exit code 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	jobs[1].Name = "a-0"
	if got, want := line(Foreign(jobs)), "FAILED a-0/0=FAILED@ a-0/1=FAILED@ code 3 replica a-0/1 failed first with exit code 3"; got != want {
		t.Errorf("twice the same name: got %q, want %q", got, want)
	}
	for name, ok := range map[string]bool{"a-0": true, "a-b-12": true, "a-": false, "-1": false, "a": false, "a-x": false, "a-01": false, "a--1": true, "a-99999999999": false} {
		if _, _, got := torchxName(name); got != ok {
			t.Errorf("%s: got %v, want %v", name, got, ok)
		}
	}
	if got := hostname(strings.Fields("a b c d e f")); got != "a,b,c,d and 2 more" {
		t.Errorf("got %q, want four names", got)
	}
	cancelled := []job.Job{{ID: 1, Name: "x", Status: "CANCELLED", KilledBy: "ann", Ended: at(1)}}
	if got, want := line(Foreign(cancelled)), "CANCELLED x/0=CANCELLED@ code 130 cancelled by ann"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEstimate: only an expected start that is ahead is told.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]bool{-time.Hour: false, 0: false, time.Hour: true, 365 * 24 * time.Hour: false} {
		at := time.Now().Add(ahead)
		got := waits([]job.Job{{Status: "PENDING", Reason: "Resources", Started: &at}})
		if strings.Contains(got, estimate) != want {
			t.Errorf("%v: got %q, want an expected start: %v", ahead, got, want)
		}
	}
}
