//go:build unix

package local

import (
	"os"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestSidecar: a sidecar that ignores SIGTERM is killed after the grace period, with its
// child processes.
func TestSidecar(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := t.TempDir()
	store := order(sh("store", 1, "trap '' TERM; sleep 300 & echo $! > \""+dir+"\"/child; wait; wait; while :; do sleep 1; done"), map[string]any{"sidecar": true})
	train := sh("train", 2, "until test -s \""+dir+"\"/child; do sleep 0.01; done")
	_, s := f.run(backend.Config{"grace_period": 0.2}, store, train)
	f.expect(s, spec.Succeeded, 0)
	if r := s.Roles[0].Replicas[0]; r.State != spec.Succeeded || *r.ExitCode != 0 || r.Msg != "stopped when all other roles had succeeded (exit code 137)" {
		t.Errorf("the sidecar is %+v", r)
	}
	if pid := f.pid(dir + "/child"); alive(pid) {
		t.Errorf("process %d is still alive", pid)
	}
}

// TestKilledAgentOfSidecars: when only sidecars are left, the result is already recorded.
func TestKilledAgentOfSidecars(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := t.TempDir()
	store := order(sh("store", 1, "trap 'echo > \""+dir+"\"/asked' TERM; echo $$ > \""+dir+"\"/pid; while :; do sleep 0.05; done"), map[string]any{"sidecar": true})
	train := sh("train", 1, "until test -s \""+dir+"\"/pid; do sleep 0.01; done")
	id := f.submit(backend.Config{"grace_period": 300.0}, store, train)
	f.waitFile(dir + "/asked")
	f.killAgent(id)
	s := f.wait(id)
	f.expect(s, spec.Succeeded, 0)
	if r := s.Roles[0].Replicas[0]; r.State != spec.Succeeded {
		t.Errorf("the sidecar is %+v", r)
	}
	if pid := f.pid(dir + "/pid"); alive(pid) {
		t.Errorf("the sidecar, process %d, is still alive", pid)
	}
}

// TestKilledAgentAfterRestart: restarts are recorded, and roles that were not run again
// remain successful.
func TestKilledAgentAfterRestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := t.TempDir()
	prep := sh("prep", 1, "echo >> \""+dir+"\"/prep")
	train := sh("train", 1, "echo >> \""+dir+"\"/train; [ $(wc -l < \""+dir+"\"/train) -gt 1 ] || exit 7; echo > \""+dir+"\"/again; sleep 300")
	train.MaxRetries = 1
	id := f.submit(nil, prep, order(train, map[string]any{"depends_on": map[string]any{"prep": "succeeded"}}))
	f.waitFile(dir + "/again")
	f.waitFor("the record of the second start", func() bool {
		s, err := f.b.Describe(f.ctx, id)
		return err == nil && s.NumRestarts == 1
	})
	f.killAgent(id)
	s := f.wait(id)
	f.expect(s, spec.Failed, spec.ExitNotStarted)
	if r := s.Roles[0].Replicas[0]; r.State != spec.Succeeded || r.Attempt != 0 {
		t.Errorf("prep is %+v, want one attempt that succeeded", r)
	}
	if want := "train/0 failed (exit code 7): attempt 2 of 2, restarting the app"; len(s.Restarts) != 1 || s.Restarts[0].String() != want {
		t.Errorf("restarts are %v, want %s", s.Restarts, want)
	}
	if f.waitFile(dir + "/prep"); s.NumRestarts != 1 {
		t.Errorf("%d restarts, want 1", s.NumRestarts)
	}
}

// TestMaxParallel: replicas count themselves, and no more than allowed run at the same time.
func TestMaxParallel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := t.TempDir()
	work := order(sh("work", 9, "cd \""+dir+"\" && touch ${replica_id}.run && ls *.run | wc -l >> counts && sleep 0.05; rm ${replica_id}.run"), map[string]any{"max_parallel": 3})
	_, s := f.run(nil, work)
	f.expect(s, spec.Succeeded, 0)
	data, err := os.ReadFile(dir + "/counts")
	counts := strings.Fields(string(data))
	if err != nil || len(counts) != 9 || slices.Max(counts) > "3" {
		t.Errorf("got counts %v, %v, want nine of at most 3", counts, err)
	}
}
