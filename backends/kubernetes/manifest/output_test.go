package manifest

import (
	"errors"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestOutputInPlan: all pods of an app mount its folder, in every form, and a copy of the plan
// mounts its own.
func TestOutputInPlan(t *testing.T) {
	t.Parallel()
	for _, f := range Forms {
		own := role("own", func(r *spec.Role) { r.Env.Set(spec.OutputVariable, "/mine") })
		in := input(t, "output=pvc:data/runs,gang="+string(f), role("w", replicas(2)), own)
		p, req := plan(t, in)
		for _, pod := range pods(req) {
			want := "/torchx/output"
			if pod.Labels["torchx.pytorch.org/role-name"] == "own" {
				want = "/mine"
			}
			if got := env(pod)[spec.OutputVariable]; got != want || (len(pod.Spec.Volumes) == 2) != (want != "/mine") {
				t.Errorf("%s: got %s=%q and %d volumes, want %q", f, spec.OutputVariable, got, len(pod.Spec.Volumes), want)
			}
		}
		if v, ok := OutputOf(req.PodSets()); !ok || v.String() != "pvc:data/runs/a-x1" {
			t.Errorf("%s: got %s, %v, want pvc:data/runs/a-x1", f, v, ok)
		}
		if v, ok := OutputOption(p.Cfg, "a-x1"); !ok || v.String() != "pvc:data/runs/a-x1" {
			t.Errorf("%s: by the options: got %s, %v, want pvc:data/runs/a-x1", f, v, ok)
		}
		for _, o := range req.Objects { // a copy, named by the user
			rename(&o.Meta().Name, "a-x1", "b-y2")
			if f == FormJob {
				o.Meta().Labels["app.kubernetes.io/instance"] = "b-y2"
			}
		}
		if id := req.adopt(); id != "default:b-y2" {
			t.Fatalf("%s: got %s", f, id)
		}
		if v, ok := OutputOf(req.PodSets()); !ok || v.String() != "pvc:data/runs/b-y2" {
			t.Errorf("%s: the copy: got %s, %v, want pvc:data/runs/b-y2", f, v, ok)
		}
	}
}

func TestOutputOption(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pvc:data": "pvc:data", "pvc:data/": "pvc:data", "pvc:my.data/a/b/": "pvc:my.data/a/b", "pvc:data/a/../b": "pvc:data/b",
		"": "", "data": "", "pvc:": "", "pvc:Data": "", "pvc:/a": "", "pvc:data/..": "", "pvc:data/../x": "", "pvc:data//abs": "",
		"hostpath:/x": "", "pvc:data/a\x00b": "", "pvc:data/a\nb": "",
	} {
		v, err := parseVolume(text)
		if want == "" && !errors.Is(err, backend.ErrInvalidOption) || want != "" && (err != nil || v.String() != want) {
			t.Errorf("%q: got %s, %v, want %q", text, v, err, want)
		}
	}
	if _, req := plan(t, input(t, "", role("w", nil))); len(pods(req)[0].Spec.Volumes) != 1 || env(pods(req)[0])[spec.OutputVariable] != "" {
		t.Error("without the option: want no volume and no variable")
	}
}
