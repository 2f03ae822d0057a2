package manifest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func twoRoles(t *testing.T, cfg string) backend.PlanInput {
	return input(t, cfg, role("w", func(r *spec.Role) {
		r.NumReplicas, r.MaxRetries = 2, 1
		r.Args = []string{"${replica_id}", "a&b"}
		r.Resource = spec.Resource{CPU: 1, GPU: 2, MemMB: 64}
		r.Mounts = []spec.Mount{{Type: spec.MountVolume, Src: "v", Dst: "/v"}}
		r.PortMap.Set("http", 8080)
	}), role("other", nil))
}

// TestLoadSame: an unedited plan is read unchanged.
func TestLoadSame(t *testing.T) {
	t.Parallel()
	for _, f := range Forms {
		in := twoRoles(t, "namespace=ns,gang="+string(f))
		p, req := plan(t, in)
		text := asJSON(t, req)
		in.ID = "" // unknown to `torchx submit`
		loaded, err := Planner{}.Load(t.Context(), in, text)
		if err != nil {
			t.Fatal(f, err)
		}
		if got := asJSON(t, loaded.Request); string(got) != string(text) || loaded.ID != p.ID {
			t.Errorf("%s: %s\n got %s\nwant %s", f, loaded.ID, got, text)
		}
		if len(loaded.Warnings) != len(p.Warnings) {
			t.Errorf("%s: warnings %q, want %q", f, loaded.Warnings, p.Warnings)
		}
	}
}

// TestLoadCopy: a copy under another name is a separate app in all its parts.
func TestLoadCopy(t *testing.T) {
	t.Parallel()
	for _, f := range Forms {
		in := twoRoles(t, "namespace=ns,gang="+string(f))
		_, req := plan(t, in)
		main := req.Objects[0].Meta()
		if f == FormJob {
			main.Labels[kube.LabelInstance] = "b-2"
		} else {
			main.Name = "b-2"
		}
		loaded, err := Planner{}.Load(t.Context(), in, asJSON(t, req))
		if err != nil {
			t.Fatal(f, err)
		}
		text := string(asJSON(t, loaded.Request))
		if loaded.ID != "ns:b-2" || strings.Contains(text, "a-x1") || !strings.Contains(text, "kubernetes://torchx/ns:b-2") {
			t.Errorf(`%s: got %s of %s, want loaded.ID == "ns:b-2" and !Contains(text, "a-x1") and Contains(text, "kubernetes://torchx/ns:b-2")`, f, text, loaded.ID)
		}
	}
}

func TestLoadForeign(t *testing.T) {
	t.Parallel()
	in := twoRoles(t, "")
	_, req := plan(t, in)
	const extra = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"},"data":{"k":"v"}}`
	text := strings.Replace(string(asJSON(t, req)), `],"images_to_push"`, `,`+extra+`],"images_to_push"`, 1)
	loaded, err := Planner{}.Load(t.Context(), in, json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(asJSON(t, loaded.Request)); !strings.Contains(got, `"data":{"k":"v"}`) || !strings.Contains(got, `"name":"c","namespace":"default","labels":{"`+kube.LabelInstance+`":"a-x1"}`) {
		t.Errorf("got %s", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	in := twoRoles(t, "gang=job")
	_, req := plan(t, in)
	text := string(asJSON(t, req))
	for _, test := range []struct{ from, to, want string }{
		{text, `{}`, "request.objects[0] must be a Volcano Job, a JobSet or a Job"},
		{text, `{"objects":[7]}`, "objects[0]: not an object"},
		{text, `{"objects":[{"kind":"Job"}]}`, "apiVersion or kind is missing"},
		{`"images_to_push"`, `"images"`, `unknown field "images"`},
		{`"completions"`, `"completion"`, `unknown field "completion"`},
		{`"completions":2`, `"completions":3`, "3 replicas of role w, but the app has 2"},
		{`"completions":2`, `"completions":"2"`, "cannot be a JSON string"},
		{`role-index":"1"`, `role-index":"7"`, "want the index of one of the app's 2 roles"},
		{`role-name":"other"`, `role-name":"w"`, `role 1 is "other"`},
		{`"image":"bb:1"`, `"image":""`, "has no image"},
		{`"volumes":[`, `"volumes":[],"x":[`, "unknown field"},
		{`"name":"mount-0","persistentVolumeClaim"`, `"name":"mount-1","persistentVolumeClaim"`, `mounts volume "mount-0"`},
		{`"name":"a-x1-other"`, `"name":"a-x1-w"`, "duplicate Job a-x1-w"},
		{`"name":"a-x1-other"`, `"name":"A_"`, `metadata.name "A_"`},
		{`"name":"a-x1-other","namespace":"default"`, `"name":"a-x1-other","namespace":"x"`, "in the namespace of the first"},
	} {
		changed := strings.Replace(text, test.from, test.to, 1)
		if changed == text {
			t.Errorf("no %s in %s", test.from, text)
			continue
		}
		_, err := Planner{}.Load(t.Context(), in, json.RawMessage(changed))
		if !errors.Is(err, backend.ErrInvalidPlan) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", test.to, err, test.want)
		}
	}
}
