package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// world runs the trials of a machine at random, as backends would.
type world struct {
	*testing.T
	random  *rand.Rand
	m       *Machine
	cfg     MachineConfig
	journal []Event
	now     time.Time
	starts  map[int]int // successful launches by trial
}

func (w *world) apply(e Event) {
	w.Helper()
	e.Time = w.now
	if err := w.m.Apply(e); err != nil {
		w.Fatalf("after %d events: %v", len(w.journal), err)
	}
	w.journal = append(w.journal, e)
}

// act does what the machine wants, and reports whether there was something.
func (w *world) act() bool {
	actions, wake := w.m.Next(w.now)
	for _, a := range actions {
		w.apply(Event{Kind: a.Kind, Trial: a.Trial, Msg: a.Msg, App: fmt.Sprintf("a%d", len(w.journal))})
	}
	if len(actions) == 0 && w.m.Count().Alive == 0 && wake.After(w.now) {
		w.now = wake
		return true
	}
	return len(actions) > 0
}

// happen lets something happen to one living trial.
func (w *world) happen() {
	var alive []int
	for i, t := range w.m.Trials() {
		if t.Phase == Starting || t.Phase == Running || t.Phase == Stopping {
			alive = append(alive, i)
		}
	}
	if len(alive) > w.cfg.Parallel {
		w.Fatalf("%d trials are alive, want at most %d", len(alive), w.cfg.Parallel)
	}
	if len(alive) == 0 {
		return
	}
	n := alive[w.random.IntN(len(alive))]
	switch t := w.m.Trials()[n]; t.Phase {
	case Starting:
		if w.random.IntN(4) == 0 {
			w.apply(Event{Kind: Refuse, Trial: n, Msg: "quota", Until: w.now.Add(time.Minute)})
			return
		}
		w.starts[n]++
		w.apply(Event{Kind: Up, Trial: n})
	case Running:
		switch w.random.IntN(8) {
		case 0:
			w.apply(Event{Kind: Lost, Trial: n, Msg: "preempted"})
		case 1:
			w.apply(Event{Kind: End, Trial: n, State: spec.Failed, Code: new(3)})
		case 2:
			w.apply(Event{Kind: Stop, Trial: n, Msg: "early stop"})
		default:
			w.apply(Event{Kind: End, Trial: n, State: spec.Succeeded, Code: new(0)})
		}
	case Stopping:
		w.apply(Event{Kind: End, Trial: n, State: spec.Cancelled, Code: new(130)})
	}
}

// TestRandomSweeps: sweeps of any course end, never run more than allowed, start a trial again only
// after it was lost, and each journal replays to the same state.
func TestRandomSweeps(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		cfg := MachineConfig{Trials: 1 + random.IntN(30), Parallel: 1 + random.IntN(6), FailFast: random.IntN(3) == 0}
		w := &world{T: t, random: random, m: NewMachine(cfg), cfg: cfg, now: time.Unix(1000, 0), starts: map[int]int{}}
		haltAt := random.IntN(200)
		for steps := 0; !w.m.Done(); steps++ {
			if steps > 10_000 {
				t.Fatalf("seed %d: the sweep does not end: %+v", seed, w.m.Count())
			}
			if steps == haltAt {
				w.apply(Event{Kind: Halt, Cause: ByUser, Msg: "canceled"})
			}
			if !w.act() || random.IntN(2) == 0 {
				w.happen()
			}
		}
		replayed := NewMachine(cfg)
		for _, e := range w.journal {
			if err := replayed.Apply(e); err != nil {
				t.Fatalf("seed %d: replay: %v", seed, err)
			}
		}
		if !reflect.DeepEqual(replayed.trials, w.m.trials) || replayed.cause != w.m.cause || replayed.failed != w.m.failed {
			t.Fatalf("seed %d: the replayed state differs", seed)
		}
		for n, starts := range w.starts {
			if starts > 1+w.m.trials[n].Lost {
				t.Errorf("seed %d: trial %d ran %d times and was lost %d times", seed, n, starts, w.m.trials[n].Lost)
			}
		}
		if c := w.m.Count(); c.Done != cfg.Trials || c.Alive != 0 || c.Waiting != 0 {
			t.Errorf("seed %d: got %+v, want all %d done", seed, c, cfg.Trials)
		}
	}
}

