package sweep

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/metrics"
	"torchx/runtime/sweep"
)

// fixture has the folders of trials, and a watcher that makes no passes by itself.
type fixture struct {
	*testing.T
	dir string
	w   *watcher
	out bytes.Buffer
}

func newFixture(t *testing.T, r sweep.Rules) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: t.TempDir()}
	f.w = f.watch(r)
	return f
}

func (f *fixture) watch(r sweep.Rules) *watcher {
	f.Helper()
	w, err := newWatcher(r, log.New(&f.out, "", 0))
	if err != nil || w == nil {
		f.Fatalf("got %v, %v, want a watcher", w, err)
	}
	f.Cleanup(w.close)
	return w
}

func (f *fixture) folder(trial int) string {
	dir := filepath.Join(f.dir, fmt.Sprint(trial))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	return dir
}

// report stores values of a trial at steps from 1 on, or after those it has.
func (f *fixture) report(trial int, name string, values ...float64) {
	f.Helper()
	s, err := metrics.Open(f.folder(trial))
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	first := int64(1)
	for _, sum := range s.Summaries() {
		if sum.Name == name {
			first = sum.LastStep + 1
		}
	}
	for i, v := range values {
		step := first + int64(i)
		s.Add(metrics.Key{Role: "r", Name: name}, metrics.Point{Time: time.Unix(step, 0), Step: step, HasStep: true, Value: v}, metrics.SourceFile)
	}
	if err := s.Flush(nil); err != nil {
		f.Fatal(err)
	}
}

// pass makes a pass of a watcher that is not started by the test, and returns its verdicts.
func (f *fixture) pass(w *watcher) (all []string) {
	f.Helper()
	w.pass()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.queue {
		all = append(all, fmt.Sprintf("%d %v %s", v.Trial, v.Done, v.Reason))
	}
	w.queue = nil
	slices.Sort(all)
	return all
}

func (f *fixture) want(got []string, want ...string) {
	f.Helper()
	if !slices.Equal(got, want) {
		f.Errorf("got verdicts %q, want %q", got, want)
	}
}

// TestMedian: a trial that is worse than the median of the others is stopped, once, and a
// watcher that begins again does not judge what was reported before it.
func TestMedian(t *testing.T) {
	t.Parallel()
	rules := sweep.Rules{Metric: "acc", Goal: metrics.Max, EarlyStop: "median:2"}
	f := newFixture(t, rules)
	for trial, value := range []float64{0.9, 0.9, 0.9, 0.1} {
		f.w.begin(trial, f.folder(trial))
		f.report(trial, "acc", value)
	}
	f.pass(f.w) // not started: nothing is judged
	f.want(f.pass(f.w))
	for trial, value := range []float64{0.9, 0.9, 0.9} {
		f.report(trial, "acc", value)
	}
	f.pass(f.w)
	f.report(3, "acc", 0.1)
	f.want(f.pass(f.w), "3 false early stop: acc is worse than the median of 3 others at step 2")
	f.report(3, "acc", 0.1)
	f.want(f.pass(f.w))
	if v, verdict := f.w.end(0); v == nil || v.Value != 0.9 || *v.Step != 1 || verdict != nil {
		t.Errorf("got %+v, %+v, want 0.9 at the first step and no verdict", v, verdict)
	}

	again := f.watch(rules)
	for trial := range 4 {
		again.begin(trial, f.folder(trial))
	}
	again.end(0)
	f.want(f.pass(again))
	f.report(3, "acc", 0.1)
	f.want(f.pass(again)) // the trial that has ended did not reach this step
	for trial := 1; trial < 3; trial++ {
		f.report(trial, "acc", 0.9, 0.9, 0.9)
	}
	f.report(0, "acc", 0.9, 0.9) // too late: it has ended
	f.pass(again)
	again.begin(4, f.folder(4))
	f.report(4, "acc", 0.9, 0.9, 0.9, 0.9, 0.9)
	f.want(f.pass(again), "3 false early stop: acc is worse than the median of 3 others at step 4") // though it reported before
}

