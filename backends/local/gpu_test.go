//go:build unix

package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // locks the history as another program would

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
	"torchx/state"
)

// fakeGPUs adds a fake nvidia-smi to PATH that lists four GPUs.
func fakeGPUs() (remove func()) {
	dir, err := os.MkdirTemp("", "torchx-smi-")
	if err == nil {
		script := "#!/bin/sh\nfor i in 0 1 2 3; do echo \"GPU $i: Fake (UUID: GPU-f$i)\"; done\n"
		err = os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o700)
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		panic(err)
	}
	return func() { os.RemoveAll(dir) }
}

// runTestAgent is the agent process. If a test wrote the file, it reads the machine's
// resources from the home.
func runTestAgent(dir string) int {
	if !agent.AwaitBundle(dir) {
		return 1
	}
	c := agent.Config{NewLauncher: newLauncher, OpenStore: openStore}
	if data, err := os.ReadFile(totalFile(filepath.Dir(filepath.Dir(dir)))); err == nil {
		c.Total = func() (total machine.Size, err error) { return total, json.Unmarshal(data, &total) }
	}
	return agent.Main(dir, c)
}

func totalFile(home string) string { return filepath.Join(home, "total.json") }

// gpuRole returns a role that writes its devices to a file and keeps running.
func gpuRole(name string, replicas, gpus int, dir string) spec.Role {
	r := sh(name, replicas, "echo $CUDA_VISIBLE_DEVICES > \""+dir+"\"/"+name+"-${replica_id}.tmp; mv \""+dir+"\"/"+name+"-${replica_id}.tmp \""+dir+"\"/"+name+"-${replica_id}; sleep 300")
	r.Resource = spec.Resource{CPU: 1, GPU: gpus, MemMB: 1}
	return r
}

var autoGPUs = backend.Config{"auto_set_cuda_visible_devices": true}

// start plans and submits a role. change, if not nil, changes the plan.
func (f *fixture) start(role spec.Role, change func(p *backend.Plan)) (id string, err error) {
	f.Helper()
	p := f.plan(autoGPUs, role)
	p.Environ = []string{"PATH=" + os.Getenv("PATH")}
	if change != nil {
		change(p)
	}
	return p.ID, f.b.Submit(f.ctx, p)
}

func (f *fixture) mustStart(role spec.Role, change func(p *backend.Plan)) string {
	f.Helper()
	id, err := f.start(role, change)
	if err != nil {
		f.Fatal(err)
	}
	return id
}

// expectRefused checks that err is a start error in one line that contains all words.
func (f *fixture) expectRefused(err error, words ...string) {
	f.Helper()
	var start *backend.StartError
	if !errors.As(err, &start) || start.Code != 125 || strings.Contains(err.Error(), "\n") {
		f.Fatalf("error is %v, want a start error with code 125", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			f.Errorf("got error %q, want %q in it", err, w)
		}
	}
}

func (f *fixture) expectDevices(path, want string) {
	f.Helper()
	if got := f.waitFile(path); got != want {
		f.Errorf("%s has devices %q, want %q", filepath.Base(path), got, want)
	}
}

func (f *fixture) cancel(id string) {
	f.Helper()
	if err := f.b.Cancel(f.ctx, id, backend.CancelOptions{Force: true}); err != nil {
		f.Fatal(err)
	}
	f.wait(id)
}