// TestResult: early stopped trials and those that a met goal made needless do not count as failures.
func TestResult(t *testing.T) {
	t.Parallel()
	end := func(n int, s spec.State, code int) Event {
		return Event{Kind: End, Trial: n, State: s, Code: &code}
	}
	up := func(n int) []Event { return []Event{{Kind: Launch, Trial: n}, {Kind: Up, Trial: n}} }
	for name, c := range map[string]struct {
		events []Event
		want   string
	}{
		"all succeeded":    {slices.Concat(up(0), up(1), []Event{end(0, spec.Succeeded, 0), end(1, spec.Succeeded, 0)}), "SUCCEEDED 0"},
		"the first failed": {slices.Concat(up(0), up(1), []Event{end(1, spec.Failed, 7), end(0, spec.Failed, 3)}), "FAILED 7"},
		"early stop":       {slices.Concat(up(0), up(1), []Event{{Kind: Stop, Trial: 0, Msg: "early"}, end(0, spec.Cancelled, 130), end(1, spec.Succeeded, 0)}), "SUCCEEDED 0"},
		"a trial canceled": {slices.Concat(up(0), up(1), []Event{end(0, spec.Cancelled, 130), end(1, spec.Succeeded, 0)}), "FAILED 130"},
		"goal":             {slices.Concat(up(0), []Event{{Kind: Halt, Cause: ByGoal}, {Kind: Drop, Trial: 1}, end(0, spec.Cancelled, 130)}), "SUCCEEDED 0"},
		"user":             {slices.Concat(up(0), []Event{{Kind: Halt, Cause: ByGoal}, {Kind: Halt, Cause: ByUser}, {Kind: Drop, Trial: 1}, end(0, spec.Cancelled, 130)}), "CANCELLED -1"},
	} {
		m := NewMachine(MachineConfig{Trials: 2, Parallel: 2})
		for _, e := range c.events {
			if err := m.Apply(e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		state, code, _ := m.Result()
		n := -1
		if code != nil {
			n = *code
		}
		if got := fmt.Sprintf("%v %d", state, n); got != c.want || !m.Done() {
			t.Errorf("%s: got %s, done %v, want %s", name, got, m.Done(), c.want)
		}
	}
}

// TestDamagedEvents: events that do not fit change nothing.
func TestDamagedEvents(t *testing.T) {
	t.Parallel()
	m := NewMachine(MachineConfig{Trials: 1})
	for _, e := range []Event{
		{Kind: Up}, {Kind: End}, {Kind: "dance"}, {Kind: Launch, Trial: 1}, {Kind: Launch, Trial: -1}, {Kind: Extend}, {Kind: Extend, Trials: -3},
	} {
		if err := m.Apply(e); err == nil || m.trials[0] != (TrialState{}) {
			t.Errorf("%+v: got error %v and %+v, want an error and no change", e, err, m.trials[0])
		}
	}
}

// TestLostTooOften: a trial that is lost again and again fails.
func TestLostTooOften(t *testing.T) {
	t.Parallel()
	m := NewMachine(MachineConfig{Trials: 1})
	for n := 0; !m.Done(); n++ {
		if n > maxLost {
			t.Fatalf("started %d times, want an end", n)
		}
		for _, k := range []Kind{Launch, Up, Lost} {
			if err := m.Apply(Event{Kind: k, Msg: "node lost"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := m.trials[0]; got.State != spec.Failed || !strings.Contains(got.Msg, "node lost") {
		t.Errorf("got %+v, want FAILED with the reason", got)
	}
}

// TestEarlyStop: of 40 curves, the rules stop bad ones and never the best.
func TestEarlyStop(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"median", "median:5", "asha", "asha:2:3"} {
		rule, err := ParseStopRule(text)
		if err != nil {
			t.Fatal(err)
		}
		stopped := map[int]string{}
		for step := int64(1); step <= 256; step++ {
			for trial := range 40 {
				if stopped[trial] != "" {
					continue
				}
				value := float64(trial) + 10/float64(step)
				if trial == 39 {
					value = math.NaN()
				}
				rule.Add(trial, step, value)
				if reason := rule.Judge(trial); reason != "" {
					stopped[trial] = reason
				}
			}
		}
		if stopped[0] != "" || len(stopped) < 20 || stopped[39] == "" {
			t.Errorf("%s: stopped %d, the best: %q, NaN: %q; want at least half, not the best, and NaN", text, len(stopped), stopped[0], stopped[39])
		}
	}
	for _, text := range []string{"", "mean", "median:0", "median:1:2", "asha:1:1", "asha:x", "asha:1:2:3", "asha:99999999999999999999"} {
		if _, err := ParseStopRule(text); err == nil || !strings.Contains(err.Error(), "median") && !strings.Contains(err.Error(), "whole number") {
			t.Errorf("%q: got %v, want an error with what is valid", text, err)
		}
	}
}

// TestCurveIsThinned: a long curve keeps a bounded number of points and its running mean.
func TestCurveIsThinned(t *testing.T) {
	t.Parallel()
	c := &curve{every: 1}
	for step := range int64(1_000_000) {
		c.add(step, 5, curvePoints)
		c.add(step-1, 1000, curvePoints) // a restart repeats steps
	}
	if mean, ok := c.meanAt(700_000); !ok || mean != 5 || len(c.points) > curvePoints {
		t.Errorf("got %v, %v and %d points, want 5, true and at most %d", mean, ok, len(c.points), curvePoints)
	}
	if _, ok := c.meanAt(2_000_000); ok {
		t.Error("got a mean at a step that was not reached")
	}
}

// TestJudgedOnce: asha judges a trial where it reaches a rung, once; what is not judged there is not
// made up for.
func TestJudgedOnce(t *testing.T) {
	t.Parallel()
	rule, err := ParseStopRule("asha:10:2")
	if err != nil {
		t.Fatal(err)
	}
	for trial, value := range []float64{1, 2, 3, 4} {
		rule.Add(trial, 10, value)
	}
	if got := rule.Judge(3); !strings.Contains(got, "best 2 of 4 at step 10") {
		t.Errorf("got %q, want the last of 4 stopped", got)
	}
	rule.Add(3, 19, 9)
	if got := rule.Judge(3); got != "" {
		t.Errorf("before the next rung: got %q, want nothing", got)
	}
	rule.Add(0, math.MaxInt64, 1)
	if got := rule.Judge(0); got != "" {
		t.Errorf("the best at the greatest step: got %q, want nothing", got)
	}
	if got := rule.Judge(77); got != "" {
		t.Errorf("an unknown trial: got %q, want nothing", got)
	}
}
