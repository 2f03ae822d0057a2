//go:build unix

package slurm

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"torchx/runtime/spec"
	"torchx/test/slurmtest"
)

// TestRefused: what a user may not submit ends in one line with the remedy. No job and no folder
// is left, and the list has the app as failed.
func TestRefused(t *testing.T) {
	t.Parallel()
	const fixAccount = "(choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`)"
	for name, c := range map[string]struct {
		user string // "": this one, who is root
		args []string
		want string
	}{
		"wrong account":      {"", []string{"-cfg", "account=nope", "utils.echo"}, "you may not use this account, or not with this partition " + fixAccount},
		"user without one":   {"nobody", []string{"utils.echo"}, "you may not use this account, or not with this partition " + fixAccount},
		"partition of group": {"daemon", []string{"-cfg", "partition=closed", "utils.echo"}, "you may not use this partition (choose another by -cfg partition=NAME, see `sinfo`)"},
		"unknown QOS":        {"", []string{"-cfg", "qos=nope", "utils.echo"}, "you may not use this QOS (choose another by -cfg qos=NAME, see `sacctmgr show qos`)"},
		"QOS that denies":    {"", []string{"-cfg", "qos=strict", "utils.sh", "--cpu", "4", "true"}, "it exceeds a limit of your account or QOS (end other jobs, ask for less, or see "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if c.user != "" {
				h.become(c.user)
			}
			r := h.torchx("", append([]string{"run", "-b", "slurm", "--workspace="}, c.args...)...)
			if r.code != spec.ExitNotStarted || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "sbatch failed: "+c.want) {
				t.Errorf("got %+v, want one line with %q", r, c.want)
			}
			all := h.list()
			if len(all) != 1 || all[0].State != spec.Failed || all[0].ExitCode == nil || *all[0].ExitCode != spec.ExitNotStarted {
				t.Fatalf("got %+v, want one app that failed with %d", all, spec.ExitNotStarted)
			}
			if left, _ := filepath.Glob(filepath.Join(h.dir, "slurm", "*-*")); len(left) != 0 {
				t.Errorf("got %q left, want no folder", left)
			}
			if jobs := slurmtest.Output(t, "squeue", "--noheader", "--states=all", "--name="+all[0].AppID); jobs != "" {
				t.Errorf("got jobs %q, want none", jobs)
			}
		})
	}
}

// become runs torchx as another user from now on, in a home of that user.
func (h *home) become(name string) {
	h.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		h.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "torchx-slurm-user-") // that of the test is only for this user
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	uid, _ := strconv.Atoi(u.Uid) // a number on all systems with Slurm
	if err := os.Chown(dir, uid, -1); err != nil {
		h.Fatal(err)
	}
	h.dir, h.work, h.user = filepath.Join(dir, "home"), dir, u
	h.env = append(h.env, "TORCHX_HOME="+h.dir, "HOME="+dir, "USER="+name, "LOGNAME="+name)
}

// TestWaits: an app that cannot start yet waits, with the reason in words, starts by itself if it
// can, and can be canceled.
func TestWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ cfg, want string }{
		"full partition":         {"partition=narrow", "waits: enough resources are not free yet (it starts by itself when other jobs end)"},
		"limit of the QOS":       {"qos=tiny", "waits: you use as much as QOS tiny allows each user: running jobs (it starts by itself when your other jobs end)"},
		"limit of the account":   {"account=limited", "waits: you use as much as account limited allows: running jobs (it starts by itself when your other jobs end)"},
		"account of a partition": {"partition=lab", "waits: partition lab does not allow account test (choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`)"},
		"time of a partition":    {"partition=short,time=100", "waits: its time limit is longer than partition short allows (cancel it and ask for less by -cfg time=TIME, or for another partition)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			// What runs before it; nothing where even one app waits.
			first := h.run("-cfg", c.cfg, "utils.sh", "sleep", "600")
			second := h.run("-cfg", c.cfg, "utils.sh", "true")
			h.eventuallyStatus(second, c.want)
			if r := h.torchx("", "cancel", "--wait", first); r.code != 0 {
				t.Errorf("cancel: got %+v", r)
			}
			state := "SUCCEEDED"
			if strings.Contains(c.want, "it starts by itself") {
				h.torchx("", "wait", second)
			} else {
				h.torchx("", "cancel", "--wait", second)
				state = "CANCELLED"
			}
			if r := h.torchx("", "status", second); !strings.Contains(r.stdout, state) {
				t.Errorf("got %+v, want %s", r, state)
			}
		})
	}
}

