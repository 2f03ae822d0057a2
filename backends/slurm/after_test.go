//go:build unix

package slurm

import (
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/test/homedir"
	"torchx/test/slurmtest"
)

// TestAfter: Slurm itself starts an app after others, and cancels it if that cannot happen. A
// canceled app does not blame another one.
func TestAfter(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	b := newBackend(t, homedir.New(t))
	run := func(text string, after ...backend.After) history.AppKey {
		t.Helper()
		p := planOf(t, b, t.TempDir(), nil, shell("r", 1, text))
		p.After = after
		for _, a := range after {
			if !b.KeepsAfter(t.Context(), a) {
				t.Fatalf("Slurm does not wait for %s", a)
			}
		}
		if err := b.Submit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return history.AppKey{Backend: Name, ID: p.ID}
	}
	first := run("sleep 3; exit 3")
	never := run("exit 0", backend.After{App: first})
	canceled := run("exit 0", backend.After{App: first})
	anyway := run("exit 0", backend.After{App: first, Any: true}, backend.After{App: never, Any: true})
	if s := describe(t, b, anyway.ID); s.State != spec.Pending || s.Msg != "waits for "+first.Handle()+" to end (and 1 more)" {
		t.Errorf("got %s: %s", s.State, s.Msg)
	}
	if err := b.Cancel(t.Context(), canceled.ID, backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	for app, want := range map[history.AppKey]struct {
		state spec.State
		msg   string
	}{
		first:    {spec.Failed, "exit code 3"},
		never:    {spec.Cancelled, "not started: " + first.Handle() + " did not succeed"},
		canceled: {spec.Cancelled, "cancelled"},
		anyway:   {spec.Succeeded, ""},
	} {
		if s := wait(t, b, app.ID); s.State != want.state || !strings.Contains(s.Msg, want.msg) {
			t.Errorf("%s: got %s: %s, want %s: %s", app.ID, s.State, s.Msg, want.state, want.msg)
		}
	}
	if b.KeepsAfter(t.Context(), backend.After{App: history.AppKey{Backend: "local", ID: "a"}}) {
		t.Error("Slurm cannot wait for an app of another backend")
	}
}
