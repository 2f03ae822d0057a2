//go:build linux

package sweep

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// TestSweepRunsItsTrials: each trial is an app with its number, seed, tags and parent.
func TestSweepRunsItsTrials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{Parallel: 2}, "echo $TORCHX_TRIAL $TORCHX_SEED", "exit 3", "echo three")
	s, all := f.end(ref)
	if s.State != spec.Failed || s.ExitCode == nil || *s.ExitCode != 3 || !strings.Contains(s.Msg, "trial 1") {
		t.Errorf("got %v, exit code %v, %q; want FAILED 3 and the trial\n%s", s.State, s.ExitCode, s.Msg, f.log(ref))
	}
	if got := states(all); got != "SUCCEEDED 0, FAILED 3, SUCCEEDED 0" {
		t.Errorf("got %s", got)
	}
	if len(s.Roles) != 1 || len(s.Roles[0].Replicas) != 3 || s.Roles[0].Replicas[1].State != spec.Failed {
		t.Errorf("got roles %+v, want the trials as replicas", s.Roles)
	}
	d, err := f.Describe(t.Context(), all.Trials[2].App)
	f.must(err)
	if d.ParentRunID != ref.ID || d.Tags["sweep"] != ref.ID || d.Tags["trial"] != "2" || d.Tags["x"] != "2" {
		t.Errorf("got parent %q and tags %v, want the sweep, the trial and its parameters", d.ParentRunID, d.Tags)
	}
	if got := f.read(ref, 0, false); got != "0 100\n" {
		t.Errorf("got log %q of trial 0, want its number and seed", got)
	}
	recorded, err := f.History.Status(t.Context(), ref.Backend, ref.ID)
	f.must(err)
	if recorded.State != spec.Failed {
		t.Errorf("got %v in the history, want FAILED", recorded.State)
	}
}

// read returns the log of a trial.
func (f *fixture) read(ref history.AppKey, trial int, follow bool) string {
	f.Helper()
	inputs, err := f.Logs(f.Context(), ref, sweep.Role, []int{trial}, backend.LogOptions{Follow: follow, Tail: -1})
	f.must(err)
	var text strings.Builder
	for {
		b, err := inputs[0].Reader.Next(f.Context())
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		f.must(err)
		text.Write(b.Data)
	}
}

// TestFailFast: a failure stops the others, and what has not started never does.
func TestFailFast(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{Parallel: 2, FailFast: true}, "sleep 600", "exit 5", "touch \"$SCRATCH\"/three")
	s, all := f.end(ref)
	if got := states(all); s.State != spec.Failed || *s.ExitCode != 5 || !strings.HasPrefix(got, "CANCELLED") || !strings.HasSuffix(got, "FAILED 5, CANCELLED") {
		t.Errorf("got %v %v, %s; want FAILED 5, the others CANCELLED", s.State, *s.ExitCode, got)
	}
	if _, err := os.Stat(filepath.Join(f.scratch, "three")); err == nil {
		t.Error("trial 2 was started")
	}
}

// TestCancel: the trials end with their sweep.
func TestCancel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{Parallel: 2}, "echo up > \"$SCRATCH\"/up; sleep 600", "sleep 600", "sleep 600")
	f.waitFor("a trial to run", func() bool { _, err := os.Stat(filepath.Join(f.scratch, "up")); return err == nil })
	f.must(f.Cancel(t.Context(), ref, backend.CancelOptions{}))
	s, all := f.end(ref)
	if s.State != spec.Cancelled || *s.ExitCode != spec.ExitCancelled {
		t.Errorf("got %v %v, want CANCELLED %d", s.State, *s.ExitCode, spec.ExitCancelled)
	}
	for _, trial := range all.Trials {
		if trial.State != spec.Cancelled {
			t.Errorf("got %v of trial %d, want CANCELLED", trial.State, trial.Number)
		}
		if trial.App.ID == "" {
			continue
		}
		if own, err := f.Status(t.Context(), trial.App); err != nil || own.State != spec.Cancelled {
			t.Errorf("got %+v, %v of its app, want CANCELLED", own, err)
		}
	}
}

// TestExtend: an ended sweep goes on with more trials, and with those that failed.
func TestExtend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{}, "true", "test -e \"$SCRATCH\"/again")
	if s, _ := f.end(ref); s.State != spec.Failed {
		t.Fatalf("got %v, want FAILED", s.State)
	}
	f.must(os.WriteFile(filepath.Join(f.scratch, "again"), nil, 0o600))
	more := trials("true", "true", "echo third")[2:]
	f.must(f.ExtendSweep(t.Context(), ref, sweep.Extension{Trials: more, Failed: true}))
	s, all := f.end(ref)
	if got := states(all); s.State != spec.Succeeded || got != "SUCCEEDED 0, SUCCEEDED 0, SUCCEEDED 0" {
		t.Errorf("got %v: %s, want success of three\n%s", s.State, got, f.log(ref))
	}
	if row, err := f.History.Get(t.Context(), ref.Backend, ref.ID); err != nil || row.State != spec.Succeeded {
		t.Errorf("got %v, %v in the history, want SUCCEEDED", row.State, err)
	}
}

// TestDamagedJournal: no trial of an ended sweep is shown as one that is still to run.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref := f.submit(sweep.Rules{Parallel: 1}, "exit 0", "exit 0")
	f.end(ref)
	path := filepath.Join(f.home, "apps", ref.ID, "journal.jsonl")
	data, err := os.ReadFile(path)
	f.must(err)
	first, _, _ := strings.Cut(string(data), `"trial":1`)
	f.must(os.WriteFile(path, []byte(first+"\n\x00{garbage"), 0o600))
	s, all := f.end(ref)
	if got := states(all); got != "SUCCEEDED 0, UNKNOWN" || !strings.Contains(all.Trials[1].Msg, "damaged") {
		t.Errorf("got %s with %+v, want that the end of the second is not known", got, all.Trials[1])
	}
	if got := s.Roles[0].Replicas[1]; got.State != spec.Succeeded {
		t.Errorf("got replica %+v, want the state of the history", got)
	}
}
