package local

import (
	"bytes"
	"io"
	"testing"

	"torchx/backends/local/inside"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// A command runs with the planned environment beside a process that does not show its own, as
// between its fork and its exec, or after it has written its title over it.
func TestExecBesideHiddenEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	role := sh("a", 1, `echo here > file; exec env -i sleep 600`)
	role.Env.Set("MARK", "planned")
	p := f.plan(nil, role)
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	r := spec.Replica{Role: "a"}
	f.waitFor("the process without an environment", func() bool {
		running, err := f.b.running(f.ctx, p.ID, r)
		if err != nil {
			return false
		}
		place, err := inside.PlaceOf(running.PID)
		return err == nil && !place.Has("MARK")
	})
	var out bytes.Buffer
	code, err := f.b.Exec(f.ctx, p.ID, r, backend.Command{
		Args: []string{"sh", "-c", "echo $MARK; while ! test -e file; do sleep 0.01; done; cat file"}, Stdout: &out, Stderr: io.Discard,
	})
	if want := "planned\nhere\n"; code != 0 || err != nil || out.String() != want {
		t.Errorf("got %d, %v, output %q, want %q", code, err, out.String(), want)
	}
}
