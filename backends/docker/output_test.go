//go:build unix

package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/outputs"
	"torchx/runtime/spec"
)

// TestOutput: containers share a folder of this machine, whatever their user; a retry finds
// the files of the attempt before it.
func TestOutput(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	r := shell(`echo $TORCHX_OUTPUT; id -u >>$TORCHX_OUTPUT/users; mkdir $TORCHX_OUTPUT/$(id -u)-$(wc -l <$TORCHX_OUTPUT/users); test $(wc -l <$TORCHX_OUTPUT/users) = 2`)
	r.MaxRetries = 1
	p := f.plan(r)
	req := p.Request.(*Request)
	req.Containers[0].Config.User = "12345:12345"
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	if s := f.wait(p.ID); s.State != spec.Succeeded {
		t.Fatalf("got %s: %s", s.State, s.Msg)
	}
	if log, _ := f.log(p.ID, 0); log != "/torchx/output\n/torchx/output\n" {
		t.Errorf("log: got %q, want the path in the container twice", log)
	}
	out, err := f.b.OutputOf(f.ctx, p.ID)
	if err != nil || !out.Here || out.Kept || out.Place != filepath.Join(f.b.Bundle(p.ID).Dir, "output") || out.Read != "docker cp "+req.Containers[0].Name+":/torchx/output/. ." {
		t.Fatalf("got %+v, %v, want the folder in the bundle", out, err)
	}
	if got := outputNames(t, out.Place); got != "12345-1 12345-2 users" {
		t.Errorf("got %q, want what both attempts wrote", got)
	}
	if err := f.b.Delete(f.ctx, p.ID, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if outputs.HasFiles(out.Place) {
		t.Error("the folder still has files after the app was deleted")
	}
}

func outputNames(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := outputs.Walk(dir, func(e outputs.Entry) error {
		names = append(names, e.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// TestOutputDir: the folder is below output_dir, and stays when the app is deleted; a role's
// own folder is not replaced.
func TestOutputDir(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	own := shell("test $TORCHX_OUTPUT = /tmp && test ! -e /torchx/output")
	own.Name = "own"
	own.Env.Set(spec.OutputVariable, "/tmp")
	dir := t.TempDir()
	p := f.plan(shell("echo x >$TORCHX_OUTPUT/f"), own)
	p.Request.(*Request).OutputDir = agent.OutputPath(dir, p.ID)
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	if s := f.wait(p.ID); s.State != spec.Succeeded {
		t.Errorf("got %s: %s, want that a role with its own folder has no other", s.State, s.Msg)
	}
	if err := f.b.Delete(f.ctx, p.ID, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, p.ID, "f")); err != nil || string(got) != "x\n" {
		t.Errorf("after the delete: got %q, %v, want the file", got, err)
	}
}

// TestOutputOfRemoteEngine: containers of an engine elsewhere get no folder of this machine.
func TestOutputOfRemoteEngine(t *testing.T) {
	t.Parallel()
	in := input(t, "output_dir=out", role("w", nil))
	for host, want := range map[string]int{"unix:///x": 0, "tcp://far:2375": 1} {
		p, err := planner{environ: []string{"DOCKER_HOST=" + host}}.Plan(t.Context(), in)
		if err != nil || len(p.Warnings) != want || p.Request.(*Request).OutputDir != "/cwd/out/a-1" {
			t.Errorf("%s: got %q, %v, want %d warnings", host, p.Warnings, err, want)
		}
		if got := outputFor(agent.Bundle{Dir: "/b"}, &agent.Manifest{}, endpoint{Host: host}); (got == "/b/output") != (want == 0) {
			t.Errorf("%s: got folder %q", host, got)
		}
	}
}