// TestCondition: the first trial that meets the condition ends the sweep, whether it runs or has
// just ended, by a metric that is not the sweep's.
func TestCondition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		condition string
		values    []float64
		want      string
	}{
		{"loss<0.1", []float64{0.5, math.NaN(), 0.0999, 3}, "goal reached: trial 7 has loss 0.0999 (--stop-when loss<0.1)"},
		{"min(loss)<=0.1", []float64{0.5, math.Inf(-1), 0.1}, "goal reached: trial 7 has loss 0.1 (--stop-when min(loss)<=0.1)"},
		{"max(loss)>2", []float64{1, 3}, "goal reached: trial 7 has loss 3 (--stop-when max(loss)>2)"},
		{"loss<0.1", []float64{0.5, 0.1}, ""},
		{"loss>-inf", []float64{math.NaN()}, ""},
	} {
		for _, atEnd := range []bool{false, true} {
			f := newFixture(t, sweep.Rules{Metric: "acc", Goal: metrics.Max, StopWhen: c.condition})
			f.w.begin(7, f.folder(7))
			f.w.begin(8, f.folder(8))
			f.report(7, "loss", c.values...)
			f.report(8, "acc", 1, 0)
			got := ""
			if !atEnd {
				got = strings.TrimPrefix(strings.Join(f.pass(f.w), ";"), "7 true ")
			} else {
				f.w.mu.Lock()
				f.w.started = true
				f.w.mu.Unlock()
				if _, v := f.w.end(7); v != nil {
					got = v.Reason
				}
			}
			if got != c.want {
				t.Errorf("%s, at the end %v: got %q, want %q", c.condition, atEnd, got, c.want)
			}
			if v, _ := f.w.end(8); v == nil || v.Value != 1 {
				t.Errorf("got %+v, want the best value 1", v)
			}
			f.report(8, "loss", 0)
			f.w.begin(8, f.folder(8))
			if c.want != "" {
				f.want(f.pass(f.w)) // met before
			}
		}
	}
}

// TestDelivery: a watcher that was started reads by itself and delivers verdicts.
func TestDelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t, sweep.Rules{Metric: "loss", EarlyStop: "asha:1:2", StopWhen: "loss<0"})
	for trial := range 4 {
		f.w.begin(trial, f.folder(trial))
		f.report(trial, "loss", float64(trial))
	}
	f.w.begin(5, f.folder(5))
	f.report(5, "loss", -1)
	if _, v := f.w.end(5); v != nil {
		t.Errorf("before the start: got %+v, want no verdict", v)
	}
	f.w.start()
	next := func() verdict {
		t.Helper()
		select {
		case v := <-f.w.verdicts:
			return v
		case <-time.After(time.Minute):
			t.Fatal("no verdict after a minute")
			panic("unreachable")
		}
	}
	f.report(3, "loss", 9)
	for trial := range 3 {
		f.report(trial, "loss", float64(trial))
	}
	f.w.begin(4, f.folder(4))
	f.report(4, "loss", 99, 99, 99, 99)
	if v := next(); v.Done || !strings.Contains(v.Reason, "not among the best") {
		t.Errorf("got %+v, want an early stop", v)
	}
	f.report(0, "loss", -1)
	for v := next(); !v.Done; v = next() {
	}
}

// TestDamagedMetrics: damage of a trial is logged once and stops nothing.
func TestDamagedMetrics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, sweep.Rules{Metric: "loss", EarlyStop: "median"})
	f.report(0, "loss", 1, 2)
	file := filepath.Join(f.folder(0), metrics.Folder, "points.dat")
	if err := os.WriteFile(file, append([]byte("TXMTRC01"), make([]byte, 100)...), 0o600); err != nil {
		t.Fatal(err)
	}
	f.w.begin(0, f.folder(0))
	f.want(f.pass(f.w))
	f.want(f.pass(f.w))
	if v, _ := f.w.end(0); v != nil || strings.Count(f.out.String(), "trial 0") != 1 {
		t.Errorf("got %+v and %q, want no value and one line", v, f.out.String())
	}
	if v, verdict := f.w.end(0); v != nil || verdict != nil {
		t.Errorf("a trial that never began: got %+v, %+v, want nothing", v, verdict)
	}
}

// TestRules: a sweep without a metric needs no watcher; wrong rules are errors.
func TestRules(t *testing.T) {
	t.Parallel()
	l := log.New(&bytes.Buffer{}, "", 0)
	if w, err := newWatcher(sweep.Rules{Parallel: 3}, l); w != nil || err != nil {
		t.Errorf("got %v, %v, want none", w, err)
	}
	for _, r := range []sweep.Rules{{StopWhen: "loss"}, {StopWhen: "loss!=1"}, {Metric: "loss", EarlyStop: "mean"}} {
		if w, err := newWatcher(r, l); w != nil || err == nil {
			t.Errorf("%+v: got %v, %v, want an error", r, w, err)
		}
	}
}
