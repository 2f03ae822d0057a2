package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/overlay"
	"torchx/runtime/spec"
)

// marked returns the value of specs.overlay.
func marked(pod map[string]any) map[string]any {
	return map[string]any{overlayKey: map[string]any{overlay.Marker: true, "V1Pod": pod}}
}

func TestOverlays(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("testdata/overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	container := map[string]any{"name": "w-0", "workingDir": "/x"}
	own := marked(map[string]any{
		"spec":     map[string]any{overlay.Join("containers", "name"): []any{container}, "priority": int64(7)},
		"metadata": map[string]any{"labels": map[string]any{kube.LabelRole: "stolen", "of": "${app_id}"}},
	})
	in := input(t, "", role("w", func(r *spec.Role) { r.Metadata = own }), role("v", nil))
	in.App.Metadata = map[string]any{overlayKey: map[string]any{"spec": map[string]any{"nodeSelector": map[string]any{"all": "yes"}}}}
	_, req := plan(t, in)
	w, v := pods(req)[0], pods(req)[1]
	if w.Spec.NodeSelector["all"] != "yes" || v.Spec.NodeSelector["all"] != "yes" {
		t.Errorf("got node selectors %v and %v, want all=yes of the app's overlay in both", w.Spec.NodeSelector, v.Spec.NodeSelector)
	}
	if c := w.Spec.Containers[0]; c.WorkingDir != "/x" || c.Image != "bb:1" || len(w.Spec.Containers) != 1 || ptr.Deref(w.Spec.Priority, 0) != 7 {
		t.Errorf(`pod %s, want c.WorkingDir == "/x" and c.Image == "bb:1" and len(w.Spec.Containers) == 1 and ptr.Deref(w.Spec.Priority, 0) == 7`, asJSON(t, w))
	}
	if w.Labels["of"] != "a-x1" || w.Labels[kube.LabelRole] != "w" {
		t.Errorf(`labels %v, want w.Labels["of"] == "a-x1" and w.Labels[kube.LabelRole] == "w"`, w.Labels)
	}

	in = input(t, "", role("w", func(r *spec.Role) {
		r.Metadata = map[string]any{overlayKey: "file://" + file}
		r.Mounts = nil
	}))
	// The file's tuple replaces the volumes, one of which is mounted.
	if _, err := (Planner{}).Plan(t.Context(), in); err == nil || !strings.Contains(err.Error(), `mounts volume "dshm"`) {
		t.Errorf("error %v, want err != nil and Contains(err.Error(), `mounts volume \"dshm\"`)", err)
	}
}

// TestMainContainerNames: one overlay changes the main container in every form, and keeps
// torchx's variables.
func TestMainContainerNames(t *testing.T) {
	t.Parallel()
	set := []any{map[string]any{"name": "A", "value": "1"}}
	for _, name := range []string{"w", "w-0", mainAlias} {
		for _, form := range Forms {
			for _, n := range []int{1, 2, 200} {
				for _, envKey := range []string{"env", overlay.Join("env", "name")} {
					r := role("w", func(r *spec.Role) {
						r.NumReplicas, r.Args = n, []string{"${replica_id}"}
						r.Env.Set("OWN", "o")
						r.Metadata = marked(map[string]any{"spec": map[string]any{
							overlay.Join("containers", "name"): []any{map[string]any{"name": name, envKey: set, "workingDir": "/x"}},
						}})
					})
					_, req := plan(t, input(t, "gang="+string(form), r))
					for _, p := range pods(req) {
						_, own := env(p)["OWN"]
						_, image := env(p)[imageVariable]
						c := p.Spec.Containers
						if len(c) != 1 || c[0].WorkingDir != "/x" || env(p)["A"] != "1" || !image || own != (envKey != "env") {
							t.Errorf("%s of %d replicas, overlay of %s with %s: got %s, want one container with A and torchx's variables", form, n, name, envKey, asJSON(t, c))
						}
						if id, isShared := env(p)[indexVariable]; c[0].Command[1] == "$("+indexVariable+")" && (!isShared || c[0].Env[0].Name != indexVariable) {
							t.Errorf("%s of %d replicas: got index %q, want its definition first", form, n, id)
						}
					}
				}
			}
		}
	}
}

// TestDifferentReplicas: each replica gets its own template if a shared one cannot express
// their differences.
func TestDifferentReplicas(t *testing.T) {
	t.Parallel()
	r := role("w", func(r *spec.Role) {
		r.NumReplicas = 2
		r.Args = []string{"${replica_id}"}
		r.Metadata = marked(map[string]any{"spec": map[string]any{"nodeName": "n${replica_id}"}})
	})
	_, req := plan(t, input(t, "gang=job", r))
	if len(req.Objects) != 3 || req.Objects[1].Meta().Name != "a-x1-w-1" {
		t.Fatalf(`objects %s, want len(req.Objects) == 3 and req.Objects[1].Meta().Name == "a-x1-w-1"`, asJSON(t, req))
	}
	p := pods(req)[1]
	if p.Spec.NodeName != "n1" || p.Spec.Containers[0].Command[1] != "1" || p.Labels[kube.LabelReplica] != "1" {
		t.Errorf(`pod %s, want p.Spec.NodeName == "n1" and p.Spec.Containers[0].Command[1] == "1" and p.Labels[kube.LabelReplica] == "1"`, asJSON(t, p))
	}
	if host := env(p)[spec.Rank0HostVariable]; host != "a-x1-w-0-0.a-x1" {
		t.Errorf("got rank 0 on host %s, want a-x1-w-0-0.a-x1", host)
	}
}

func TestBadOverlays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"list.yaml": "- a", "bad.yaml": "a: [", "alias.yaml": "spec: &a {}\nmetadata: *a", "loop.yaml": "V1Pod: loop.yaml", "empty.yaml": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pod := func(s map[string]any) any { return marked(map[string]any{"spec": s})[overlayKey] }
	for want, value := range map[string]any{
		"metadata must hold a dict":            7,
		"none.yaml: no such file":              "none.yaml",
		"or begin with file://":                "s3://b/x.yaml",
		"cannot refer to another file":         "loop.yaml",
		"overlays cannot change a V1Service":   map[string]any{overlayPod: map[string]any{}, "V1Service": map[string]any{}},
		`"volumes" is not a field of a pod`:    []any{"empty.yaml", map[string]any{"volumes": []any{}}},
		"no such file":                         "file://none.yaml",
		"must hold a mapping":                  "file://list.yaml",
		"bad.yaml: line 1":                     "file://bad.yaml",
		"aliases are not supported":            "file://alias.yaml",
		`"containers" is not a field of a pod`: map[string]any{"containers": []any{}},
		"overlays cannot change a V1Job":       map[string]any{overlay.Marker: true, "V1Job": map[string]any{}},
		`unknown field "nodeSelectr"`:          pod(map[string]any{"nodeSelectr": map[string]any{}}),
		"spec.priority cannot be a JSON":       pod(map[string]any{"priority": "high"}),
		`mounts volume "dshm" at /dev/shm`:     pod(map[string]any{overlay.Put("volumes"): []any{}}),
		"the pod has no containers":            pod(map[string]any{overlay.Del("containers"): nil}),
		"container side has no image":          pod(map[string]any{"containers": []any{map[string]any{"name": "side"}}}),
		"restartPolicy Always":                 pod(map[string]any{"restartPolicy": "Always"}),
		`volume name "dshm" is empty or used`:  pod(map[string]any{"volumes": []any{map[string]any{"name": "dshm"}}}),
		"cannot merge a list into the string":  pod(map[string]any{"restartPolicy": []any{}}),
	} {
		in := input(t, "", role("w", func(r *spec.Role) { r.Metadata = map[string]any{overlayKey: value} }))
		in.Cwd = dir
		_, err := Planner{}.Plan(t.Context(), in)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "overlay of role w") || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestOverlayFile: a tuple in a file replaces a list, another list is appended.
func TestOverlayFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "apiVersion: v1\nkind: Pod\nspec:\n  tolerations: !!python/tuple\n  - key: only\n  imagePullSecrets:\n  - name: more\n  priority: 3\n"
	if err := os.WriteFile(filepath.Join(dir, "o.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	in := input(t, "tolerations=a;b,image_pull_secrets=s", role("w", nil))
	in.App.Metadata = map[string]any{overlayKey: "file://o.yaml"} // as of `--metadata kubernetes=file://o.yaml`
	in.Cwd = dir
	_, req := plan(t, in)
	s := pods(req)[0].Spec
	if len(s.Tolerations) != 1 || s.Tolerations[0].Key != "only" || len(s.ImagePullSecrets) != 2 || ptr.Deref(s.Priority, 0) != 3 {
		t.Errorf(`pod %s, want len(s.Tolerations) == 1 and s.Tolerations[0].Key == "only" and len(s.ImagePullSecrets) == 2 and ptr.Deref(s.Priority, 0) == 3`, asJSON(t, s))
	}
}

// TestOverlayForms: overlays by kind need no marker and a path no file://, also within a file.
func TestOverlayForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain.yaml": "spec:\n  priority: 3\n", "kinds.json": `{"V1Pod": {"spec": {"priority": 3}}}`,
		"later.yaml": "spec:\n  __put__:priority: 1\n  priority: 3\n", "put.yaml": "spec:\n  priority: 1\n  __put__:priority: 3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pod := map[string]any{"spec": map[string]any{"priority": 3}}
	for name, value := range map[string]any{
		"a pod": pod, "unmarked": map[string]any{overlayPod: pod}, "marked": marked(pod)[overlayKey],
		"path": "plain.yaml", "absolute path": filepath.Join(dir, "plain.yaml"), "URI": "file://plain.yaml", "kinds in a file": "kinds.json",
		"plain after put": "later.yaml", "put after plain": "put.yaml",
		"a file and more": map[string]any{overlay.Marker: true, overlayPod: []any{"put.yaml", map[string]any{"spec": map[string]any{"priority": 3}}}},
	} {
		in := input(t, "", role("w", func(r *spec.Role) { r.Metadata = map[string]any{overlayKey: value} }))
		in.Cwd = dir
		_, req := plan(t, in)
		if got := ptr.Deref(pods(req)[0].Spec.Priority, 0); got != 3 {
			t.Errorf("%s: got priority %d, want 3", name, got)
		}
	}
}
