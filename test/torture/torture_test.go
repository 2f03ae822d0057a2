//go:build linux && torture

package torture

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// scripts add a line to the file "proof" if and only if they succeed.
var scripts = []struct {
	text string
	code int // 0: it adds a line at its end
}{
	{`echo $TORCHX_JOB_ID >> proof`, 0},
	{`echo work; sleep 0.05; echo $TORCHX_JOB_ID >> proof`, 0},
	{`setsid sleep 600 & sleep 600 & seq 2000; sleep 0.1; echo $TORCHX_JOB_ID >> proof`, 0},
	{`sleep 0.03; exit 7`, 7},
	{`trap "" TERM; sleep 0.2 & wait; sleep 0.1; exit 9`, 9},
	{`(trap "" TERM; setsid sleep 600) & sleep 0.05; exit 7`, 7},
}

// victim is the process that a round kills.
type victim int

const (
	killAgent victim = iota
	killCommand
	killReplica
	victims
)

func (v victim) String() string { return []string{"agent", "command", "replica"}[v] }

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestTorture kills agents, commands and replicas at random times. After every kill the
// app's result is correct, none of its processes runs, and history and bundle agree.
func TestTorture(t *testing.T) {
	kills := int(number(t, "TORCHX_KILLS", 200))
	seed := number(t, "TORCHX_SEED", uint64(time.Now().UnixNano()))
	t.Logf("%d kills, repeat them with SEED=%d (times differ slightly)", kills, seed)
	h := newHome(t)
	r := torturer{home: h, rand: rand.New(rand.NewPCG(seed, 0)), seen: map[string]int{}}
	for n := 0; n < kills && !t.Failed(); n++ {
		r.runRound(n)
	}
	t.Logf("results: %v", r.seen)
}

type torturer struct {
	*home
	rand *rand.Rand
	seen map[string]int
}

func (r *torturer) runRound(n int) {
	script := scripts[r.rand.IntN(len(scripts))]
	replicas := 1 + r.rand.IntN(4)
	retries := r.rand.IntN(2)
	target := victim(r.rand.IntN(int(victims)))
	pause := time.Duration(r.rand.IntN(150)) * time.Millisecond
	before := map[string]bool{}
	for _, a := range r.list() {
		before[a.AppID] = true
	}
	cmd := r.command("", "run", "-cfg", "grace_period=0.5", r.file, "--script", script.text,
		"--num_replicas", strconv.Itoa(replicas), "--max_retries", strconv.Itoa(retries))
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	time.Sleep(pause) // random
	r.kill(target, cmd)
	_ = cmd.Wait() // the exit code is that of a killed command or of the app
	for _, a := range r.list() {
		if !before[a.AppID] {
			r.torchx("", "wait", a.AppID)
			r.checkApp(a.AppID, script.code, replicas, target)
		}
	}
	if r.Failed() {
		r.Logf("round %d: %d replicas, %d retries of %q; %v killed after %v", n, replicas, retries, script.text, target, pause)
	}
}

func (r *torturer) kill(target victim, cmd *exec.Cmd) {
	switch target {
	case killCommand:
		_ = cmd.Process.Kill() // fails if it has ended
	case killAgent:
		for _, pid := range r.agents() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	case killReplica:
		var all []int
		for _, agent := range r.agents() {
			for _, p := range procs.Descendants(agent) {
				all = append(all, p.PID)
			}
		}
		if len(all) > 0 {
			_ = syscall.Kill(all[r.rand.IntN(len(all))], syscall.SIGKILL)
		}
	}
}

// checkApp checks an ended app.
func (r *torturer) checkApp(id string, code, replicas int, target victim) {
	r.Helper()
	var a app
	for _, b := range r.list() {
		if b.AppID == id {
			a = b
		}
	}
	r.seen[target.String()+": "+strings.TrimPrefix(a.String(), id+" ")]++
	possible := map[int]bool{code: true}
	switch target {
	case killAgent, killCommand:
		possible[125] = true
	case killReplica:
		possible[137] = true
		possible[code] = true
	}
	if a.ExitCode == nil || !possible[*a.ExitCode] || (a.State == spec.Succeeded) != (*a.ExitCode == 0) {
		r.Errorf("got %v, want an exit code of %v", a, possible)
	}
	if a.State == spec.Succeeded {
		r.checkProof(a, replicas)
	}
	r.checkNoProcesses(a)
	r.checkBundle(a)
}

// checkProof checks that all replicas of a successful app ran to their end.
func (r *torturer) checkProof(a app, replicas int) {
	r.Helper()
	data, err := os.ReadFile(filepath.Join(r.scratch, "proof"))
	if n := strings.Count(string(data), a.Handle+"\n"); err != nil || n < replicas {
		r.Errorf("false success %v: got %d proofs of %d replicas (%v)", a, n, replicas, err)
	}
}

// checkBundle checks that the history and the bundle have the same result.
func (r *torturer) checkBundle(a app) {
	r.Helper()
	if _, err := os.Stat(filepath.Join(r.dir, "apps", a.AppID)); err != nil {
		return // killed before the bundle was created
	}
	s := r.bundleState(a.AppID)
	if s.State != a.State || s.ExitCode == nil || *s.ExitCode != *a.ExitCode {
		text, _ := json.Marshal(s)
		r.Errorf("got %v in the history, %s in the bundle", a, text)
	}
}

// bundleState returns the status in the app's bundle.
func (h *home) bundleState(id string) (s spec.Status) {
	h.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, "apps", id, "status.json"))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		h.Error(err)
	}
	return s
}
