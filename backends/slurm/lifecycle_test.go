//go:build unix

package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/script"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/homedir"
	"torchx/test/slurmtest"
)

// caseTime bounds a case; each takes a few seconds.
const caseTime = 4 * time.Minute

// shell returns a role of replicas that run a script of sh.
func shell(name string, replicas int, text string) spec.Role {
	r := spec.NewRole(name, "")
	r.Entrypoint, r.Args, r.NumReplicas = "sh", []string{"-c", text}, replicas
	return r
}

// live is an app under test.
type live struct {
	*testing.T
	b   *Backend
	ctx context.Context
	id  string
}

// planOf returns the plan of an app with options.
func planOf(t *testing.T, b *Backend, cwd string, cfg map[string]string, roles ...spec.Role) *backend.Plan {
	t.Helper()
	resolved, _, err := backend.Resolve(b.Options(), backend.DefaultsLayer(cfg, "test"))
	if err != nil {
		t.Fatal(err)
	}
	app := &spec.App{Name: "life", Roles: roles, Metadata: map[string]any{}}
	p, err := b.Plan(t.Context(), backend.PlanInput{ID: "life-" + spec.RandomID(rand.Uint64()|1, 12), App: app, Cfg: resolved, Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// start submits an app, which ends with the test.
func start(t *testing.T, cfg map[string]string, roles ...spec.Role) *live {
	t.Helper()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	options := map[string]string{"grace_period": "2"}
	maps.Copy(options, cfg)
	p := planOf(t, b, t.TempDir(), options, roles...)
	b.config.Settings = func(context.Context, string) (backend.Config, error) { return p.Cfg, nil }
	ctx, cancel := context.WithTimeout(context.Background(), caseTime)
	t.Cleanup(cancel)
	l := &live{t, b, ctx, p.ID}
	t.Cleanup(func() {
		if err := b.Cancel(ctx, p.ID, backend.CancelOptions{Force: true}); err != nil {
			t.Error(err)
		}
		if _, err := b.Wait(ctx, p.ID); err != nil && !errors.Is(err, backend.ErrNotFound) {
			t.Error(err)
		}
	})
	if err := b.Submit(ctx, p); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *live) folder() folder.Folder {
	l.Helper()
	f, err := l.b.folderOf(l.ctx, l.id)
	if err != nil {
		l.Fatal(err)
	}
	return f
}

// wait returns the final status, which must have a state and an exit code.
func (l *live) wait(state spec.State, code int) *spec.Status {
	l.Helper()
	s, err := l.b.Wait(l.ctx, l.id)
	if err != nil {
		l.Fatalf("wait: %v; %s", err, l.report())
	}
	if s.State != state || s.ExitCode == nil || *s.ExitCode != code {
		out, _ := os.ReadFile(l.folder().Path(folder.OutputFile))
		text, _ := json.Marshal(s)
		l.Fatalf("got %s, want %v with code %d; slurm.out:\n%s", text, state, code, out)
	}
	return s
}

// report returns what Slurm knows of an app that does not end, with its steps and its output.
func (l *live) report() string {
	l.Helper()
	job, _ := l.folder().Job()
	out, _ := os.ReadFile(l.folder().Path(folder.OutputFile)) // shown if there is one
	return slurmtest.Output(l.T, "scontrol", "-d", "show", "job", fmt.Sprint(job)) +
		slurmtest.Output(l.T, "squeue", "-s", "-j", fmt.Sprint(job)) + "slurm.out:\n" + string(out)
}

// log returns all lines of a replica's attempts.
func (l *live) log(role string, id int) string {
	l.Helper()
	r, err := l.b.Logs(l.ctx, l.id, spec.Replica{Role: role, ID: id}, backend.LogOptions{AllAttempts: true, Tail: -1})
	if err != nil {
		l.Fatal(err)
	}
	defer r.Close()
	var text strings.Builder
	for {
		b, err := r.Next(l.ctx)
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			l.Fatal(err)
		}
		text.Write(b.Data)
	}
}

// waitLog waits until the log of a replica has a text.
func (l *live) waitLog(role string, id int, want string) {
	l.Helper()
	slurmtest.Eventually(l, fmt.Sprintf("%s/%d prints %q", role, id, want), func() bool { return strings.Contains(l.log(role, id), want) })
}

// onceThenFine fails in the first attempt of the replica and succeeds in the next one.
const onceThenFine = `echo attempt; test -e "$TORCHX_OUTPUT/$0" || { : >"$TORCHX_OUTPUT/$0"; exit 7; }`

func TestRetryPolicies(t *testing.T) {
	t.Parallel()
	for policy, want := range map[spec.RetryPolicy]string{ // attempts of f/0, f/1, o/0
		spec.RetryReplica: "211", spec.RetryRole: "221", spec.RetryApplication: "222",
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir() // the peers run when f/0 fails
			failing := shell("f", 2, `if [ "$0" = 0 ]; then until [ -e "$1/f" ] && [ -e "$1/o" ]; do sleep 0.1; done; `+onceThenFine+`; else echo attempt; : >"$1/f"; sleep 5; fi`)
			failing.Args = append(failing.Args, "${replica_id}", dir)
			failing.MaxRetries, failing.RetryPolicy = 1, policy
			l := start(t, map[string]string{"replicas_per_node": "2"}, failing, shell("o", 1, "echo attempt; : >"+dir+"/o; sleep 6"))
			s := l.wait(spec.Succeeded, 0)
			got := ""
			for _, r := range []spec.Replica{{Role: "f"}, {Role: "f", ID: 1}, {Role: "o"}} {
				got += fmt.Sprint(strings.Count(l.log(r.Role, r.ID), "attempt"))
			}
			if got != want || s.NumRestarts != 1 {
				t.Errorf("got attempts %s and %d restarts, want %s and 1", got, s.NumRestarts, want)
			}
		})
	}
}

