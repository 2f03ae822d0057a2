//go:build linux

package docker

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/procs"
	"torchx/runtime/spec"
	"torchx/test/enginetest"
)

// shortTorture is the default number of kills.
const shortTorture = 5

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

// TestTorture kills agents and engines (with live-restore) at random times. Every result is
// correct. A killed agent loses no line. A killed engine repeats none, and readers see a gap
// where lines may be missing.
func TestTorture(t *testing.T) {
	t.Parallel()
	kills := int(number(t, "TORCHX_KILLS", shortTorture))
	seed := number(t, "TORCHX_SEED", uint64(time.Now().UnixNano()))
	t.Logf("%d kills, repeat them with SEED=%d (times differ slightly)", kills, seed)
	h := homeOn(t, enginetest.Need(t, enginetest.Options{Args: []string{"--live-restore"}}))
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

// round is the parameters of one kill.
type round struct {
	engine   bool // kill the engine; otherwise the agent
	code     int
	replicas int
	retries  int
	lines    int
	pause    time.Duration // from the command's start to the kill
}

func (r *torturer) runRound(n int) {
	o := round{
		engine: n%2 == 1, replicas: 1 + r.rand.IntN(3), lines: 40 + r.rand.IntN(60),
		pause: time.Duration(r.rand.IntN(3000)) * time.Millisecond,
	}
	if o.replicas == 1 && r.rand.IntN(2) == 0 { // with several, a failure would stop the others
		o.code, o.retries = 7, r.rand.IntN(2)
	}
	before := map[string]bool{}
	for _, a := range r.list("docker") {
		before[a.AppID] = true
	}
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line $i; sleep 0.02; done; exit %d", o.lines, o.code)
	cmd := r.command("run", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=1", "t.star:app", "--script", script,
		"--num_replicas", strconv.Itoa(o.replicas), "--max_retries", strconv.Itoa(o.retries))
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	time.Sleep(o.pause) // random
	r.kill(o.engine)
	_ = cmd.Wait() // fails if its agent was killed
	for _, a := range r.list("docker") {
		if !before[a.AppID] {
			r.torchx("wait", a.AppID)
			r.checkApp(a.AppID, o)
		}
	}
	if r.Failed() {
		r.Logf("round %d: %+v", n, o)
	}
}

func (r *torturer) kill(engine bool) {
	r.Helper()
	if !engine {
		for _, pid := range r.agents() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails if it has ended
		}
		return
	}
	if err := r.engine.Signal(syscall.SIGKILL); err != nil {
		r.Fatal(err)
	}
	r.engine.Wait()
	time.Sleep(time.Duration(r.rand.IntN(500)) * time.Millisecond)
	if err := r.engine.StartDaemon(); err != nil {
		r.Fatal(err)
	}
}

// agents returns the PIDs of the agents of this home.
func (h *home) agents() []int { return agentsOf(h.dir) }

// agentsOf returns the PIDs of the agents of bundles below a folder.
func agentsOf(dir string) (pids []int) {
	for _, p := range procs.List() {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
		if err == nil && !p.Zombie && strings.Contains(string(data), "\x00agent\x00"+dir) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// checkApp checks an ended app.
func (r *torturer) checkApp(id string, o round) {
	r.Helper()
	var s spec.Status
	raw := r.torchx("status", id, "--json")
	if err := json.Unmarshal([]byte(raw.stdout), &s); err != nil {
		r.Errorf("status: %v %+v", err, raw)
		return
	}
	if s.ExitCode == nil {
		r.Errorf("got no exit code: %s", raw.stdout)
		return
	}
	r.seen[fmt.Sprintf("engine %v: %v %d", o.engine, s.State, *s.ExitCode)]++
	if unstarted := *s.ExitCode == 125 && s.State == spec.Failed; unstarted && r.containers(id) == 0 {
		return // killed during submit
	}
	restarts := 0
	if o.code != 0 {
		restarts = o.retries
	}
	if o.engine && strings.Contains(raw.stdout, "unknown exit code: ") {
		restarts = s.NumRestarts // retries of lost attempts do not count
		if o.retries == 0 {
			o.code = *s.ExitCode
		}
	}
	if *s.ExitCode != o.code || (s.State == spec.Succeeded) != (o.code == 0) || s.NumRestarts != restarts {
		r.Errorf("got %s, want exit code %d after %d restarts", raw.stdout, o.code, restarts)
	}
	for i := range o.replicas {
		r.checkLog(fmt.Sprintf("docker://torchx/%s/r/%d", id, i), o)
	}
}

// checkLog checks the log of a replica.
func (r *torturer) checkLog(replica string, o round) {
	r.Helper()
	out := r.torchx("log", replica)
	last, n, gaps := 0, 0, strings.Count(out.stdout+out.stderr, "gap: ")
	for line := range strings.Lines(out.stdout) {
		at := strings.Index(line, "line ")
		if at < 0 {
			continue
		}
		i, err := strconv.Atoi(strings.TrimSpace(line[at+len("line "):]))
		if err != nil || i <= last {
			r.Errorf("%s: got %q after line %d", replica, line, last)
			return
		}
		last, n = i, n+1
	}
	if n < o.lines && (gaps == 0 || !o.engine) || gaps > 0 && !o.engine {
		r.Errorf("%s: got %d of %d lines, %d gaps: %+v", replica, n, o.lines, gaps, out)
	}
}
