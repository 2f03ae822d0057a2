package status

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
)

// noon is the time at which the pages of tests are shown.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// before returns a time some seconds before noon.
func before(seconds float64) *time.Time {
	t := noon.Add(-time.Duration(seconds * float64(time.Second)))
	return &t
}

// ended returns a replica that ran for two seconds, one minute ago.
func ended(role string, id int, state spec.State, code int) spec.ReplicaStatus {
	memory, cpu := int64(64<<20), 1.5
	return spec.ReplicaStatus{
		ID: id, Role: role, State: state, ExitCode: &code, Hostname: "localhost",
		StartedAt: before(62), FinishedAt: before(60), MaxRSSBytes: &memory, CPUSeconds: &cpu,
	}
}

// pageText returns what `status` shows on a screen of 80 columns.
func pageText(t *testing.T, p statusPage) string {
	t.Helper()
	rules, err := secrets.New(nil)
	must(t, err)
	p.screen = screen{now: noon, width: 80, masked: rules.Text}
	text := p.text()
	for line := range strings.Lines(text) {
		if n := ui.TextWidth(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns, want at most 80: %q", n, line)
		}
	}
	return text
}

func TestStatusOfFailure(t *testing.T) {
	t.Parallel()
	failed := ended("train", 0, spec.Failed, 1)
	failed.Attempt = 1
	failed.StructuredErrorMsg = json.RawMessage(`{"message": {"message": "out of memory: HF_TOKEN=sesame\nat step 7"}}`)
	url := "file:///home/me/.torchx/apps/train-f3k1"
	restart := spec.RestartOf(&failed, spec.RetryApplication, 1, 1)
	restart.Attempt, restart.Time = 0, *before(70)
	got := pageText(t, statusPage{
		command: "train.star:main --lr 0.1",
		status: &spec.Status{
			Handle: "local://torchx/train-f3k1", State: spec.Failed, NumRestarts: 1, Msg: "replica train/0 failed first with exit code 1", UIURL: &url,
			FirstFailure: &failed, Restarts: []spec.Restart{restart}, SubmittedAt: before(3700), StartedAt: before(65), FinishedAt: before(60),
			Roles: []spec.RoleStatus{{Role: "train", Replicas: []spec.ReplicaStatus{failed}}},
		},
	})
	want := `      App: local://torchx/train-f3k1
    State: FAILED: train/0 failed first: exit code 1 after 2s in the last of 2
           attempts
    Error: out of memory: HF_TOKEN=******
           at step 7
Component: train.star:main --lr 0.1
Submitted: 2026-03-01 10:58:20 UTC (1h ago)
  Started: 2026-03-01 11:58:55 UTC (1m ago)
    Ended: 2026-03-01 11:59:00 UTC (1m ago), after 5s
 Restarts: 1
           2026-03-01 11:58:50 train/0 failed (exit code 1): attempt 2 of 2,
           restarting the app
    Files: /home/me/.torchx/apps/train-f3k1

REPLICA  STATE   ATTEMPT  EXIT  TIME  PEAK MEM  CPU TIME  NODE
train/0  FAILED  1        1     2s    64.0 MiB  1.50 s    localhost

Output of the failure: torchx log local://torchx/train-f3k1/train/0
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStatusOfManyReplicas: equal replicas share a row, others come first.
func TestStatusOfManyReplicas(t *testing.T) {
	t.Parallel()
	var all []spec.ReplicaStatus
	for id := range 1000 {
		all = append(all, ended("train", id, spec.Succeeded, 0))
	}
	all[500] = ended("train", 500, spec.Failed, 3)
	killed := ended("train", 7, spec.Failed, 137)
	killed.Signal, killed.Msg = "SIGKILL", "out of memory"
	all[7] = killed
	all[8].Attempt = 2
	for id := 900; id < 910; id++ {
		all[id] = ended("train", id, spec.Cancelled, 143)
		all[id].Hostname = "node-" + string(rune('a'+id%3))
	}
	*all[20].MaxRSSBytes *= 3
	s := &spec.Status{
		Handle: "local://torchx/train-f3k1", State: spec.Failed, FirstFailure: &all[500], StartedAt: before(62), FinishedAt: before(60),
		Msg: "replica train/500 failed first with exit code 3", Roles: []spec.RoleStatus{{Role: "train", Replicas: all}},
	}
	got := pageText(t, statusPage{status: s})
	want := `      App: local://torchx/train-f3k1
    State: FAILED: train/500 failed first of 1000 replicas: exit code 3 after 2s
  Started: 2026-03-01 11:58:58 UTC (1m ago)
    Ended: 2026-03-01 11:59:00 UTC (1m ago), after 2s
 Replicas: 2 FAILED, 10 CANCELLED, 988 SUCCEEDED

REPLICA       STATE      ATTEMPT  EXIT     TIME  PEAK MEM    CPU TIME  NODE
train/500     FAILED     0        3        2s    64.0 MiB    1.50 s    localhost
train/7       FAILED     0        SIGKILL  2s    64.0 MiB    1.50 s    localhost
  out of memory
train/8       SUCCEEDED  2        0        2s    64.0 MiB    1.50 s    localhost
10 of train   CANCELLED  0        143      ≤ 2s  ≤ 64.0 MiB  ≤ 1.50 s  3 nodes
987 of train  SUCCEEDED  0        0        ≤ 2s  ≤ 192 MiB   ≤ 1.50 s  localhost

Output of the failure: torchx log local://torchx/train-f3k1/train/500
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var roles []spec.RoleStatus
	for id := range 500 {
		one := ended("train", 0, spec.Succeeded, id)
		roles = append(roles, spec.RoleStatus{Role: fmt.Sprint("role", id), Replicas: []spec.ReplicaStatus{one}})
	}
	got = pageText(t, statusPage{status: &spec.Status{State: spec.Succeeded, Roles: roles}})
	if want := "490 replicas  SUCCEEDED"; !strings.Contains(got, want) {
		t.Errorf("many roles: got\n%s\nwant %q in it", got, want)
	}
	for id := range all { // all differ
		all[id].Msg = strings.Repeat("x ", id)
	}
	got = pageText(t, statusPage{status: s})
	if rows := strings.Count(got, "\n"); rows > 2*maxRows+20 || !strings.Contains(got, " of train ") {
		t.Errorf("got %d lines, want few:\n%s", rows, got)
	}
}