func TestFailFast(t *testing.T) {
	t.Parallel()
	up := filepath.Join(t.TempDir(), "up")
	// SIGTERM may end what a shell waits for before it reaches the shell, so that one goes on.
	good := shell("good", 1, "trap 'echo stopped; exit 0' TERM; : >'"+up+"'; while :; do sleep 0.1; done")
	l := start(t, nil, shell("bad", 1, "until [ -e '"+up+"' ]; do sleep 0.1; done; exit 9"), good)
	s := l.wait(spec.Failed, 9)
	if s.FirstFailure == nil || s.FirstFailure.Role != "bad" || !strings.Contains(l.log("good", 0), "stopped") {
		t.Errorf("got first failure %+v and log %q, want bad to fail and good to be stopped by SIGTERM", s.FirstFailure, l.log("good", 0))
	}
}

func TestMinReplicas(t *testing.T) {
	t.Parallel()
	role := shell("e", 2, `test "$0" = 0 || exit 3; sleep 3`)
	role.Args, role.MinReplicas = append(role.Args, "${replica_id}"), new(int)
	*role.MinReplicas = 1
	start(t, map[string]string{"replicas_per_node": "2"}, role).wait(spec.Succeeded, 0)
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	role := shell("r", 1, "sleep 600")
	role.Metadata = map[string]any{spec.OrderKey: map[string]any{"timeout": "1s"}}
	if s := start(t, nil, role).wait(spec.Failed, spec.ExitDeadline); s.FirstFailure == nil {
		t.Errorf("got %+v, want a first failure", s)
	}
}

// TestOutOfMemory: Slurm ends a replica that uses more memory than its resource has. Without
// control groups, as here, only its accounting notices.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	if !slurmtest.HasAccounting() {
		t.Skip("the cluster limits memory neither by control groups nor by accounting")
	}
	role := shell("r", 1, `x=$(head -c 200000000 /dev/zero | tr '\0' x); sleep 60`)
	role.Resource.CPU, role.Resource.MemMB = 1, 100
	s := start(t, map[string]string{"nomem": "false"}, role).wait(spec.Failed, 137)
	if !strings.Contains(s.Msg, "out of memory (ask for more memory") {
		t.Errorf("got %q, want out of memory", s.Msg)
	}
}

