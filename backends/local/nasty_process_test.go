//go:build linux

package local

import (
	"fmt"
	"path/filepath"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
	"torchx/test/long"
)

// countMarked counts the processes with a variable in their environment.
func countMarked(mark string) (n int) {
	for _, p := range procs.List() {
		if !p.Zombie && procs.HasEnv(p.PID, mark) {
			n++
		}
	}
	return n
}

// No process that a replica starts outlives the app, even if it tries to hide.
func TestNastyProcesses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		cancel       bool // otherwise the leader exits
		state        spec.State
		code         int
	}{
		{"ignores TERM", `trap "" TERM; echo up > up; while :; do sleep 0.05; done`, true, spec.Cancelled, 130},
		{"children ignore TERM", `sh -c 'trap "" TERM; while :; do sleep 0.05; done' & echo up > up; wait`, true, spec.Cancelled, 130},
		{"daemon", `setsid sh -c 'sleep 600 & sleep 600' & echo up > up; exit 4`, false, spec.Failed, 4},
		{"daemon that ignores TERM", `setsid sh -c 'trap "" TERM; echo up > up; while :; do sleep 0.05; done' & while ! test -e up; do sleep 0.01; done`, false, spec.Succeeded, 0},
		{"daemon of a daemon", `(setsid sh -c 'setsid sleep 600 & exit 0' &) ; echo up > up; exit 0`, false, spec.Succeeded, 0},
		{"stopped child", `sh -c 'kill -STOP $$' & echo up > up; exit 0`, false, spec.Succeeded, 0},
		{"many children", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do sleep 600 & i=$((i+1)); done; echo up > up; exit 6`, long.N(1000, 100)), false, spec.Failed, 6},
		{"many short children", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do (setsid true &); i=$((i+1)); done; echo up > up; exit 0`, long.N(3000, 200)), false, spec.Succeeded, 0},
		{"writes forever in the background", `yes & echo up > up; sleep 0.2; exit 5`, false, spec.Failed, 5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			role := sh("a", 1, test.script)
			mark := "NASTY=" + f.home
			role.Env.Set("NASTY", f.home)
			p := f.plan(backend.Config{"grace_period": 0.3}, role)
			if err := f.b.Submit(f.ctx, p); err != nil {
				t.Fatal(err)
			}
			f.waitFile(filepath.Join(p.Request.(*Request).RoleParams[0].Value[0].Cwd, "up"))
			if test.cancel {
				if err := f.b.Cancel(f.ctx, p.ID, backend.CancelOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			f.expect(f.wait(p.ID), test.state, test.code)
			if n := countMarked(mark); n > 0 {
				t.Errorf("got %d processes after the app's end, want none", n)
			}
		})
	}
}
