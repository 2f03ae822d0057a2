//go:build linux

// Package sweep runs sweeps with real programs on all backends, and kills their controllers.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/backends/all"
	"torchx/backends/driver"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/procs"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
	"torchx/state"
	"torchx/test/binary"
	"torchx/test/homedir"
)

// waitTime bounds each wait.
const waitTime = 2 * time.Minute

// exe is torchx with failpoints.
var exe string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "torchx-sweep-")
	if err != nil {
		panic(err)
	}
	if exe, err = binary.Build(dir, "-tags=failpoint"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// fixture is a home with a runner.
type fixture struct {
	*testing.T
	*runner.Runner
	home, scratch string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureAt(t, "")
}

// newFixtureAt returns a fixture in which the first supervisor dies at a failpoint, "" for none.
func newFixtureAt(t *testing.T, point string) *fixture {
	t.Helper()
	f := &fixture{T: t, home: homedir.New(t), scratch: homedir.New(t)}
	exe := exe
	if point != "" {
		script := fmt.Sprintf("#!/bin/sh\nif mkdir %q/died 2>/dev/null; then export %s=%s; fi\nexec %q \"$@\"\n", f.scratch, failpoint.Variable, point, exe)
		exe = filepath.Join(f.scratch, "torchx")
		f.must(os.WriteFile(exe, []byte(script), 0o700))
	}
	db, err := state.Open(t.Context(), filepath.Join(f.home, "state.db"), state.Options{})
	f.must(err)
	environ := append(os.Environ(), "SCRATCH="+f.scratch, "TORCHX_HOME="+f.home)
	f.Runner = &runner.Runner{
		Backends: all.New(driver.Env{Home: f.home, Exe: exe, Environ: environ}), History: db,
		Warn: func(line string) { t.Logf("warning: %s", line) },
	}
	t.Cleanup(func() {
		f.endAll()
		f.waitFor("all supervisors to end", func() bool { return len(f.supervisors("")) == 0 })
		f.must(f.Backends.Close())
		f.must(db.Close())
	})
	return f
}

// supervisor returns the PID of the supervisor of an app, 0 if it has none.
func (f *fixture) supervisor(id string) int {
	if pids := f.supervisors(id + "\x00"); len(pids) > 0 {
		return pids[0]
	}
	return 0
}

// supervisors returns the PIDs of the supervisors of all apps whose folder begins with a text.
func (f *fixture) supervisors(folder string) (pids []int) {
	for _, p := range procs.List() {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		if err == nil && !p.Zombie && strings.Contains(string(data), "\x00agent\x00"+filepath.Join(f.home, "apps")+"/"+folder) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// kill kills the supervisor of an app and waits for its death.
func (f *fixture) kill(id string) {
	f.Helper()
	if pid := f.supervisor(id); pid > 0 {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			f.Fatal(err)
		}
		f.waitFor("the death of a supervisor", func() bool { return f.supervisor(id) != pid })
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// endAll ends all apps.
func (f *fixture) endAll() {
	ctx, stop := context.WithTimeout(context.Background(), waitTime)
	defer stop()
	for _, name := range []string{"sweep", "local"} {
		apps, err := f.List(ctx, runner.Filter{Backend: name, All: true})
		f.must(err)
		for _, a := range apps {
			ref := a.AppKey
			if !a.State.Terminal() {
				f.must(f.Cancel(ctx, ref, backend.CancelOptions{Force: true}))
				_, err := f.Wait(ctx, ref)
				f.must(err)
			}
		}
	}
}

// trials returns one trial for each shell script.
func trials(scripts ...string) (all []sweep.Trial) {
	for i, script := range scripts {
		role := spec.NewRole("sh", "")
		role.Entrypoint, role.Args, role.NumReplicas = "sh", []string{"-c", script}, 1
		t := sweep.Trial{App: &spec.App{Name: "sh", Roles: []spec.Role{role}}}
		t.Number, t.Seed = i, int64(100+i)
		t.Params = []sweep.Param{{Name: "x", Value: strconv.Itoa(i)}}
		t.Args = []string{"--x", strconv.Itoa(i)}
		all = append(all, t)
	}
	return all
}

// submit starts a sweep of scripts on the local backend.
func (f *fixture) submit(rules sweep.Rules, scripts ...string) history.AppKey {
	f.Helper()
	return f.submitTo("local", nil, rules, trials(scripts...))
}

func (f *fixture) submitTo(backendName string, cfg map[string]any, rules sweep.Rules, all []sweep.Trial) history.AppKey {
	f.Helper()
	p := &sweep.Plan{
		Definition: sweep.Definition{Backend: backendName, Cfg: cfg, Rules: rules, Source: history.Source{Component: "sh", Cwd: f.scratch}},
		Trials:     all,
	}
	planned, err := f.Plan(f.Context(), runner.PlanRequest{
		Backend: "sweep", App: p.App("sh-sweep"), Sweep: p, Environ: append(os.Environ(), "SCRATCH="+f.scratch),
		Provenance: runner.Provenance{Source: history.Source{Component: "sh", Cwd: f.scratch}},
	})
	f.must(err)
	_, err = f.Submit(f.Context(), planned)
	f.must(err)
	return planned.Ref()
}

// end waits for the end of a sweep.
func (f *fixture) end(ref history.AppKey) (*spec.Status, *sweep.Snapshot) {
	f.Helper()
	ctx, stop := context.WithTimeout(f.Context(), waitTime)
	defer stop()
	s, err := f.Wait(ctx, ref)
	if err != nil {
		j, _ := os.ReadFile(filepath.Join(f.home, "apps", ref.ID, "journal.jsonl"))
		f.Fatalf("wait for the end of the sweep: %v\n%s%s", err, f.log(ref), j[:min(3000, len(j))])
	}
	return s, f.trialsOf(ref)
}

func (f *fixture) trialsOf(ref history.AppKey) *sweep.Snapshot {
	f.Helper()
	s, err := f.Trials(f.Context(), ref)
	f.must(err)
	return s
}

// log returns what the controller logged.
func (f *fixture) log(ref history.AppKey) string {
	data, _ := os.ReadFile(filepath.Join(f.home, "apps", ref.ID, "agent.log"))
	return string(data)
}

func (f *fixture) waitFor(what string, ok func() bool) {
	f.Helper()
	for deadline := time.Now().Add(waitTime); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("timed out waiting for %s", what)
		}
	}
}

// states describes the trials: "SUCCEEDED 0, FAILED 3".
func states(s *sweep.Snapshot) (text string) {
	for i, t := range s.Trials {
		if i > 0 {
			text += ", "
		}
		text += t.State.String()
		if t.ExitCode != nil {
			text += fmt.Sprintf(" %d", *t.ExitCode)
		}
	}
	return text
}
