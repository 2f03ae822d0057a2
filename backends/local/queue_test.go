//go:build unix

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/long"
)

// setMachine sets the resources that the queue of the home assigns.
func (f *fixture) setMachine(cpus int) {
	f.Helper()
	text := fmt.Sprintf(`{"cpu":%d,"mem_mb":1000}`, cpus)
	if err := os.WriteFile(totalFile(f.home), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// enqueue submits an app that requests CPUs to the queue.
func (f *fixture) enqueue(cpus float64, script string) string {
	f.Helper()
	id, err := f.tryEnqueue(cpus, script)
	if err != nil {
		f.Fatal(err)
	}
	return id
}

func (f *fixture) tryEnqueue(cpus float64, script string) (string, error) {
	f.Helper()
	r := sh("r", 1, script)
	r.Resource = spec.Resource{CPU: cpus, MemMB: -1, GPU: -1}
	p := f.plan(nil, r)
	p.Queue = true
	return p.ID, f.b.Submit(f.ctx, p)
}

// waitForState waits until an app is in a state and its message contains all words.
func (f *fixture) waitForState(id string, want spec.State, words ...string) {
	f.Helper()
	var last string
	defer func() {
		if f.Failed() {
			f.Logf("%s was last seen as %s", id, last)
		}
	}()
	f.waitFor(id+" to be "+want.String()+" "+strings.Join(words, " "), func() bool {
		s, err := f.b.Describe(f.ctx, id)
		if err != nil {
			return false
		}
		last = s.State.String() + " " + s.Msg
		for _, w := range words {
			if !strings.Contains(s.Msg, w) {
				return false
			}
		}
		return s.State == want
	})
}

// queued lists the entries of the queue.
func (f *fixture) queued() []string {
	entries, _ := os.ReadDir(filepath.Join(f.home, "queue"))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestQueueLimit: of fifty apps on a machine with room for two, all run, and never more
// than two at the same time.
func TestQueueLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(2)
	apps := long.N(50, 10)
	file := filepath.Join(t.TempDir(), "order")
	var plans []*backend.Plan
	for range apps {
		r := sh("r", 1, "echo begin >> \""+file+"\"; sleep 0.02; echo end >> \""+file+"\"")
		r.Resource = spec.Resource{CPU: 1, MemMB: -1, GPU: -1}
		p := f.plan(nil, r)
		p.Queue = true
		plans = append(plans, p)
	}
	var all sync.WaitGroup
	for _, p := range plans {
		all.Go(func() {
			if err := f.b.Submit(f.ctx, p); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range plans {
		f.expect(f.wait(p.ID), spec.Succeeded, 0)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	running, peak, ended := 0, 0, 0
	for line := range strings.Lines(string(data)) {
		if line == "end\n" {
			running, ended = running-1, ended+1
			continue
		}
		running++
		peak = max(peak, running)
	}
	if peak != 2 || ended != apps || len(f.queued()) != 0 {
		t.Errorf("got %d at the same time, %d ended, queue %v, want 2, %d, empty", peak, ended, f.queued(), apps)
	}
}

// TestQueueOrder: a small app waits behind a big one, and starts when that one is
// canceled.
func TestQueueOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(4)
	first := f.enqueue(3, "sleep 300")
	f.waitForState(first, spec.Running)
	big := f.enqueue(2.5, "sleep 300")
	f.waitForState(big, spec.Pending, "queued: waits for 2.5 CPUs (1 of 4 free)")
	small := f.enqueue(1, "sleep 300")
	f.waitForState(small, spec.Pending, "queued: needs 1 CPU, behind local://torchx/"+big)
	f.cancel(big)
	f.expect(f.wait(big), spec.Cancelled, 130)
	f.waitForState(small, spec.Running, "")
	if s, err := f.b.Describe(f.ctx, small); err != nil || s.Msg != "" {
		t.Errorf("running app: got message %q, %v, want none", s.Msg, err)
	}
}

// TestQueueCountsOtherApps: apps that run without the queue count, with all replicas.
func TestQueueCountsOtherApps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(4)
	r := sh("r", 3, "sleep 300")
	r.Resource = spec.Resource{CPU: 1, MemMB: 300, GPU: -1}
	running := f.submit(nil, r, sh("nothing", 5, "sleep 300"))
	id := f.enqueue(2, "true")
	f.waitForState(id, spec.Pending, "waits for 2 CPUs (1 of 4 free)")
	f.cancel(running)
	f.expect(f.wait(id), spec.Succeeded, 0)
}

func TestQueueTooLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(4)
	id, err := f.tryEnqueue(5, "true")
	f.expectRefused(err, "asks for 5 CPUs, this machine has 4 CPUs", "--queue")
	f.expect(f.wait(id), spec.Failed, 125)
	if len(f.queued()) != 0 {
		t.Errorf("queue %v", f.queued())
	}
}

// TestKilledWhileQueued: the app fails and leaves the queue.
func TestKilledWhileQueued(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(1)
	running := f.enqueue(1, "sleep 300")
	dead := f.enqueue(1, "true")
	last := f.enqueue(1, "true")
	f.waitForState(last, spec.Pending, "behind local://torchx/"+dead)
	f.killAgent(dead)
	f.waitForState(last, spec.Pending, "waits for 1 CPU (0 of 1 free)")
	f.cancel(running)
	f.expect(f.wait(last), spec.Succeeded, 0)
	s := f.wait(dead)
	f.expect(s, spec.Failed, 125)
	if !strings.Contains(s.Msg, "agent died while the app was queued") {
		t.Errorf("message is %q", s.Msg)
	}
	if len(f.queued()) != 0 {
		t.Errorf("queue %v", f.queued())
	}
}

// TestResourcesOfKilledAgent: they are free when the remaining processes of its app have
// ended, even if no command recovers it.
func TestResourcesOfKilledAgent(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	f.setMachine(1)
	r := sh("r", 1, "setsid sh -c 'echo $$ > \""+dir+"\"/daemon; exec sleep 300' & sleep 300")
	r.Resource = spec.Resource{CPU: 1, MemMB: -1, GPU: -1}
	r.Env.Set(spec.JobIDVariable, "local://torchx/app-1")
	running := f.submit(nil, r)
	daemon := f.pid(dir + "/daemon")
	next := f.enqueue(1, fmt.Sprintf("grep -q State:.[RSDT] /proc/%d/status && echo alive > \"%s\"/seen; echo > \"%s\"/looked; sleep 300", daemon, dir, dir))
	f.waitForState(next, spec.Pending, "queued")
	pid := f.agentPID(running)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.waitFile(dir + "/looked")
	if _, err := os.Stat(dir + "/seen"); err == nil {
		t.Error("the next app started while a process of the dead agent's app was alive")
	}
	f.expect(f.wait(running), spec.Failed, 125)
}

// TestQueueWithLockedHistory: the queue works while the history is locked.
func TestQueueWithLockedHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(1)
	running := f.enqueue(1, "sleep 300")
	f.lockHistory(filepath.Join(f.home, "state.db"))
	id := f.enqueue(1, "true")
	f.waitForState(id, spec.Pending, "queued")
	f.cancel(running)
	f.waitForState(id, spec.Succeeded)
}

// TestQueueForDevices: a queued app also waits for its devices.
func TestQueueForDevices(t *testing.T) {
	t.Parallel()
	f, dir := newFixture(t), t.TempDir()
	f.setMachine(8)
	a := f.mustStart(gpuRole("a", 1, 2, dir), nil)
	r := gpuRole("b", 1, 2, dir)
	b := f.mustStart(r, func(p *backend.Plan) {
		p.Queue = true
		p.Environ = append(p.Environ, "CUDA_VISIBLE_DEVICES=1,2")
	})
	f.waitForState(b, spec.Pending, "queued: waits for 2 GPUs (1 of 2 free)")
	f.cancel(a)
	f.expectDevices(dir+"/b-0", "1,2")
	c := f.mustStart(gpuRole("c", 1, 3, dir), func(p *backend.Plan) { p.Queue = true })
	f.waitForState(c, spec.Pending, "queued: waits for 3 GPUs (2 of 4 free)")
	f.cancel(b)
	f.expectDevices(dir+"/c-0", "0,1,2")
}