// leases returns the leases in the history, as "device=app".
func (f *fixture) leases() string {
	f.Helper()
	db, err := state.Open(f.ctx, filepath.Join(f.home, "state.db"), state.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	all, err := db.Leases(f.ctx)
	if err != nil {
		f.Fatal(err)
	}
	var texts []string
	for _, l := range all {
		texts = append(texts, l.Device+"="+l.App.ID)
	}
	return strings.Join(texts, " ")
}

func TestAppsDoNotShareDevices(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	a := f.mustStart(gpuRole("a", 2, 1, dir), nil)
	b := f.mustStart(gpuRole("b", 1, 1, dir), nil)
	f.expectDevices(dir+"/a-0", "0")
	f.expectDevices(dir+"/a-1", "1")
	f.expectDevices(dir+"/b-0", "2")
	_, err := f.start(gpuRole("c", 1, 2, dir), nil)
	f.expectRefused(err, "asks for 2 GPUs, 1 of 4 free", "local://torchx/"+a+" holds 0,1", "local://torchx/"+b+" holds 2", "--queue")
	if got, want := f.leases(), "0="+a+" 1="+a+" 2="+b; got != want {
		t.Errorf("leases are %s, want %s", got, want)
	}
	f.cancel(a)
	f.mustStart(gpuRole("d", 1, 3, dir), nil)
	f.expectDevices(dir+"/d-0", "0,1,3")
	s, err := f.b.Describe(f.ctx, b)
	if err != nil || !slices.Equal(s.Roles[0].Replicas[0].Devices, []string{"2"}) {
		t.Errorf("status of b: %+v, %v", s, err)
	}
}

// TestDevicesOfConcurrentApps: four of twelve apps get a device each, the others fail.
func TestDevicesOfConcurrentApps(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	var plans []*backend.Plan
	for i := range 12 {
		plans = append(plans, f.plan(autoGPUs, gpuRole(fmt.Sprintf("r%d", i), 1, 1, dir)))
	}
	started := make([]bool, len(plans))
	var all sync.WaitGroup
	for i, p := range plans {
		all.Go(func() { started[i] = f.b.Submit(f.ctx, p) == nil })
	}
	all.Wait()
	var got []string
	for i, ok := range started {
		if ok {
			got = append(got, f.waitFile(fmt.Sprintf("%s/r%d-0", dir, i)))
		}
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "0 1 2 3" {
		t.Errorf("devices in use are %v", got)
	}
}

// TestDevicesOfKilledAgent: they are free, and no process of the app is left.
func TestDevicesOfKilledAgent(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	r := gpuRole("a", 1, 4, dir)
	r.Args[1] = "setsid sh -c 'echo $$$$ > \"" + dir + "\"/daemon; exec sleep 300' & " + r.Args[1]
	r.Env.Set(spec.JobIDVariable, "local://torchx/app-1")
	a := f.mustStart(r, nil)
	daemon := f.pid(dir + "/daemon")
	f.killAgent(a)
	f.mustStart(gpuRole("b", 1, 4, dir), nil)
	if alive(daemon) {
		t.Error("the dead app's daemon was alive when its devices were assigned")
	}
	f.expectDevices(dir+"/b-0", "0,1,2,3")
	s := f.wait(a)
	f.expect(s, spec.Failed, 125)
	if got := s.Roles[0].Replicas[0].Devices; len(got) != 4 {
		t.Errorf("status of the dead app: got devices %v, want 4", got)
	}
}

func TestVisibleDevicesOfSubmitter(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	limit := func(value string) func(*backend.Plan) {
		return func(p *backend.Plan) { p.Environ = append(p.Environ, "CUDA_VISIBLE_DEVICES="+value) }
	}
	_, err := f.start(gpuRole("a", 1, 3, dir), limit("2,3"))
	f.expectRefused(err, "CUDA_VISIBLE_DEVICES=2,3", "allows 2 of 4")
	f.mustStart(gpuRole("b", 1, 1, dir), limit("3,GPU-f1"))
	f.expectDevices(dir+"/b-0", "3")
	f.mustStart(gpuRole("c", 1, 1, dir), limit("3,GPU-f1"))
	f.expectDevices(dir+"/c-0", "1")
	_, err = f.start(gpuRole("d", 1, 1, dir), limit("3"))
	f.expectRefused(err, "0 of 1 free")
}

// TestEditedDevicesStay: the agent only replaces devices that Plan set.
func TestEditedDevicesStay(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	f.mustStart(gpuRole("a", 1, 1, dir), nil)
	f.mustStart(gpuRole("b", 2, 1, dir), func(p *backend.Plan) {
		p.Request.(*Request).RoleParams[0].Value[0].Env.Set(cudaVariable, "7")
	})
	f.expectDevices(dir+"/b-0", "7")
	f.expectDevices(dir+"/b-1", "1")
}

// TestDevicesWithoutHistory: bundles have the devices of apps, even if state.db is lost.
func TestDevicesWithoutHistory(t *testing.T) {
	t.Parallel()
	for how, spoil := range map[string]func(f *fixture, path string){
		"deleted": func(_ *fixture, path string) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				os.Remove(path + suffix)
			}
		},
		"corrupt": func(f *fixture, path string) {
			if err := os.WriteFile(path, []byte("not a database, and longer than a header"), 0o600); err != nil {
				f.Fatal(err)
			}
		},
		"locked": func(f *fixture, path string) { f.lockHistory(path) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			f, dir := newFixture(t), t.TempDir()
			a := f.mustStart(gpuRole("a", 1, 2, dir), nil)
			spoil(f, filepath.Join(f.home, "state.db"))
			f.mustStart(gpuRole("b", 1, 1, dir), nil)
			f.expectDevices(dir+"/b-0", "2")
			_, err := f.start(gpuRole("c", 1, 2, dir), nil)
			f.expectRefused(err, a+" holds 0,1")
		})
	}
}

