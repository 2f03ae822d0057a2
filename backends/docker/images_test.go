//go:build unix

package docker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"torchx/backends/docker/image"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/enginetest"
)

// workspaceApp returns an app with two roles that share a workspace and one without.
func workspaceApp(t *testing.T, cfg, dir string) backend.PlanInput {
	t.Helper()
	own := func(r *spec.Role) {
		r.Image, r.Workspace = enginetest.Image, &spec.Workspace{Projects: spec.Map[string]{{Key: dir}}}
	}
	return input(t, cfg, role("one", own), role("two", own), role("three", func(r *spec.Role) { r.Image = enginetest.Image }))
}

// TestPrepare: the engine has all images afterwards. Each workspace is built once, and not
// again while its content is the same.
func TestPrepare(t *testing.T) {
	t.Parallel()
	e := enginetest.Need(t, enginetest.Options{})
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("1"), 0o644))
	var builds atomic.Int32
	prepare := func(p *backend.Plan) error {
		builds.Store(0)
		p.Progress = func(s backend.Step) {
			if s.Ended && strings.HasPrefix(s.Name, "build ") {
				builds.Add(1)
			}
		}
		return planner{version: "1"}.prepare(t.Context(), e.Client, p)
	}
	check := func(what string, p *backend.Plan, want int32) {
		t.Helper()
		if err := prepare(p); err != nil || builds.Load() != want {
			t.Errorf("%s: %d builds, want %d, error %v", what, builds.Load(), want, err)
		}
	}
	in := workspaceApp(t, "", dir)
	p, req := plan(t, in)
	if has, err := image.Has(t.Context(), e.Client, req.Containers[0].Config.Image); has || err != nil {
		t.Fatalf("planning built the image (%v)", err)
	}
	text := asJSON(t, req)
	check("first time", p, 1)
	check("second time", p, 0)
	always, _ := plan(t, workspaceApp(t, "pull=missing", dir))
	check("planned again", always, 0)

	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("2"), 0o644))
	p, req = plan(t, in)
	// As in `run --dryrun --json | submit -`.
	in.App = p.App
	loaded, err := planner{}.Load(t.Context(), in, json.RawMessage(asJSON(t, req)))
	must(t, err)
	check("other content, read from a file", loaded, 1)
	old, err := planner{}.Load(t.Context(), in, json.RawMessage(text))
	must(t, err)
	check("the old plan, whose image exists", old, 0)

	p, _ = plan(t, in)
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("3"), 0o644))
	p3, req3 := plan(t, in)
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("4"), 0o644))
	if err := prepare(p3); err == nil || !strings.Contains(err.Error(), "files have changed") {
		t.Errorf("content changed since planning: got %v", err)
	}
	loaded, err = planner{}.Load(t.Context(), in, json.RawMessage(asJSON(t, req3)))
	must(t, err)
	if err := prepare(loaded); err == nil || !strings.Contains(err.Error(), "files have changed") {
		t.Errorf("content changed since the file was written: got %v", err)
	}
	check("an existing image needs no files", p, 0)

	bind, _ := plan(t, workspaceApp(t, "workspace_mode=bind", dir))
	check("bind", bind, 0)
	none, _ := plan(t, input(t, "", role("none", func(r *spec.Role) { r.Image = spec.None })))
	if err := prepare(none); err == nil || !strings.Contains(err.Error(), "role none has no image") {
		t.Errorf("role without an image: got %v", err)
	}
	missing, _ := plan(t, input(t, "pull=never", role("w", func(r *spec.Role) { r.Image = "no/such:1" })))
	if err := prepare(missing); err == nil || !strings.Contains(err.Error(), "no/such:1 is not on the engine") {
		t.Errorf("missing image: got %v", err)
	}
}
