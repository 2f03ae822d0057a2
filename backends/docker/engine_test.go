//go:build unix

package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/enginetest"
	"torchx/test/homedir"
)

// fixture is a backend with its own home, on an engine.
type fixture struct {
	*testing.T
	b   *Backend
	ctx context.Context
	cfg map[string]string // options of plans, besides those of all tests
}

func onEngine(t *testing.T, e *enginetest.Engine) *fixture {
	t.Helper()
	home := homedir.New(t)
	b, err := New(Config{Home: home, Exe: os.Args[0], Version: "test", Environ: []string{"DOCKER_HOST=" + e.Host}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	t.Cleanup(func() { tidy(t, home, e) })
	return &fixture{T: t, b: b, ctx: ctx}
}

func shell(script string) spec.Role {
	r := spec.NewRole("r", enginetest.Image)
	r.Entrypoint, r.Args = "sh", []string{"-c", script}
	return r
}

func (f *fixture) plan(roles ...spec.Role) *backend.Plan {
	f.Helper()
	values := map[string]string{"pull": "never", "grace_period": "2"}
	maps.Copy(values, f.cfg)
	cfg, _, err := backend.Resolve(f.b.Options(), backend.DefaultsLayer(values, "test"))
	if err != nil {
		f.Fatal(err)
	}
	app := &spec.App{Name: "t", Roles: roles, Metadata: map[string]any{}}
	p, err := f.b.Plan(f.ctx, backend.PlanInput{ID: "t-" + spec.RandomID(rand.Uint64()|1, 12), App: app, Cfg: cfg, Cwd: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	return p
}

func (f *fixture) start(roles ...spec.Role) string {
	f.Helper()
	p := f.plan(roles...)
	if err := f.b.Submit(f.ctx, p); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = f.b.Cancel(context.Background(), p.ID, backend.CancelOptions{Force: true})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, _ = f.b.Wait(ctx, p.ID)
	})
	return p.ID
}

func (f *fixture) wait(id string) *spec.Status {
	f.Helper()
	s, err := f.b.Wait(f.ctx, id)
	if err != nil {
		f.Fatalf("wait: %v (%+v)", err, s)
	}
	return s
}

// log returns the log of a replica and its notices.
func (f *fixture) log(id string, replica int) (text string, notices []string) {
	f.Helper()
	r, err := f.b.Logs(f.ctx, id, spec.Replica{Role: "r", ID: replica}, backend.LogOptions{Tail: -1, AllAttempts: true})
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	var all strings.Builder
	for {
		b, err := r.Next(f.ctx)
		if errors.Is(err, io.EOF) {
			return all.String(), notices
		}
		if err != nil {
			f.Fatal(err)
		}
		if b.Notice != "" {
			notices = append(notices, b.Notice)
		}
		all.Write(b.Data)
	}
}

func (f *fixture) waitFor(what string, ok func() bool) {
	f.Helper()
	for !ok() {
		if f.ctx.Err() != nil {
			f.Fatalf("timeout: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// waitForLog waits until the log of replica 0 contains a text.
func (f *fixture) waitForLog(id, text string) {
	f.Helper()
	f.waitFor(text, func() bool {
		log, _ := f.log(id, 0)
		return strings.Contains(log, text)
	})
}

// killAgent kills the agent of an app with SIGKILL.
func (f *fixture) killAgent(id string) {
	f.Helper()
	var holder struct{ PID int }
	data, err := os.ReadFile(filepath.Join(f.b.Bundle(id).Dir, "agent.lock"))
	if err == nil {
		err = json.Unmarshal(data, &holder)
	}
	if err != nil || holder.PID == 0 {
		f.Fatalf("agent of %s: %v %s", id, err, data)
	}
	if err := syscall.Kill(holder.PID, syscall.SIGKILL); err != nil {
		f.Fatal(err)
	}
	f.waitFor("the agent's end", func() bool { return !f.b.Bundle(id).Held() })
}

func count(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// An agent that is killed repeatedly loses nothing: containers keep running, every line
// is in the log once, nothing is counted twice.
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	role := shell(`i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i"; sleep 0.02; done; exit 5`)
	role.NumReplicas = 2
	id := f.start(role)
	for n := range 4 {
		f.waitForLog(id, fmt.Sprintf("line %d\n", 30*(n+1)))
		f.killAgent(id)
		if err := f.b.Recover(f.ctx); err != nil {
			f.Fatal(err)
		}
	}
	s := f.wait(id)
	if s.State != spec.Failed || *s.ExitCode != 5 || s.NumRestarts != 0 {
		t.Errorf("status %+v", s)
	}
	for r := range 2 {
		text, notices := f.log(id, r)
		if r == *firstFailed(s) && text != count(300) || len(notices) > 0 {
			t.Errorf("replica %d: %q %q", r, text, notices)
		}
	}
}

func firstFailed(s *spec.Status) *int { return &s.FirstFailure.ID }

// The next agent reports containers that ended while no agent was running.
func TestContainerEndsWithoutAgent(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	id := f.start(shell(`echo one; sleep 1; echo two; echo '{"message": "boom"}' > $TORCHELASTIC_ERROR_FILE; exit 9`))
	f.killAgent(id)
	engine, err := f.b.connect(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	f.waitFor("the container's end", func() bool {
		all, err := containersOf(f.ctx, engine, id)
		return err == nil && len(all) == 1 && all[0].State == "exited"
	})
	s := f.wait(id)
	if s.State != spec.Failed || *s.ExitCode != 9 || string(s.StructuredErrorMsg) != `{"message": "boom"}`+"\n" && string(s.StructuredErrorMsg) != `{"message":"boom"}` {
		t.Errorf("status %+v %s", s, s.StructuredErrorMsg)
	}
	if text, notices := f.log(id, 0); text != "one\ntwo\n" || len(notices) > 0 {
		t.Errorf("log %q %q", text, notices)
	}
}

// A line longer than 16 KiB, where the engine splits lines, remains one line.
func TestLongLines(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	id := f.start(shell(`x=$(head -c 100000 /dev/zero | tr '\0' x); echo "$x"; echo "e$x" >&2; printf end`))
	f.wait(id)
	text, _ := f.log(id, 0)
	x := strings.Repeat("x", 100000)
	for _, want := range []string{x + "\n", "e" + x + "\n", "end"} {
		if !strings.Contains(text, want) {
			t.Errorf("got a log of %d bytes without the line of %d bytes", len(text), len(want))
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	role := shell(`x=$(head -c 200000000 /dev/zero | tr '\0' x); echo "${#x}"`)
	role.Resource.MemMB = 32
	s := f.wait(f.start(role))
	if r := s.Replica(spec.Replica{Role: "r"}); r == nil || !strings.Contains(r.Msg, "out of memory") {
		t.Errorf("status %+v", s)
	}
}

// An app fails if its container is removed while it runs.
func TestContainerRemoved(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	id := f.start(shell(`echo here; sleep 600`))
	f.waitFor("its first line", func() bool { text, _ := f.log(id, 0); return text != "" })
	engine, err := f.b.connect(f.ctx)
	if err == nil {
		err = removeContainers(f.ctx, engine, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := f.wait(id)
	if s.State != spec.Failed || !strings.Contains(s.Msg, "removed") && s.FirstFailure.Signal != "SIGKILL" {
		t.Errorf("status %+v", s)
	}
	if text, _ := f.log(id, 0); text != "here\n" {
		t.Errorf("log %q", text)
	}
}

// A restart of the engine without live-restore ends containers: they fail whatever their
// exit code is, and the retry does not use up max_retries.
func TestEngineRestart(t *testing.T) {
	t.Parallel()
	needDocker(t, "its containers have no daemon that ends them")
	e := enginetest.Need(t, enginetest.Options{})
	f := onEngine(t, e)
	notRetried := f.start(shell(`trap 'exit 0' TERM; echo one; while :; do sleep 0.1; done`))
	role := shell(`trap 'exit 0' TERM; echo up; if [ -e /tmp/x ]; then exit 0; fi; i=0; while [ $i -lt 60 ]; do i=$((i+1)); sleep 0.1; done; exit 0`)
	role.MaxRetries, role.RetryPolicy = 1, spec.RetryReplica
	retried := f.start(role)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := e.Signal(sig); err != nil {
			t.Fatal(err)
		}
		e.Wait()
		if err := e.StartDaemon(); err != nil {
			t.Fatal(err)
		}
		if sig == syscall.SIGTERM {
			s := f.wait(notRetried)
			if s.State != spec.Failed || *s.ExitCode == 0 || !strings.Contains(s.Msg, engineRestarted) {
				t.Errorf("status %+v", s)
			}
		}
		f.waitFor("the next attempt", func() bool {
			s, err := f.b.Describe(f.ctx, retried)
			return err == nil && s.State == spec.Running && s.Roles[0].Replicas[0].State == spec.Running && s.NumRestarts > 0
		})
	}
	s := f.wait(retried)
	if s.State != spec.Succeeded || s.NumRestarts != 2 {
		t.Errorf("status %+v", s)
	}
}

// With live-restore containers keep running when the engine is stopped or killed. The agent
// resumes and notes where lines may be missing.
func TestLiveRestore(t *testing.T) {
	t.Parallel()
	needEngine(t)
	e := enginetest.Need(t, enginetest.Options{Args: []string{"--live-restore"}})
	f := onEngine(t, e)
	id := f.start(shell(`i=0; while ! test -e /go; do i=$((i+1)); echo "line $i"; sleep 0.02; done; echo end`))
	lines := func() int { text, _ := f.log(id, 0); return strings.Count(text, "\n") }
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		more := lines() + 30
		f.waitFor("more lines", func() bool { return lines() >= more })
		f.do(e.Signal(sig))
		e.Wait()
		f.do(e.StartDaemon())
	}
	more := lines() + 30
	f.waitFor("more lines", func() bool { return lines() >= more })
	f.touch(id, "/go")
	s := f.wait(id)
	if s.State != spec.Succeeded || s.NumRestarts != 0 {
		t.Errorf("status %+v", s)
	}
	text, notices := f.log(id, 0)
	if !slices.Equal(notices, []string{gapRestarted, gapRestarted}) {
		t.Errorf("got notices %q, want %q twice", notices, gapRestarted)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if seen[line] {
			t.Errorf("got %q twice, want every line once", line)
		}
		seen[line] = true
	}
	if !seen["end\n"] {
		t.Errorf("got %d lines without the last: %q", len(seen), text)
	}
}

// Old engines lose lines of a log that rotates. The copy has each remaining line once, in
// order, and notes where lines may be missing.
func TestRotatedLog(t *testing.T) {
	t.Parallel()
	needDocker(t, "it drops what it rotates")
	f := onEngine(t, real)
	p := f.plan(shell(`i=0; while [ $i -lt 60000 ]; do i=$((i+1)); echo "line $i"; done`))
	req := p.Request.(*Request)
	req.Containers[0].HostConfig.LogConfig = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "100k", "max-file": "2"}}
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	f.wait(p.ID)
	text, notices := f.log(p.ID, 0)
	last, lines := 0, 0
	for line := range strings.Lines(text) {
		var n int
		if _, err := fmt.Sscanf(line, "line %d\n", &n); err != nil || n <= last {
			t.Fatalf("got %q after line %d, want increasing numbers", line, last)
		}
		last, lines = n, lines+1
	}
	if last != 60000 || lines < 60000 && len(notices) == 0 {
		t.Errorf("%d lines up to %d, notices %q", lines, last, notices)
	}
}

// An app of another home is found by the labels of its containers.
func TestForeignApp(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	id := f.start(shell(`echo one; echo two >&2; exit 3`))
	f.wait(id)
	other := onEngine(t, real)
	all, err := other.b.List(f.ctx)
	if err != nil || !slices.ContainsFunc(all, func(s backend.View) bool { return s.ID == id && s.State == spec.Failed }) {
		t.Errorf("list %+v, %v", all, err)
	}
	s, err := other.b.Describe(f.ctx, id)
	if err != nil || s.State != spec.Failed || *s.Roles[0].Replicas[0].ExitCode != 3 {
		t.Errorf("status %+v, %v", s, err)
	}
	if text, _ := other.log(id, 0); text != "one\ntwo\n" && text != "two\none\n" {
		t.Errorf("log %q", text)
	}
	if err := other.b.Delete(f.ctx, id, backend.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := other.b.Describe(f.ctx, id); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("describe after delete: got %v, want ErrNotFound", err)
	}
	if text, _ := f.log(id, 0); !strings.Contains(text, "one\n") { // the copied log does not need the container
		t.Errorf("log %q", text)
	}
}

// TestSeparateNetwork: containers of an engine in another network namespace cannot be reached.
// Status says so once the engine has a network, and so does the next start.
func TestSeparateNetwork(t *testing.T) {
	t.Parallel()
	needDocker(t, "bridges of two engines have the same names and addresses")
	e := enginetest.Need(t, enginetest.Options{})
	f := onEngine(t, e)
	role := shell("sleep 600")
	role.Metadata = map[string]any{"torchx": map[string]any{"ready": map[string]any{"port": 80}}}
	id := f.start(role)
	const remedy = "use -cfg publish_ports=true"
	f.waitFor("the reason in the status", func() bool {
		s, err := f.b.Describe(f.ctx, id)
		return err == nil && strings.Contains(s.Roles[0].Replicas[0].Msg, "not ready yet (port 80): this machine cannot reach containers") &&
			strings.Contains(s.Roles[0].Replicas[0].Msg, remedy)
	})
	p := f.plan(role)
	var warnings []string
	p.Progress = func(s backend.Step) {
		if s.Warning != "" {
			warnings = append(warnings, s.Warning)
		}
	}
	if _, err := f.b.manifest(f.ctx, e.Client, endpoint{Host: e.Client.DaemonHost()}, p); err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "role r will never become ready") || !strings.Contains(warnings[0], remedy) {
		t.Errorf("warnings: got %q, want one with %q", warnings, remedy)
	}
}