// eventuallyStatus waits until the status of an app has a text.
func (h *home) eventuallyStatus(handle, want string) {
	h.Helper()
	last := ""
	h.Cleanup(func() {
		if h.Failed() {
			h.Logf("last status of %s:\n%s", handle, last)
		}
	})
	slurmtest.Eventually(h, "the status has "+want, func() bool {
		last = h.torchx("", "status", handle).stdout
		return strings.Contains(last, want)
	})
}

// TestDrainedNode: what runs on a drained node goes on, and what needs the node waits until it is
// back. It is not parallel: other tests need four nodes.
func TestDrainedNode(t *testing.T) { //nolint:paralleltest // drains a node
	h := newHome(t)
	runs := h.run("-cfg", "sbatch='--nodelist=n3'", "utils.sh", "sh", "-c", `echo up; until test -e "$TORCHX_OUTPUT/go"; do sleep 0.2; done`)
	h.eventuallyLog(runs, "up")
	slurmtest.Output(t, "scontrol", "update", "nodename=n3", "state=drain", "reason=disk fails")
	back := func() { slurmtest.Output(t, "scontrol", "update", "nodename=n3", "state=resume") }
	t.Cleanup(func() {
		if t.Failed() { // else it is back
			back()
		}
	})
	waits := h.run("-cfg", "sbatch='--nodelist=n3'", "utils.sh", "true")
	h.eventuallyStatus(waits, "waits: nodes that it needs are ")
	if r := h.torchx("", "doctor", "-b", "slurm"); !strings.Contains(r.stdout, "down or drained: n3 (disk fails)") {
		t.Errorf("doctor: got %+v, want the node with its reason", r)
	}
	h.write(runs, "go")
	back()
	for _, handle := range []string{runs, waits} {
		if r := h.torchx("", "wait", handle); r.code != 0 {
			t.Errorf("wait for %s: got %+v, want success", handle, r)
		}
	}
}

// write creates a file in the outputs of an app.
func (h *home) write(handle, name string) {
	h.Helper()
	id := handle[strings.LastIndex(handle, "/")+1:]
	if err := os.WriteFile(filepath.Join(h.dir, "slurm", id, "output", name), nil, 0o600); err != nil {
		h.Fatal(err)
	}
}

// eventuallyLog waits until the log of an app has a text.
func (h *home) eventuallyLog(handle, want string) {
	h.Helper()
	slurmtest.Eventually(h, handle+" prints "+want, func() bool { return strings.Contains(h.torchx("", "log", handle).stdout, want) })
}

// TestPreempted: an app that a job of higher priority preempts starts again without using up a retry;
// without requeue, and after max_requeues restarts, it fails, and says why.
func TestPreempted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	// Each takes one of the four GPUs of a node that no other test uses.
	low := func(cfg string) string {
		return h.run("-cfg", "partition=low,grace_period=1,sbatch='--nodelist=n4',"+cfg, "utils.sh", "--gpu", "1", "--max_retries", "0", "sh", "-c",
			`echo attempt; test -e "$TORCHX_OUTPUT/go" || sleep 600`)
	}
	again, never, spent := low("max_requeues=1"), low("requeue=false"), low("max_requeues=0")
	for _, handle := range []string{again, never, spent} {
		h.eventuallyLog(handle, "attempt")
		h.write(handle, "go")
	}
	high := h.run("-cfg", "partition=high,sbatch='--nodelist=n4'", "utils.sh", "--gpu", "4", "true")
	h.eventuallyStatus(never, "preempted by a job of higher priority (-cfg requeue=true starts it again)")
	h.eventuallyStatus(again, "waits: it was requeued, restart 1 (it starts by itself about two minutes later)")
	if r := h.torchx("", "wait", high); r.code != 0 {
		t.Errorf("the app of high priority: got %+v, want success", r)
	}
	for _, handle := range []string{again, spent} {
		h.startAgain(handle)
	}
	if r := h.torchx("", "wait", again); r.code != 0 {
		t.Errorf("requeued: got %+v, want success", r)
	}
	if r := h.torchx("", "status", again); !strings.Contains(r.stdout, "1 restart") {
		t.Errorf("requeued: got %+v, want one restart", r)
	}
	for _, n := range []string{"0", "1"} {
		if r := h.torchx("", "log", "--attempt", n, again); !strings.Contains(r.stdout, "attempt") {
			t.Errorf("requeued: got log %+v of attempt %s, want its line", r, n)
		}
	}
	if r := h.torchx("", "events", again); !strings.Contains(r.stdout, "Slurm requeued the job") {
		t.Errorf("requeued: got %+v, want the reason of the restart", r)
	}
	h.torchx("", "wait", spent)
	h.eventuallyStatus(spent, "Slurm requeued it more often than allowed (raise -cfg max_requeues)")
}

