//go:build unix

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torchx/backends/local/proc"
	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
	"torchx/state"
	"torchx/test/homedir"
)

// TestMain makes the test binary also the agent, as torchx is.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(runTestAgent(os.Args[2]))
	}
	if len(os.Args) > 2 && os.Args[1] == proc.LimitedCommand {
		code, err := proc.ExecLimited(os.Args[2:])
		fmt.Fprintln(os.Stderr, err)
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "nonblocking" {
		os.Exit(writeNonBlocking())
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(serve())
	}
	if len(os.Args) > 2 && os.Args[1] == "ask" {
		os.Exit(ask(os.Args[2]))
	}
	remove := fakeGPUs()
	code := m.Run()
	remove()
	os.Exit(code)
}

func openStore(ctx context.Context, home string) (agent.Store, error) {
	return state.Open(ctx, filepath.Join(home, "state.db"), state.Options{Agent: true})
}

const testTimeout = 60 * time.Second

// fixture is a backend with its own home.
type fixture struct {
	*testing.T
	b    *Backend
	home string
	ctx  context.Context
	next int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	home := homedir.New(t)
	b, err := New(Config{Home: home, Exe: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	f := &fixture{T: t, b: b, home: home, ctx: ctx}
	t.Cleanup(func() {
		f.endAll()
		cancel()
		b.Close()
	})
	return f
}

// endAll kills all apps of the home.
func (f *fixture) endAll() {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	all, _ := f.b.List(ctx)
	for _, s := range all {
		if !s.State.Terminal() {
			f.b.Cancel(ctx, s.ID, backend.CancelOptions{Force: true})
			f.b.Wait(ctx, s.ID)
		}
		supervised.AwaitAgent(f.b.Bundle(s.ID)) // it writes to the home until it ends
	}
}

// sh returns a role that runs a shell script, in which $$ is the PID of the shell.
func sh(name string, replicas int, script string) spec.Role {
	r := spec.NewRole(name, spec.None)
	script = strings.ReplaceAll(script, "$$", "$$$$") // the macro for one dollar sign
	r.Entrypoint, r.Args, r.NumReplicas = "sh", []string{"-c", script}, replicas
	return r
}

func (f *fixture) plan(cfg backend.Config, roles ...spec.Role) *backend.Plan {
	f.Helper()
	f.next++
	id := "app-" + strconv.Itoa(f.next)
	p, err := f.b.Plan(f.ctx, backend.PlanInput{ID: id, App: &spec.App{Name: "app", Roles: roles}, Cfg: cfg, Cwd: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	return p
}

func (f *fixture) submit(cfg backend.Config, roles ...spec.Role) string {
	f.Helper()
	p := f.plan(cfg, roles...)
	if err := f.b.Submit(f.ctx, p); err != nil {
		f.Fatal(err)
	}
	return p.ID
}

func (f *fixture) wait(id string) *spec.Status {
	f.Helper()
	s, err := f.b.Wait(f.ctx, id)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fixture) run(cfg backend.Config, roles ...spec.Role) (string, *spec.Status) {
	f.Helper()
	id := f.submit(cfg, roles...)
	return id, f.wait(id)
}

func (f *fixture) log(id string, r spec.Replica, o backend.LogOptions) string {
	f.Helper()
	o.Tail = -1
	reader, err := f.b.Logs(f.ctx, id, r, o)
	if err != nil {
		f.Fatal(err)
	}
	defer reader.Close()
	var all strings.Builder
	for {
		block, err := reader.Next(f.ctx)
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		if err != nil {
			f.Fatal(err)
		}
		all.Write(block.Data)
	}
}

// waitFile waits for a line in a file that a replica writes and returns it.
func (f *fixture) waitFile(path string) string {
	f.Helper()
	var data []byte
	f.waitFor(path, func() bool {
		var err error
		data, err = os.ReadFile(path)
		return err == nil && strings.HasSuffix(string(data), "\n")
	})
	return strings.TrimSpace(string(data))
}

func (f *fixture) waitFor(what string, ok func() bool) {
	f.Helper()
	for !ok() {
		select {
		case <-f.ctx.Done():
			f.Fatalf("timed out waiting for %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (f *fixture) expect(s *spec.Status, state spec.State, code int) {
	f.Helper()
	if s.State != state || s.ExitCode == nil || *s.ExitCode != code {
		text, _ := json.Marshal(s)
		f.Errorf("got %s, want %v with exit code %d", text, state, code)
	}
}

func alive(pid int) bool {
	p, ok := procs.Get(pid)
	return ok && !p.Zombie
}

func (f *fixture) pid(path string) int {
	f.Helper()
	n, err := strconv.Atoi(f.waitFile(path))
	if err != nil {
		f.Fatal(err)
	}
	return n
}

func TestRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, s := f.run(nil, sh("a", 2, "echo out; echo err >&2; printf tail"))
	f.expect(s, spec.Succeeded, 0)
	for n := range 2 {
		r := spec.Replica{Role: "a", ID: n}
		if got := f.log(id, r, backend.LogOptions{Stream: backend.Stdout}); got != "out\ntail" {
			t.Errorf("stdout of %v: got %q", r, got)
		}
		if got := f.log(id, r, backend.LogOptions{Stream: backend.Stderr}); got != "err\n" {
			t.Errorf("stderr of %v: got %q", r, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("a", 1, "env")
	r.Env.Set("PATH", "/custom/bin")
	r.Env.Set("MINE", "x=${replica_id}")
	r.PortMap.Set("c10d", 29500)
	p := f.plan(nil, r)
	p.Environ = []string{"PATH=/usr/bin:/bin", "PARENT=yes", "MINE=parent"}
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	f.expect(f.wait(p.ID), spec.Succeeded, 0)
	got := map[string]string{}
	for line := range strings.Lines(f.log(p.ID, spec.Replica{Role: "a"}, backend.LogOptions{})) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[k] = v
	}
	dir := filepath.Join(f.home, "apps", p.ID)
	want := map[string]string{
		"PATH": "/custom/bin:/usr/bin:/bin", "MINE": "x=0", "PARENT": "yes",
		"PYTHONUNBUFFERED": "x", "TORCHX_RANK0_HOST": "localhost",
		"TORCHELASTIC_ERROR_FILE": dir + "/replicas/a/0/0/error.json", "PET_LOG_DIR": dir + "/torchelastic/a",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s=%q, want %q", k, got[k], v)
		}
	}
	if port, err := strconv.Atoi(got["TORCHX_PORT_C10D"]); err != nil || port < 1024 {
		t.Errorf("got TORCHX_PORT_C10D=%q, want a port", got["TORCHX_PORT_C10D"])
	}
}

func TestPortsPerApp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("a", 2, "echo $TORCHX_PORT_C10D; sleep 60")
	r.PortMap.Set("c10d", 29500)
	var ports []string
	for range 2 {
		id := f.submit(nil, r)
		for n := range 2 {
			reader, err := f.b.Logs(f.ctx, id, spec.Replica{Role: "a", ID: n}, backend.LogOptions{Follow: true, Tail: -1})
			if err != nil {
				t.Fatal(err)
			}
			block, err := reader.Next(f.ctx)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, string(block.Data))
			reader.Close()
		}
	}
	if ports[0] != ports[1] || ports[2] != ports[3] || ports[0] == ports[2] {
		t.Errorf("two apps with two replicas each: got ports %q, want one per app", ports)
	}
}

func TestFailFastStopsTheOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, s := f.run(nil, sh("good", 1, "sleep 60"), sh("bad", 1, "exit 7"))
	f.expect(s, spec.Failed, 7)
	if s.FirstFailure == nil || s.FirstFailure.Role != "bad" {
		t.Errorf("first failure is %+v", s.FirstFailure)
	}
	if r := s.Replica(spec.Replica{Role: "good"}); r.State != spec.Cancelled || r.Signal != "SIGTERM" {
		t.Errorf("the other replica of %s is %+v", id, r)
	}
}

func TestWithoutFailFastTheOthersFinish(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, s := f.run(backend.Config{"fail_fast": false}, sh("good", 1, "sleep 0.3; exit 0"), sh("bad", 1, "exit 7"))
	f.expect(s, spec.Failed, 7)
	if r := s.Replica(spec.Replica{Role: "good"}); r.State != spec.Succeeded {
		t.Errorf("the other replica is %+v", r)
	}
}

func TestSignalOfAReplica(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, s := f.run(nil, sh("a", 1, "kill -SEGV $$; sleep 9"))
	f.expect(s, spec.Failed, 139)
	if s.FirstFailure.Signal != "SIGSEGV" {
		t.Errorf("signal is %q", s.FirstFailure.Signal)
	}
}

func TestRetriesKeepEveryAttemptsLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("a", 1, "echo attempt; echo '{\"message\": \"boom\"}' > $TORCHELASTIC_ERROR_FILE; exit 3")
	r.MaxRetries, r.RetryPolicy = 2, spec.RetryReplica
	id, s := f.run(nil, r)
	f.expect(s, spec.Failed, 3)
	if s.NumRestarts != 2 || s.Roles[0].Replicas[0].Attempt != 2 {
		t.Errorf("restarts %d, attempt %d; want 2 and 2", s.NumRestarts, s.Roles[0].Replicas[0].Attempt)
	}
	if got := string(s.StructuredErrorMsg); got != `{"message":"boom"}` {
		t.Errorf("structured error is %s", got)
	}
	for k := range 3 {
		if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{Attempt: &k}); got != "attempt\n" {
			t.Errorf("log of attempt %d is %q", k, got)
		}
	}
}

func TestMissingProgramStartsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for entry, code := range map[string]int{"/no/such/program": 127, "no-such-program": 127, plain: 126, dir: 126} {
		r := spec.NewRole("bad", spec.None)
		r.Entrypoint = entry
		p := f.plan(nil, sh("good", 1, "echo > "+filepath.Join(dir, "ran")), r)
		err := f.b.Submit(f.ctx, p)
		var start *backend.StartError
		if !errors.As(err, &start) || start.Code != code {
			t.Errorf("submit of %s: %v, want code %d", entry, err, code)
		}
		f.expect(f.wait(p.ID), spec.Failed, code)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a replica ran although another one could not start")
	}
}

func TestCancelKillsAfterGracePeriod(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	mark := filepath.Join(t.TempDir(), "pids")
	id := f.submit(backend.Config{"grace_period": 0.2},
		sh("a", 1, "trap '' TERM; setsid sleep 300 & sleep 300 & echo $! $$ > \""+mark+"\"; while :; do sleep 1; done"))
	f.waitFile(mark)
	if err := f.b.Cancel(f.ctx, id, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	f.expect(f.wait(id), spec.Cancelled, 130)
	for pid := range strings.FieldsSeq(f.waitFile(mark)) {
		if n, _ := strconv.Atoi(pid); alive(n) {
			t.Errorf("process %s is still alive", pid)
		}
	}
}

// TestReasonOfACancellation: the reason of the first request is the message, also if the agent dies
// before it has written the result; then what may remain of the app follows.
func TestReasonOfACancellation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, killed := range []bool{false, true} {
		mark := filepath.Join(t.TempDir(), "started")
		id := f.submit(backend.Config{"grace_period": 300.0}, sh("a", 1, "trap '' TERM; echo $$ > \""+mark+"\"; while :; do sleep 1; done"))
		f.waitFile(mark)
		for _, o := range []backend.CancelOptions{{Reason: "early stop: not among the best"}, {Reason: "another"}} {
			if err := f.b.Cancel(f.ctx, id, o); err != nil {
				t.Fatal(err)
			}
		}
		if killed {
			f.killAgent(id)
		} else if err := f.b.Cancel(f.ctx, id, backend.CancelOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		s := f.wait(id)
		f.expect(s, spec.Cancelled, 130)
		const reason = "early stop: not among the best"
		if reported, rest, _ := strings.Cut(s.Msg, "; "); reported != reason || rest != "" && (!killed || !strings.Contains(rest, "the agent died")) {
			t.Errorf("agent killed %v: got message %q, want %q", killed, s.Msg, reason)
		}
	}
}

func TestKilledAgentIsNeverASuccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := t.TempDir()
	r := sh("a", 1, "setsid sh -c 'echo $$ > \""+dir+"\"/daemon; exec sleep 300' & echo $$ > \""+dir+"\"/leader; sleep 300")
	r.Env.Set(spec.JobIDVariable, "local://torchx/app-1") // as the runner sets it
	id := f.submit(nil, r)
	leader, daemon := f.pid(dir+"/leader"), f.pid(dir+"/daemon")
	f.killAgent(id)
	s, err := f.b.Describe(f.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	f.expect(s, spec.Failed, 125)
	if !strings.Contains(s.Msg, "agent died") {
		t.Errorf("message is %q", s.Msg)
	}
	if alive(leader) || alive(daemon) {
		t.Errorf("leader alive: %v, daemon alive: %v", alive(leader), alive(daemon))
	}
}

func (f *fixture) killAgent(id string) {
	f.Helper()
	pid := f.agentPID(id)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		f.Fatal(err)
	}
	// A zombie's threads may still be in the kernel and hold the lock.
	f.waitFor("the agent's end", func() bool { return !alive(pid) && !f.b.Bundle(id).Held() })
}

func (f *fixture) agentPID(id string) int {
	f.Helper()
	var holder struct {
		PID int `json:"pid"`
	}
	data, err := os.ReadFile(filepath.Join(f.b.Bundle(id).Dir, "agent.lock"))
	for line := range strings.Lines(string(data)) {
		err = errors.Join(err, json.Unmarshal([]byte(line), &holder))
	}
	if err != nil || holder.PID == 0 {
		f.Fatalf("agent.lock: %v %s", err, data)
	}
	return holder.PID
}

// A background process of a replica ends with it, and does not delay its end.
func TestBackgroundProcessesEndWithTheApp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	mark := filepath.Join(t.TempDir(), "pid")
	_, s := f.run(nil, sh("a", 1, "sleep 300 & echo $! > \""+mark+"\"; (setsid sleep 300 &); echo done"))
	f.expect(s, spec.Succeeded, 0)
	if pid := f.pid(mark); alive(pid) {
		t.Errorf("background process %d is alive after the app's end", pid)
	}
}