// TestRequeue: a job that Slurm starts again keeps the attempts and logs of both lives, does not use
// up retries, and is told as waiting at once: never as running, or with a replica that ended.
func TestRequeue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg     map[string]string
		gpus    int
		text    string
		requeue func(t *testing.T, job, node string)
	}{
		"by command":      {text: "exec sleep 600", requeue: requeue},
		"ignores SIGTERM": {text: "trap '' TERM; while :; do sleep 0.1; done", requeue: requeue},
		"preempted":       {map[string]string{"partition": "low"}, 4, "exec sleep 600", preempt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			role := shell("r", 1, `echo up; test ! -e "$TORCHX_OUTPUT/go" || exit 3; `+c.text)
			role.Resource.GPU = c.gpus
			l := start(t, c.cfg, role)
			l.waitLog("r", 0, "up")
			if err := os.WriteFile(l.folder().Path("output/go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			job, _ := l.folder().Job()
			c.requeue(t, fmt.Sprint(job), l.describe().Roles[0].Replicas[0].Hostname)
			seen := []string{}
			slurmtest.Eventually(t, "Slurm holds the job", func() bool {
				s := l.describe()
				now := fmt.Sprint(s.State, " ", s.Roles[0].Replicas[0].State, " ", s.Roles[0].Replicas[0].Attempt)
				if n := len(seen); n == 0 || seen[n-1] != now {
					seen = append(seen, now)
				}
				return strings.Contains(s.Msg, "it was requeued, restart 1")
			})
			if got := strings.TrimPrefix(strings.Join(seen, ", "), "RUNNING RUNNING 0, "); got != "PENDING PENDING 1" {
				t.Errorf("got %q, want it running, then waiting", seen)
			}
			l.startAgain(job)
			s := l.wait(spec.Failed, 3)
			if n := strings.Count(l.log("r", 0), "up"); n != 2 || s.NumRestarts != 1 {
				t.Errorf("got %d attempts and %d restarts, want 2 and 1: %+v", n, s.NumRestarts, s)
			}
			if len(s.Past) != 1 || s.Past[0].State != spec.Cancelled || s.Past[0].Msg != "ended when Slurm requeued the job" || s.Roles[0].Replicas[0].Attempt != 1 {
				t.Errorf("got %+v before %+v, want the first life canceled by the requeue", s.Past, s.Roles)
			}
		})
	}
}

func requeue(t *testing.T, job, _ string) {
	t.Helper()
	slurmtest.Output(t, "scontrol", "requeue", job)
}

// preempt starts a job of higher priority that needs all GPUs of the node.
func preempt(t *testing.T, _, node string) {
	t.Helper()
	id := slurmtest.Output(t, "sbatch", "--parsable", "--output=/dev/null", "--partition=high", "--nodelist="+node, "--gres=gpu:4", "--wrap=sleep 1")
	t.Cleanup(func() { slurmtest.Output(t, "scancel", "--quiet", id) })
}

func (l *live) describe() *spec.Status {
	l.Helper()
	return describe(l.T, l.b, l.id)
}

// startAgain ends the two minutes for which Slurm holds a job that it requeued.
func (l *live) startAgain(job int64) {
	l.Helper()
	slurmtest.Eventually(l, "the job begins again", func() bool {
		if s := l.describe(); s.State.Terminal() {
			l.Fatalf("got %+v, want an app that Slurm starts again", s)
		}
		// It fails until the job is requeued.
		_ = exec.CommandContext(l.ctx, "scontrol", "update", fmt.Sprintf("jobid=%d", job), "starttime=now").Run()
		data, _ := os.ReadFile(l.folder().Path(folder.EventsFile))
		return strings.Count(string(data), "begin ") == 2
	})
}