func TestStatusOfWaitingApp(t *testing.T) {
	t.Parallel()
	got := pageText(t, statusPage{
		queue: "2 of 3",
		status: &spec.Status{
			Handle: "local://torchx/a-1", State: spec.Pending, Msg: "queued: needs 1 CPU, behind local://torchx/b-2", SubmittedAt: before(1),
			Roles: []spec.RoleStatus{{Role: "a", Replicas: []spec.ReplicaStatus{{Role: "a", State: spec.Pending}}}},
		},
	})
	want := `      App: local://torchx/a-1
    State: PENDING: queued: needs 1 CPU, behind local://torchx/b-2
    Queue: 2 of 3
Submitted: 2026-03-01 11:59:59 UTC (1s ago)

REPLICA  STATE    ATTEMPT
a/0      PENDING  0
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStatusOfRunningApp: readiness of roles with a probe, and colors on a terminal.
func TestStatusOfRunningApp(t *testing.T) {
	t.Parallel()
	running := func(role string, id int, msg string) spec.ReplicaStatus {
		return spec.ReplicaStatus{ID: id, Role: role, State: spec.Running, StartedAt: before(90), Msg: msg}
	}
	p := statusPage{
		probed: map[string]bool{"db": true},
		status: &spec.Status{Handle: "local://torchx/a-1", State: spec.Running, StartedAt: before(90), NumRestarts: 1, Roles: []spec.RoleStatus{
			{Role: "db", Replicas: []spec.ReplicaStatus{running("db", 0, ""), running("db", 1, notReady+" (port 80)")}},
			{Role: "web", Replicas: []spec.ReplicaStatus{running("web", 0, "")}},
		}},
	}
	want := `      App: local://torchx/a-1
    State: RUNNING for 1m30s and 1 restart
  Started: 2026-03-01 11:58:30 UTC (1m ago)
 Restarts: 1, all of them: torchx events local://torchx/a-1
 Replicas: 3 RUNNING

REPLICA  STATE    ATTEMPT  READY  TIME
db/0     RUNNING  0        yes    1m30s
db/1     RUNNING  0        no     1m30s
  not ready yet (port 80)
web/0    RUNNING  0               1m30s

Follow the output: torchx log -t local://torchx/a-1
`
	if got := pageText(t, p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p.screen = screen{now: noon, style: ui.Style{Color: true}, masked: func(s string) string { return s }}
	if got, want := p.text(), ui.AnsiDim+"State:"+ui.AnsiReset+" "+ui.AnsiBlue+"RUNNING"+ui.AnsiReset+" for"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}
