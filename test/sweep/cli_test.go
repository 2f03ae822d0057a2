//go:build linux

package sweep

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// command returns a command of torchx that dies at a failpoint, "" for none.
func (f *fixture) command(point string, args ...string) *exec.Cmd {
	c := exec.CommandContext(f.Context(), exe, args...)
	c.Dir = f.scratch
	c.Env = append(os.Environ(), "TORCHX_HOME="+f.home, "SCRATCH="+f.scratch, failpoint.Variable+"="+point)
	return c
}

// sweeps returns the sweeps of the home.
func (f *fixture) sweeps() (refs []history.AppKey) {
	f.Helper()
	rows, err := f.List(f.Context(), runner.Filter{Backend: "sweep", All: true})
	f.must(err)
	for _, row := range rows {
		refs = append(refs, row.AppKey)
	}
	return refs
}

// checkWhole checks that a sweep whose submission was killed runs all trials, or none.
func (f *fixture) checkWhole(ref history.AppKey, n int) {
	f.Helper()
	f.waitFor("the end of sweep "+ref.ID, func() bool {
		s, err := f.Status(f.Context(), ref)
		f.must(err)
		return s.State.Terminal()
	})
	s, err := f.Status(f.Context(), ref)
	f.must(err)
	all, err := f.Trials(f.Context(), ref)
	switch {
	case s.State == spec.Failed && errors.Is(err, backend.ErrNotFound), // its folder was never complete
		s.State == spec.Failed && err == nil && all.Done == 0 && all.Alive == 0: // … or never had a controller
	case err != nil || s.State != spec.Succeeded || all.Done != n || len(all.Trials) != n:
		f.Errorf("got %v, %+v, %v of sweep %s; want the success of %d trials, or none\n%s", s.State, all, err, ref.ID, n, f.log(ref))
	}
}

// TestKilledSubmission: a command that is killed leaves a whole sweep or none.
func TestKilledSubmission(t *testing.T) {
	t.Parallel()
	args := []string{"sweep", "-d", "--parallel", "2", "--repeat", "3", "utils.sh", "--", "true"}
	for _, point := range []string{failpoint.Recorded, failpoint.Bundled, failpoint.Spawned} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if err := f.command(point, args...).Run(); err == nil {
				t.Error("the command was not killed")
			}
			f.Reconcile(t.Context())
			for _, ref := range f.sweeps() {
				f.checkWhole(ref, 3)
			}
		})
	}
	t.Run("at any time", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		for range 6 {
			c := f.command("", args...)
			f.must(c.Start())
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) //nolint:forbidigo // kills at any time
			_ = c.Process.Kill()                                         // it may have ended
			_ = c.Wait()
		}
		f.Reconcile(t.Context())
		for _, ref := range f.sweeps() {
			f.checkWhole(ref, 3)
		}
	})
}

// TestKilledResume: a command that is killed while it extends a sweep has added all trials, or
// none. The sweep ends, and can be extended again.
func TestKilledResume(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]int{failpoint.SweepExtending: 2, failpoint.SweepExtended: 4} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.run("sweep", "--random", "2", "--choice", "msg=a,b,c", "utils.echo")
			ref := f.sweeps()[0]
			if err := f.command(point, "sweep", "resume", "-", "--random", "2").Run(); err == nil {
				t.Error("the command was not killed")
			}
			f.Reconcile(t.Context())
			f.checkWhole(ref, want)
			f.run("sweep", "resume", "-", "--random", "2")
			f.checkWhole(ref, want+2)
		})
	}
}

// run runs a command of torchx that succeeds.
func (f *fixture) run(args ...string) {
	f.Helper()
	if out, err := f.command("", args...).CombinedOutput(); err != nil {
		f.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
}