// TestNodeFails: the job starts again on other nodes, or says which node failed. Until Slurm notices,
// and in between, the app never reads as ended. It is not parallel: other tests need the node.
func TestNodeFails(t *testing.T) { //nolint:paralleltest // ends a node
	for name, c := range map[string]struct {
		requeue string
		replica int // on the node; the launcher is beside 0
	}{"requeued": {"true", 1}, "with the launcher": {"true", 0}, "not requeued": {"false", 1}} {
		t.Run(name, func(t *testing.T) {
			l := start(t, map[string]string{"requeue": c.requeue}, shell("r", 2, `echo up; test -e "$TORCHX_OUTPUT/go" || sleep 600`))
			l.waitLog("r", 0, "up")
			l.waitLog("r", 1, "up")
			if err := os.WriteFile(l.folder().Path("output/go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			node := l.describe().Roles[0].Replicas[c.replica].Hostname
			slurmtest.Cluster(t, "stop", node)
			t.Cleanup(func() { slurmtest.Cluster(t, "start", node) })
			if c.requeue == "false" {
				if s := wait(t, l.b, l.id); s.State != spec.Failed || s.Msg != "a node failed" && s.Msg != "node "+node+" failed" {
					t.Errorf("got %s with %q, want that the node failed", s.State, s.Msg)
				}
				return
			}
			job, _ := l.folder().Job()
			l.startAgain(job)
			if s := l.wait(spec.Succeeded, 0); s.NumRestarts < 1 || len(s.Past) != 2 || s.Past[0].State != spec.Cancelled || s.Past[1].State != spec.Cancelled {
				t.Errorf("got %d restarts and %+v before, want both replicas ended by the requeue", s.NumRestarts, s.Past)
			}
		})
	}
}

// TestControllerDown: without Slurm's controller, what the launcher records is told, logs are read
// and the end of an app is noticed; nothing is said of an app that waits. It is not parallel: other
// tests need the controller.
func TestControllerDown(t *testing.T) { //nolint:paralleltest // ends the controller
	l := start(t, nil, shell("r", 1, `echo up; until [ -e "$TORCHX_OUTPUT/go" ]; do sleep 0.1; done; echo late`))
	queued := start(t, map[string]string{"partition": "shut"}, shell("r", 1, "true"))
	l.waitLog("r", 0, "up")
	slurmtest.Cluster(t, "stop", "slurmctld")
	restart := sync.OnceFunc(func() { slurmtest.Cluster(t, "start", "slurmctld") })
	t.Cleanup(restart)
	l.b.queue.forget(l.ctx)
	if s := l.describe(); s.State != spec.Running || !strings.HasPrefix(s.Msg, "as its launcher recorded; Slurm's controller does not answer") {
		t.Errorf("got %s with %q, want it running as far as its launcher tells", s.State, s.Msg)
	}
	for _, x := range []*live{l, queued} {
		if err := x.b.Cancel(l.ctx, x.id, backend.CancelOptions{}); !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("cancel: got %v, want %v", err, backend.ErrUnavailable)
		}
	}
	queued.b.queue.forget(l.ctx)
	if s, err := queued.b.Describe(l.ctx, queued.id); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("an app that waits: got %+v, %v, want %v", s, err, backend.ErrUnavailable)
	}
	if err := os.WriteFile(l.folder().Path("output/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.wait(spec.Succeeded, 0)
	if got := l.log("r", 0); got != "up\nlate\n" {
		t.Errorf("got log %q, want all of it", got)
	}
	restart()
	slurmtest.Eventually(t, "the job waits", func() bool {
		s, err := queued.b.Describe(l.ctx, queued.id)
		return err == nil && s.State == spec.Pending
	})
}

// TestSetup: lines of bash run before the replica, in its environment and log; env of the role wins.
// A last command that fails, or a syntax error, is the end of the replica.
func TestSetup(t *testing.T) {
	t.Parallel()
	for setup, want := range map[string]struct {
		code int
		log  string
	}{
		"f() { export A=\"it's $UNSET\" B=1; }\nf; set -- 9; echo loaded": {0, "loaded\nit's |role|0\n"},
		"false":  {1, ""},
		"exit 3": {3, ""},
		"echo '": {2, ""},
	} {
		t.Run(setup, func(t *testing.T) {
			t.Parallel()
			role := shell("r", 1, `echo "$A|$B|$0"`)
			role.Args, role.Env = append(role.Args, "${replica_id}"), spec.Map[string]{{Key: "B", Value: "role"}}
			l := start(t, map[string]string{"setup": setup}, role)
			state := spec.Succeeded
			if want.code != 0 {
				state = spec.Failed
			}
			l.wait(state, want.code)
			if got := l.log("r", 0); want.code == 0 && got != want.log || strings.Contains(got, "|role|") != (want.code == 0) {
				t.Errorf("got log %q, want %q", got, want.log)
			}
		})
	}
}

// TestKilledSubmit: a submit that is killed loses no job, and leaves what Delete removes.
func TestKilledSubmit(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	ctx, cancel := context.WithTimeout(t.Context(), caseTime)
	defer cancel()
	for _, submitted := range []bool{false, true} {
		p := planOf(t, b, t.TempDir(), nil, shell("r", 1, "echo once"))
		req := p.Request.(*script.Request)
		f := folder.Folder(req.Folder)
		if err := createFolder(f, p, req.Script); err != nil {
			t.Fatal(err)
		}
		if err := b.Submit(ctx, p); !errors.Is(err, backend.ErrExists) {
			t.Errorf("second submit: got %v, want %v", err, backend.ErrExists)
		}
		if submitted {
			if _, err := b.sbatch(ctx, req, f, nil); err != nil {
				t.Fatal(err)
			}
			if s, err := b.Wait(ctx, p.ID); err != nil || s.State != spec.Succeeded {
				t.Errorf("killed after sbatch: got %+v, %v, want success", s, err)
			}
		} else if s, err := b.Describe(ctx, p.ID); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("killed before sbatch: got %+v, %v, want %v", s, err, backend.ErrNotFound)
		}
		if err := b.Delete(ctx, p.ID, backend.DeleteOptions{}); err != nil || f.Exists() {
			t.Errorf("delete: got %v, folder exists: %v", err, f.Exists())
		}
	}
}

func TestCancelWhileQueued(t *testing.T) {
	t.Parallel()
	l := start(t, map[string]string{"partition": "shut"}, shell("r", 1, "true"))
	if err := l.b.Cancel(l.ctx, l.id, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	l.wait(spec.Cancelled, spec.ExitCancelled)
}

// TestCancelEndsReplicas: processes that end by the first signal are not stopped by force after the
// grace period, although each ends at the same time as the launcher beside it gets that signal.
func TestCancelEndsReplicas(t *testing.T) {
	t.Parallel()
	for range 3 {
		l := start(t, nil, shell("r", 4, "echo up; exec sleep 600"))
		for id := range 4 {
			l.waitLog("r", id, "up")
		}
		if err := l.b.Cancel(l.ctx, l.id, backend.CancelOptions{}); err != nil {
			t.Fatal(err)
		}
		s := l.wait(spec.Cancelled, spec.ExitCancelled)
		for i := range s.Roles[0].Replicas {
			if r := &s.Roles[0].Replicas[i]; r.Signal != "SIGTERM" {
				t.Errorf("replica %d: got signal %q of %+v, want SIGTERM", i, r.Signal, r)
			}
		}
	}
}

// TestByHand: the script of a plan runs by sbatch alone, and its app is known afterwards.
func TestByHand(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	p := planOf(t, b, t.TempDir(), nil, shell("r", 2, "echo by hand ${replica_id}"))
	var req struct{ Script, Folder string }
	data, err := json.Marshal(p.Request)
	if err == nil {
		err = json.Unmarshal(data, &req)
	}
	file := filepath.Join(t.TempDir(), "script.sh")
	if err = errors.Join(err, os.WriteFile(file, []byte(req.Script), 0o600)); err != nil {
		t.Fatal(err)
	}
	slurmtest.Output(t, "sbatch", "--wait", file)
	for id := range 2 {
		name := filepath.Join(folder.Folder(req.Folder).Attempt(spec.Replica{Role: "r", ID: id}, 0), "stdout.log")
		if got, err := os.ReadFile(name); err != nil || string(got) != fmt.Sprintf("by hand %d\n", id) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// TestWorkspace: the project is copied once, without ignored files, and replicas run in the copy.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	project, jobDir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"main.sh": "echo from main", "secret.txt": "x", ".torchxignore": "secret.txt\n", ".dockerignore": "main.sh\n"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	role := shell("r", 1, "sh main.sh; ls")
	role.Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: project}}}
	for range 2 {
		l := start(t, map[string]string{"job_dir": jobDir}, role)
		l.wait(spec.Succeeded, 0)
		if got := l.log("r", 0); !strings.Contains(got, "from main") || strings.Contains(got, "secret") {
			t.Errorf("got log %q, want the output of main.sh, and no secret.txt", got)
		}
	}
	if copies, err := os.ReadDir(filepath.Join(jobDir, "workspace")); err != nil || len(copies) != 1 {
		t.Errorf("got %d copies of the workspace (%v), want 1", len(copies), err)
	}
}

// TestRefusedSubmit: nothing is left of an app that Slurm refuses.
func TestRefusedSubmit(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	home := homedir.New(t)
	b := newBackend(t, home)
	p := planOf(t, b, t.TempDir(), map[string]string{"partition": "none"}, shell("r", 1, "true"))
	var failed *backend.StartError
	if err := b.Submit(t.Context(), p); !errors.As(err, &failed) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "partition") {
		t.Errorf("got %v, want one line about the partition", err)
	}
	if _, err := os.Stat(filepath.Join(home, "slurm", p.ID)); !os.IsNotExist(err) {
		t.Errorf("the folder of the refused app: got %v, want none", err)
	}
}
