//go:build linux

package docker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/spec"
)

// started is a script that leaves a line for each start of its trial.
const started = "echo start >> /mnt/starts.$TORCHX_TRIAL; "

// sweepRun is a sweep of scripts, and the folder that its trials share.
type sweepRun struct {
	*home
	handle, shared string
}

// sweepOf is a part of the output of `status --json`.
type sweepOf struct {
	State    spec.State `json:"state"`
	ExitCode *int       `json:"exit_code"`
	Sweep    struct {
		Running   int  `json:"running"`
		BestTrial *int `json:"best_trial"`
		Trials    []struct {
			Handle   string     `json:"trial_handle"`
			State    spec.State `json:"state"`
			ExitCode *int       `json:"exit_code"`
			Value    *float64   `json:"value"`
			Stopped  string     `json:"stopped"`
		} `json:"trials"`
	} `json:"sweep"`
}

// startSweep starts a sweep in the background with one trial for each script.
func (h *home) startSweep(flags []string, scripts ...string) *sweepRun {
	h.Helper()
	s := &sweepRun{home: h, shared: h.TempDir()}
	var list strings.Builder
	for _, script := range scripts {
		line, err := json.Marshal(map[string]string{"script": started + script})
		if err != nil {
			h.Fatal(err)
		}
		fmt.Fprintf(&list, "%s\n", line)
	}
	if err := os.WriteFile(filepath.Join(h.work, "trials.jsonl"), []byte(list.String()), 0o600); err != nil {
		h.Fatal(err)
	}
	args := append([]string{"sweep", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=1", "--list", "trials.jsonl"}, flags...)
	r := h.torchx(append(args, "t.star:app", "--bind", s.shared)...)
	if s.handle = strings.TrimSpace(r.stdout); r.code != 0 || !strings.HasPrefix(s.handle, "sweep://") {
		h.Fatalf("sweep: got %+v, want a handle", r)
	}
	return s
}

// status returns how the sweep stands.
func (s *sweepRun) status() (all sweepOf) {
	s.Helper()
	r := s.torchx("status", "--json", s.handle)
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		s.Fatalf("status: %v %+v", err, r)
	}
	return all
}

// states returns the states and exit codes of the trials.
func (all *sweepOf) states() string {
	var parts []string
	for _, t := range all.Sweep.Trials {
		text := fmt.Sprint(t.State)
		if t.ExitCode != nil {
			text += fmt.Sprint(" ", *t.ExitCode)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// end waits for the end of the sweep and checks its exit code.
func (s *sweepRun) end(code int) sweepOf {
	s.Helper()
	if r := s.torchx("wait", s.handle); r.code != code {
		s.Errorf("wait: got %+v, want exit code %d\n%s", r, code, s.log())
	}
	return s.status()
}

// log returns the log of the controller, for messages of tests.
func (s *sweepRun) log() string {
	data, _ := os.ReadFile(filepath.Join(s.folder(), "agent.log"))
	return string(data)
}

func (s *sweepRun) folder() string {
	return filepath.Join(s.dir, "apps", s.handle[strings.LastIndex(s.handle, "/")+1:])
}

// checkStarts checks that trials were started once.
func (s *sweepRun) checkStarts(trials ...int) {
	s.Helper()
	for _, i := range trials {
		if n := s.starts(i); n != 1 {
			s.Errorf("trial %d was started %d times, want once\n%s", i, n, s.log())
		}
	}
}

func (s *sweepRun) starts(trial int) int {
	data, _ := os.ReadFile(filepath.Join(s.shared, fmt.Sprint("starts.", trial)))
	return strings.Count(string(data), "start")
}

// checkTrials checks that the app of each trial that has one is in the trial's state.
func (s *sweepRun) checkTrials(all sweepOf) {
	s.Helper()
	for i, t := range all.Sweep.Trials {
		if t.Handle == "" {
			continue
		}
		var own spec.Status
		r := s.torchx("status", "--json", t.Handle)
		if err := json.Unmarshal([]byte(r.stdout), &own); err != nil || own.State != t.State {
			s.Errorf("trial %d: got %+v, %v, want state %s", i, r, err, t.State)
		}
	}
}

// TestSweep: trials are containers, whose exit codes and metrics the sweep has.
func TestSweep(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const report = `echo "{\"step\": 1, \"loss\": %s}" >> $TORCHX_METRICS`
	s := h.startSweep([]string{"--parallel", "2", "--metric", "loss:min"}, fmt.Sprintf(report, "0.5"), "exit 3", fmt.Sprintf(report, "0.25"), fmt.Sprintf(report, "0.75"))
	all := s.end(3)
	if got := all.states(); all.State != spec.Failed || got != "SUCCEEDED 0, FAILED 3, SUCCEEDED 0, SUCCEEDED 0" {
		t.Errorf("got %s: %s, want FAILED by trial 1 alone\n%s", all.State, got, s.log())
	}
	if best := all.Sweep.BestTrial; best == nil || *best != 2 || all.Sweep.Trials[2].Value == nil || *all.Sweep.Trials[2].Value != 0.25 {
		t.Errorf("got %+v, want trial 2 as the best with 0.25", all.Sweep)
	}
	s.checkStarts(0, 1, 2, 3)
	s.checkTrials(all)
}

// TestSweepEarlyStop: the worst trial is stopped, and its status has the reason.
func TestSweepEarlyStop(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script := func(loss int) string {
		return fmt.Sprintf(`for i in 1 2; do echo "{\"step\": $i, \"loss\": %d}" >> $TORCHX_METRICS; done; until [ -e /mnt/end ]; do sleep 0.1; done`, loss)
	}
	s := h.startSweep([]string{"--parallel", "4", "--metric", "loss:min", "--early-stop", "median:2"}, script(1), script(1), script(1), script(9))
	const reason = "early stop: loss is worse than the median of 3 others at step 2"
	s.waitFor("the stop of trial 3", func() bool { return s.status().Sweep.Trials[3].State == spec.Cancelled })
	if err := os.WriteFile(filepath.Join(s.shared, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := s.end(0)
	if got := all.states(); !strings.HasPrefix(got, "SUCCEEDED 0, SUCCEEDED 0, SUCCEEDED 0, CANCELLED") || !strings.Contains(all.Sweep.Trials[3].Stopped, reason) {
		t.Errorf("got %s, %+v, want trial 3 stopped for %q\n%s", got, all.Sweep.Trials[3], reason, s.log())
	}
	if r := h.torchx("status", all.Sweep.Trials[3].Handle); !strings.Contains(r.stdout, reason) {
		t.Errorf("status of the trial: got %+v, want %q", r, reason)
	}
	s.checkTrials(all)
}

// TestSweepCancel: no container outlives the sweep.
func TestSweepCancel(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.startSweep([]string{"--parallel", "2"}, "sleep 600", "sleep 600", "sleep 600")
	s.waitFor("two trials", func() bool { return s.starts(0)+s.starts(1) == 2 })
	running := s.status()
	if r := h.torchx("cancel", "--wait", s.handle); r.code != 0 {
		t.Errorf("cancel: got %+v, want success", r)
	}
	all := s.end(spec.ExitCancelled)
	if got := all.states(); all.State != spec.Cancelled || strings.Count(got, "CANCELLED") != 3 || s.starts(2) != 0 {
		t.Errorf("got %s: %s, %d starts of trial 2; want all CANCELLED, and none", all.State, got, s.starts(2))
	}
	for _, trial := range running.Sweep.Trials[:2] {
		if n := h.running(trial.Handle[strings.LastIndex(trial.Handle, "/")+1:]); n != 0 {
			t.Errorf("got %d containers of %s that run, want none", n, trial.Handle)
		}
	}
	s.checkTrials(all)
}

// TestSweepKilled: the command after a kill of the controller starts another one, which takes over
// the trials that run. No trial runs twice.
func TestSweepKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const script = "until [ -e /mnt/end ]; do sleep 0.1; done; exit $TORCHX_TRIAL"
	s := h.startSweep([]string{"--parallel", "2"}, script, script, script, script)
	s.waitFor("two trials", func() bool { return s.starts(0)+s.starts(1) == 2 })
	s.kill()
	if err := os.WriteFile(filepath.Join(s.shared, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := s.end(1)
	if got := all.states(); got != "SUCCEEDED 0, FAILED 1, FAILED 2, FAILED 3" {
		t.Errorf("got %s, want the exit code of each trial\n%s", got, s.log())
	}
	s.checkStarts(0, 1, 2, 3)
	s.checkTrials(all)
}

// kill kills the controller, but no agent of a trial.
func (s *sweepRun) kill() {
	s.Helper()
	controllers := func() []int { return agentsOf(s.folder()) }
	pids := controllers()
	if len(pids) != 1 {
		s.Fatalf("got %d controllers, want one\n%s", len(pids), s.log())
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	s.waitFor("the controller's end", func() bool { return len(controllers()) == 0 })
}