// startAgain ends the two minutes for which Slurm holds a job that it requeued.
func (h *home) startAgain(handle string) {
	h.Helper()
	id := handle[strings.LastIndex(handle, "/")+1:]
	slurmtest.Eventually(h, handle+" begins again", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.dir, "slurm", id, "job")) // it was written before
		// It fails until the job is requeued.
		_ = exec.CommandContext(h.Context(), "scontrol", "update", "jobid="+strings.TrimSpace(string(data)), "starttime=now").Run()
		events, _ := os.ReadFile(filepath.Join(h.dir, "slurm", id, "events"))
		return strings.Count(string(events), "begin ") == 2
	})
}

const elastic = `
def elastic():
    """Three replicas, of which two suffice"""
    return specs.AppDef(name = "elastic", roles = [specs.Role(name = "r", image = "", entrypoint = "sh", num_replicas = 3, min_replicas = 2,
        args = ["-c", "echo up; until test -e $$TORCHX_OUTPUT/go; do sleep 0.2; done; echo done"])])
`

// TestMinReplicas: an app goes on when a node fails and enough replicas are left. It is not
// parallel: other tests need the node.
func TestMinReplicas(t *testing.T) { //nolint:paralleltest // ends a node
	h := newHome(t)
	if err := os.WriteFile(filepath.Join(h.work, "elastic.star"), []byte(elastic), 0o600); err != nil {
		t.Fatal(err)
	}
	handle := h.run("elastic.star:elastic")
	slurmtest.Eventually(t, "three replicas print", func() bool { return strings.Count(h.torchx("", "log", handle).stdout, "up") == 3 })
	node := h.nodeOf(handle, 2)
	slurmtest.Cluster(t, "stop", node)
	t.Cleanup(func() { slurmtest.Cluster(t, "start", node) })
	h.eventuallyStatus(handle, "lost with its node")
	h.write(handle, "go")
	if r := h.torchx("", "wait", handle); r.code != 0 {
		t.Errorf("got %+v, want success", r)
	}
	if n := strings.Count(h.torchx("", "log", handle).stdout, "done"); n != 2 {
		t.Errorf("got %d replicas that ended, want 2", n)
	}
	if r := h.torchx("", "status", handle); !strings.Contains(r.stdout, "State: SUCCEEDED") || !strings.Contains(r.stdout, "lost with its node") {
		t.Errorf("got %+v, want the app to succeed, and replica 2 lost", r)
	}
}

// nodeOf returns the node of a replica.
func (h *home) nodeOf(handle string, replica int) string {
	h.Helper()
	r := h.torchx("", "status", "--json", handle)
	var s struct {
		Roles []struct {
			Replicas []struct {
				ID       int    `json:"replica"`
				Hostname string `json:"hostname"`
			} `json:"replicas"`
		} `json:"roles"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		h.Fatalf("status: %v %+v", err, r)
	}
	for _, x := range s.Roles[0].Replicas {
		if x.ID == replica {
			return x.Hostname
		}
	}
	h.Fatalf("got %+v, want replica %d", r, replica)
	return ""
}