// lockHistory holds the write lock of the history until the test ends.
func (f *fixture) lockHistory(path string) {
	f.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=10000")
	if err != nil {
		f.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(f.ctx, "BEGIN IMMEDIATE"); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
}

// stopAgent stops an agent at a moment when it does not write the history: others would wait for it.
func (f *fixture) stopAgent(pid int) {
	f.Helper()
	db, err := state.Open(f.ctx, filepath.Join(f.home, "state.db"), state.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	f.Cleanup(func() { unix.Kill(pid, unix.SIGCONT) })
	f.waitFor("an agent that does not write", func() bool {
		if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
			f.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(f.ctx, time.Second)
		defer cancel()
		if db.SetComplete(ctx) == nil {
			return true
		}
		if err := unix.Kill(pid, unix.SIGCONT); err != nil {
			f.Fatal(err)
		}
		return false
	})
}

// TestDevicesOfDeletedBundle: an app keeps its devices while it runs, even if its bundle
// was deleted: the history has them.
func TestDevicesOfDeletedBundle(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	a := f.mustStart(gpuRole("a", 1, 3, dir), nil)
	f.expectDevices(dir+"/a-0", "0,1,2")
	agentPID := f.agentPID(a)
	f.stopAgent(agentPID) // otherwise it notices that its folder was deleted, and ends
	if err := os.RemoveAll(f.b.Bundle(a).Dir); err != nil {
		t.Fatal(err)
	}
	_, err := f.start(gpuRole("b", 1, 2, dir), nil)
	f.expectRefused(err, "1 of 4 free (local://torchx/"+a+" holds 0,1,2)")
	f.mustStart(gpuRole("c", 1, 1, dir), nil)
	f.expectDevices(dir+"/c-0", "3")
	if err := unix.Kill(agentPID, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.waitFor("the end of the agent", func() bool { return !alive(agentPID) })
	f.waitFor("the end of the app without a bundle", func() bool {
		_, err := f.start(gpuRole("d", 1, 3, dir), nil)
		return err == nil
	})
	f.expectDevices(dir+"/d-0", "0,1,2")
}

// TestPlanWithoutNvidiaSmi: a machine without GPUs runs the app with a warning.
func TestPlanWithoutNvidiaSmi(t *testing.T) {
	f, dir := newFixture(t), t.TempDir()
	path := os.Getenv("PATH")
	withGPUs := f.plan(autoGPUs, gpuRole("b", 1, 1, dir))
	t.Setenv("PATH", path[strings.IndexByte(path, os.PathListSeparator)+1:])
	f.b.gpus = nil // as in another command
	p := f.plan(autoGPUs, gpuRole("a", 1, 1, dir))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "CUDA_VISIBLE_DEVICES is not set: count GPUs: exec: \"nvidia-smi\"") {
		t.Errorf("warnings are %q", p.Warnings)
	}
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	f.expectDevices(dir+"/a-0", "")
	raw, err := json.Marshal(withGPUs.Request) // planned on a machine with GPUs
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := f.b.Load(context.Background(), backend.PlanInput{ID: withGPUs.ID, App: withGPUs.App, Cfg: autoGPUs}, raw)
	if err != nil || len(loaded.Warnings) != 1 || !strings.Contains(loaded.Warnings[0], "stays as planned") {
		t.Fatalf("%+v, %v", loaded, err)
	}
	if err := f.b.Submit(f.ctx, loaded); err != nil {
		t.Fatal(err)
	}
	f.expectDevices(dir+"/b-0", "0")
}