func TestImageTypeDir(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	image := t.TempDir()
	if err := os.WriteFile(filepath.Join(image, "prog"), []byte("#!/bin/sh\npwd\necho $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := spec.NewRole("a", image)
	r.Entrypoint, r.Args = "prog", []string{"${img_root}/x"}
	id, s := f.run(backend.Config{"image_type": "dir"}, r)
	f.expect(s, spec.Succeeded, 0)
	if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{}); got != image+"\n"+image+"/x\n" {
		t.Errorf("log is %q", got)
	}
	for _, bad := range []string{"relative", "/no/such/folder", filepath.Join(image, "prog")} {
		r.Image = bad
		_, err := f.b.Plan(f.ctx, backend.PlanInput{ID: "x", App: &spec.App{Name: "x", Roles: []spec.Role{r}}, Cfg: backend.Config{"image_type": "dir"}, Cwd: image})
		if err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("plan with image %s: %v", bad, err)
		}
	}
}

// The local backend has no engine that runs the healthcheck of an image.
func TestHealthcheckRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("db", 1, "true")
	r.Metadata = map[string]any{"torchx": map[string]any{"ready": map[string]any{"healthcheck": true}}}
	_, err := f.b.Plan(f.ctx, backend.PlanInput{ID: "x", App: &spec.App{Name: "x", Roles: []spec.Role{r}}, Cfg: backend.Config{}, Cwd: f.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "role db is ready by the healthcheck of its image, which the local backend does not run") {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestLogDirLayout(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	logs := t.TempDir()
	r := sh("a b", 1, "echo hi; exit 1")
	r.MaxRetries = 1
	id, s := f.run(backend.Config{"log_dir": logs}, r)
	f.expect(s, spec.Failed, 1)
	base := filepath.Join(logs, "torchx", id, "a%20b", "0")
	for _, path := range []string{base + "/stdout.log", base + "/attempt-1/stdout.log"} {
		if data, err := os.ReadFile(path); err != nil || string(data) != "hi\n" {
			t.Errorf("%s: %q %v", path, data, err)
		}
	}
	f.checkSuccessFile(filepath.Join(logs, "torchx", id))
	if err := f.b.Delete(f.ctx, id, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(base + "/stdout.log"); err != nil {
		t.Errorf("delete removed the user's logs: %v", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.run(nil, sh("a", 1, "umask 0; echo hi"))
	err := filepath.WalkDir(f.b.Bundle(id).Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkSuccessFile checks the SUCCESS file in an app's log folder.
func (f *fixture) checkSuccessFile(dir string) {
	f.Helper()
	var got struct {
		FinalState string `json:"final_state"`
		Roles      map[string][]struct {
			ExitCode int    `json:"exitcode"`
			Stdout   string `json:"stdout"`
		} `json:"roles"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "SUCCESS"))
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil {
		f.Fatal(err)
	}
	r := got.Roles["a b"]
	if got.FinalState != "FAILED" || len(r) != 1 || r[0].ExitCode != 1 || r[0].Stdout != dir+"/a%20b/0/attempt-1/stdout.log" {
		f.Errorf("SUCCESS is %s", data)
	}
}

// The history has the checkpoints of an app's logs.
func TestLogCheckpointsInHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("a", 1, "echo one; echo two; echo err >&2")
	id := f.plan(nil, r).ID
	db, err := state.Open(f.ctx, filepath.Join(f.home, "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Insert(f.ctx, history.App{AppKey: history.AppKey{ID: id, Backend: Name}, Name: "app", Outcome: history.Outcome{State: spec.Submitted}, SubmittedAt: new(time.Now())}); err != nil {
		t.Fatal(err)
	}
	f.next--
	f.run(nil, r)
	supervised.AwaitAgent(f.b.Bundle(id))
	points, err := db.Checkpoints(f.ctx, Name, id)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, p := range points {
		got[p.Stream+" lines"], got[p.Stream+" bytes"] = p.Line, p.Offset
	}
	if got["stdout lines"] != 2 || got["stdout bytes"] != 8 || got["stderr lines"] != 1 || got["stderr bytes"] != 4 {
		t.Errorf("checkpoints are %+v", points)
	}
}

// A plan that is submitted with another ID is a separate app. Paths that would be ignored
// are refused.
func TestLoadUnderAnotherID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("a", 1, "echo $TORCHX_JOB_ID $TORCHELASTIC_ERROR_FILE")
	r.Env.Set(spec.JobIDVariable, "local://torchx/${app_id}")
	p := f.plan(nil, r)
	raw, err := json.Marshal(p.Request)
	if err != nil {
		t.Fatal(err)
	}
	load := func(id, old, replaced string) (*backend.Plan, error) {
		text := strings.ReplaceAll(string(raw), old, replaced)
		in := backend.PlanInput{ID: id, App: p.App, Cfg: p.Cfg, Cwd: f.TempDir()}
		return f.b.Load(f.ctx, in, json.RawMessage(text))
	}
	copied, err := load("copy", `"app_id":"`+p.ID+`"`, `"app_id":"copy"`)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.b.Submit(f.ctx, copied); err != nil {
		t.Fatal(err)
	}
	f.expect(f.wait("copy"), spec.Succeeded, 0)
	want := "local://torchx/copy " + f.b.Bundle("copy").Dir + "/replicas/a/0/0/error.json\n"
	if got := f.log("copy", spec.Replica{Role: "a"}, backend.LogOptions{}); got != want {
		t.Errorf("got job ID and error file %q, want %q", got, want)
	}
	for old, replaced := range map[string]string{
		"stdout.log": "mine.log", `"log_dir":"` + f.home: `"log_dir":"/elsewhere/x`, `"args":`: `"argv":[],"args":`,
	} {
		if _, err := load(p.ID, old, replaced); !errors.Is(err, backend.ErrInvalidPlan) {
			t.Errorf("with %s instead of %s: %v, want an invalid plan", replaced, old, err)
		}
	}
}

// The history has every attempt with its end, even if they follow fast.
func TestAttemptsInHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := sh("a", 1, "exit 4")
	r.MaxRetries, r.RetryPolicy = 2, spec.RetryReplica
	id := f.plan(nil, r).ID
	f.next--
	db, err := state.Open(f.ctx, filepath.Join(f.home, "state.db"), state.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Insert(f.ctx, history.App{AppKey: history.AppKey{ID: id, Backend: Name}, Name: "app", Outcome: history.Outcome{State: spec.Submitted}, SubmittedAt: new(time.Now())}); err != nil {
		t.Fatal(err)
	}
	f.run(nil, r)
	supervised.AwaitAgent(f.b.Bundle(id))
	attempts, err := db.Attempts(f.ctx, Name, id)
	if err != nil {
		t.Fatal(err)
	}
	if len(attempts) != 3 {
		t.Errorf("got %d attempts, want 3: %+v", len(attempts), attempts)
	}
	for i, a := range attempts {
		if a.Attempt != i || a.State != spec.Failed || a.ExitCode == nil || *a.ExitCode != 4 || a.StartedAt == nil ||
			a.FinishedAt == nil || a.FinishedAt.Before(*a.StartedAt) {
			t.Errorf("attempt %d is %+v", i, a)
		}
	}
}
