//go:build linux

package sweep

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
	"torchx/test/long"
)

// counted is a script that leaves a line for each start of its trial.
const counted = "echo start >> \"$SCRATCH\"/starts.$TORCHX_TRIAL; "

// checkStarts checks that each of n trials was started once.
func (f *fixture) checkStarts(n int) {
	f.Helper()
	for i := range n {
		data, _ := os.ReadFile(filepath.Join(f.scratch, fmt.Sprint("starts.", i)))
		if got := strings.Count(string(data), "start"); got != 1 {
			f.Errorf("trial %d was started %d times, want once", i, got)
		}
	}
}

// checkApps checks that each trial has exactly one app, whose state is that of the trial.
func (f *fixture) checkApps(ref history.AppKey, all *sweep.Snapshot) {
	f.Helper()
	rows, err := f.List(f.Context(), runner.Filter{Parents: []string{ref.ID}, All: true})
	f.must(err)
	apps := map[string]spec.State{}
	for _, row := range rows {
		apps[row.ID] = row.State
	}
	for _, trial := range all.Trials {
		if state := apps[trial.App.ID]; state != trial.State {
			f.Errorf("got %v of the app %s of trial %d, want %v", state, trial.App.ID, trial.Number, trial.State)
		}
	}
}

// TestKilledController: a kill at each step of the controller loses no trial and starts none twice.
// The next command starts another controller.
func TestKilledController(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		failpoint.Recorded, failpoint.Bundled, failpoint.Spawned, failpoint.Spawned + ":3",
		failpoint.TrialChosen, failpoint.TrialChosen + ":3", failpoint.TrialSubmitted, failpoint.TrialSubmitted + ":2",
		failpoint.TrialUp, failpoint.TrialEnded, failpoint.TrialEndRecorded + ":2",
		failpoint.Ended, failpoint.ResultWritten, failpoint.EndNoted, failpoint.HistoryWritten,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(point, ":") {
				long.Test(t)
			}
			f := newFixtureAt(t, point)
			ref := f.submit(sweep.Rules{Parallel: 2}, counted, counted+"exit 4", counted, counted+"sleep 0.2")
			f.waitFor("the controller to die", func() bool { return f.supervisor(ref.ID) == 0 })
			f.Reconcile(t.Context())
			s, all := f.end(ref)
			if got := states(all); s.State != spec.Failed || *s.ExitCode != 4 || got != "SUCCEEDED 0, FAILED 4, SUCCEEDED 0, SUCCEEDED 0" {
				t.Errorf("got %v %v: %s; want FAILED 4, of trial 1\n%s", s.State, *s.ExitCode, got, f.log(ref))
			}
			f.checkStarts(4)
			f.checkApps(ref, all)
		})
	}
}

// TestKilledWhileStopping: the next controller stops the trials that the journal says to stop.
func TestKilledWhileStopping(t *testing.T) {
	t.Parallel()
	f := newFixtureAt(t, failpoint.TrialStopping+":2")
	ref := f.submit(sweep.Rules{Parallel: 3}, counted+"sleep 600", counted+"sleep 600", counted+"sleep 600", counted)
	f.waitFor("three trials", func() bool { return f.trialsOf(ref).Alive == 3 })
	for i := range 3 {
		f.waitFor("the start of a trial", func() bool { _, err := os.Stat(filepath.Join(f.scratch, fmt.Sprint("starts.", i))); return err == nil })
	}
	f.must(f.Cancel(t.Context(), ref, backend.CancelOptions{}))
	f.waitFor("the controller to die", func() bool { return f.supervisor(ref.ID) == 0 })
	f.Reconcile(t.Context())
	s, all := f.end(ref)
	if got := states(all); s.State != spec.Cancelled || got != "CANCELLED 130, CANCELLED 130, CANCELLED 130, CANCELLED" {
		t.Errorf("got %v: %s, want all CANCELLED\n%s", s.State, got, f.log(ref))
	}
	f.checkStarts(3)
	f.checkApps(ref, &sweep.Snapshot{Trials: all.Trials[:3]})
}

// TestKilledTrial: a trial whose supervisor is killed starts again, and that does not count.
func TestKilledTrial(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{}, "test -e \"$SCRATCH\"/second && exit 0; touch \"$SCRATCH\"/second; sleep 600")
	f.waitFor("the trial", func() bool { _, err := os.Stat(filepath.Join(f.scratch, "second")); return err == nil })
	first := f.trialsOf(ref).Trials[0].App
	f.kill(first.ID)
	s, all := f.end(ref)
	if s.State != spec.Succeeded || all.Trials[0].Lost != 1 || all.Trials[0].App == first {
		t.Errorf("got %v, %+v; want the success of another app\n%s", s.State, all.Trials[0], f.log(ref))
	}
}

// TestDeletedTrial: a trial that is deleted by hand ends; the sweep does not hang.
func TestDeletedTrial(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{}, "touch \"$SCRATCH\"/up; sleep 600")
	f.waitFor("the trial", func() bool { _, err := os.Stat(filepath.Join(f.scratch, "up")); return err == nil })
	app := f.trialsOf(ref).Trials[0].App
	f.waitFor("the folder of the trial to be gone", func() bool { return os.RemoveAll(filepath.Join(f.home, "apps", app.ID)) == nil })
	s, all := f.end(ref)
	if !s.State.Terminal() || !all.Trials[0].State.Terminal() {
		t.Errorf("got %v, %+v; want an end", s.State, all.Trials[0])
	}
}

// TestRandomKills: however often controllers are killed, each trial runs once.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	scripts := make([]string, long.N(40, 10))
	for i := range scripts {
		scripts[i] = counted + fmt.Sprintf("sleep 0.0%d", i%10)
	}
	ref := f.submit(sweep.Rules{Parallel: 3}, scripts...)
	ctx := t.Context()
	for kills := 0; ; kills++ {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) //nolint:forbidigo // kills at any time
		f.kill(ref.ID)
		f.Reconcile(ctx)
		s, err := f.Status(ctx, ref)
		f.must(err)
		if s.State.Terminal() || kills > 1000 {
			break
		}
	}
	s, all := f.end(ref)
	if s.State != spec.Succeeded || all.Done != len(scripts) {
		t.Errorf("got %v, %+v; want the success of all trials\n%s", s.State, all.Counts, f.log(ref))
	}
	f.checkStarts(len(scripts))
	f.checkApps(ref, all)
}

// TestKilledExtension: an extension that is interrupted is repeated, or was complete.
func TestKilledExtension(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{}, counted)
	f.end(ref)
	dir := filepath.Join(f.home, "apps", ref.ID)
	// What a kill leaves before the event is written: a trial without it, the last line cut short.
	file, err := os.OpenFile(filepath.Join(dir, "trials.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	f.must(err)
	_, err = file.WriteString(`{"trial":1,"args":[]}` + "\n" + `{"trial":2,"ar`)
	f.must(err)
	f.must(file.Close())
	f.must(f.ExtendSweep(t.Context(), ref, sweep.Extension{Trials: trials("", counted, counted)[1:]}))
	s, all := f.end(ref)
	if got := states(all); s.State != spec.Succeeded || got != "SUCCEEDED 0, SUCCEEDED 0, SUCCEEDED 0" {
		t.Errorf("got %v: %s, want the success of three\n%s", s.State, got, f.log(ref))
	}
	f.checkStarts(3)
}
