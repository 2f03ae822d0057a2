package spec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// fullApp returns an app that uses every field.
func fullApp() *App {
	least := 1
	r := NewRole("trainer", "img")
	r.MinReplicas, r.Entrypoint, r.Args, r.NumReplicas = &least, "sh", []string{"-c", "echo ${app_id}"}, 2
	r.Env = Map[string]{{"Z", "${replica_id}"}, {"A", "$$x"}}
	r.PortMap = Map[int]{{"http", 8080}, {"c10d", 29500}}
	r.Resource = Resource{
		CPU: 1.5, GPU: 2, MemMB: 100, Capabilities: map[string]any{"a": "b"},
		Devices: Map[int]{{"efa", 2}}, Tags: map[string]any{},
	}
	r.Metadata = map[string]any{"k": map[string]any{"l": []any{"${app_id}", []any{"${app_id}"}, map[string]any{"x": "${img_root}"}}}}
	r.Mounts = []Mount{
		{Type: MountBind, Src: "/a", Dst: "/b", ReadOnly: true},
		{Type: MountVolume, Src: "v", Dst: "/v"},
		{Type: MountDevice, Src: "/dev/x", Dst: "/dev/y", Permissions: "rw"},
	}
	r.Workspace = &Workspace{Projects: Map[string]{{"/src", ""}}}
	return &App{Name: "app", Roles: []Role{r}, Metadata: map[string]any{"owner": "me"}}
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	want, err := json.Marshal(fullApp())
	if err != nil {
		t.Fatal(err)
	}
	var app App
	if err := json.Unmarshal(want, &app); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&app, fullApp()) {
		t.Errorf("decoded: got %+v, want %+v", app, fullApp())
	}
	if got, err := json.Marshal(app); err != nil || string(got) != string(want) {
		t.Errorf("encoded again: got %s, %v, want %s", got, err, want)
	}
	for _, part := range []string{
		`"env":{"Z":"${replica_id}","A":"$$x"}`, `"port_map":{"http":8080,"c10d":29500}`, `"memMB":100`,
		`{"kind":"BindMount","src_path":"/a","dst_path":"/b","read_only":true}`,
		`{"kind":"VolumeMount","src":"v","dst_path":"/v","read_only":false}`,
		`{"kind":"DeviceMount","src_path":"/dev/x","dst_path":"/dev/y","permissions":"rw"}`,
	} {
		if !strings.Contains(string(want), part) {
			t.Errorf("got %s, want it with %s", want, part)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	app := fullApp()
	c := app.Clone()
	if !reflect.DeepEqual(app, c) {
		t.Fatalf("clone: got %+v, want %+v", c, app)
	}
	r := &c.Roles[0]
	*r.MinReplicas, r.Args[0] = 9, "changed"
	r.Env.Set("Z", "changed")
	r.PortMap.Set("http", 1)
	r.Resource.Capabilities["a"] = "changed"
	r.Resource.Devices.Set("efa", 9)
	r.Metadata["k"].(map[string]any)["l"].([]any)[2].(map[string]any)["x"] = "changed"
	r.Mounts[0].Src = "changed"
	r.Workspace.Projects.Set("/src", "changed")
	c.Metadata["owner"] = "changed"
	if !reflect.DeepEqual(app, fullApp()) {
		t.Errorf("original: got %+v, want it unchanged", app)
	}
}

func TestApplyMacros(t *testing.T) {
	t.Parallel()
	app := fullApp()
	got := Macros{ImgRoot: "IMG", AppID: "APP", ReplicaID: "7", Rank0Env: "R0"}.Apply(app.Roles[0])
	if !reflect.DeepEqual(app, fullApp()) {
		t.Errorf("argument of Apply: got %+v, want it unchanged", app)
	}
	if got.Args[1] != "echo APP" {
		t.Errorf("got args %q, want echo APP", got.Args)
	}
	if want := (Map[string]{{"Z", "7"}, {"A", "$x"}}); !reflect.DeepEqual(got.Env, want) {
		t.Errorf("got env %v, want %v", got.Env, want)
	}
	// A list directly within a list stays unchanged.
	want := map[string]any{"k": map[string]any{"l": []any{"APP", []any{"${app_id}"}, map[string]any{"x": "IMG"}}}}
	if !reflect.DeepEqual(got.Metadata, want) {
		t.Errorf("got metadata %v, want %v", got.Metadata, want)
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	var m Map[string]
	m.Set("b", "1")
	m.Set("a", "2")
	m.Set("b", "3")
	m.SetDefault("a", "4")
	m.SetDefault("c", "5")
	if want := (Map[string]{{"b", "3"}, {"a", "2"}, {"c", "5"}}); !reflect.DeepEqual(m, want) {
		t.Errorf("got %v, want %v", m, want)
	}
	if _, ok := m.Get("d"); ok {
		t.Error("key d: got a value, want none")
	}
	for _, text := range []string{`[]`, `{"a":1}`, `{"a"`, `3`} {
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("%s: got nil, want an error", text)
		}
	}
	if err := json.Unmarshal([]byte(`null`), &m); err != nil || m == nil || len(m) != 0 {
		t.Errorf("null: got %v, %v, want an empty map", m, err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := fullApp().Validate(); err != nil {
		t.Errorf("valid app: got %v, want nil", err)
	}
	tests := []struct {
		name   string
		change func(a *App)
		want   string
	}{
		{"no name", func(a *App) { a.Name = "" }, "app has no name"},
		{"no roles", func(a *App) { a.Roles = nil }, "no roles for app: app"},
		{"same role twice", func(a *App) { a.Roles = append(a.Roles, a.Roles[0]) }, `"trainer" is defined twice`},
		{"role without name", func(a *App) { a.Roles[0].Name = "" }, "a role has no name"},
		{"slash in role name", func(a *App) { a.Roles[0].Name = "a/b" }, `invalid role name "a/b"`},
		{"long app name", func(a *App) { a.Name = strings.Repeat("x", MaxName+1) }, "has 256 bytes, want at most 255"},
		{"long role name", func(a *App) { a.Roles[0].Name = strings.Repeat("x", MaxName+1) }, "has 256 bytes, want at most 255"},
		{"direction of text", func(a *App) { a.Name = "a\u202eb" }, "invalid app name"},
		{"empty entrypoint", func(a *App) { a.Roles[0].Entrypoint = "" }, "no entrypoint for role: trainer"},
		{"missing entrypoint", func(a *App) { a.Roles[0].Entrypoint = Missing }, "no entrypoint for role: trainer"},
		{"no replicas", func(a *App) { a.Roles[0].NumReplicas = 0 }, "non-positive replicas for role: trainer"},
		{"negative retries", func(a *App) { a.Roles[0].MaxRetries = -1 }, "negative max_retries for role: trainer"},
		{"unknown policy", func(a *App) { a.Roles[0].RetryPolicy = "X" }, `unknown retry_policy "X" of role trainer`},
		{"env name", func(a *App) { a.Roles[0].Env.Set("A=B", "") }, `invalid env entry "A=B"`},
		{"NUL in argument", func(a *App) { a.Roles[0].Args[0] = "a\x00" }, "has a NUL byte"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			app := fullApp()
			test.change(app)
			if err := app.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	if _, err := ParseState("running"); err == nil || !strings.Contains(err.Error(), "RUNNING") {
		t.Errorf("ParseState(running): got %v, want an error that lists the states", err)
	}
	if State(99).String() != "State(99)" {
		t.Errorf("got %s, want State(99)", State(99))
	}
	var m Mount
	if err := json.Unmarshal([]byte(`{"kind":"NFS"}`), &m); err == nil || !strings.Contains(err.Error(), "BindMount") {
		t.Errorf("unknown mount kind: got %v, want an error that lists the kinds", err)
	}
	if _, err := json.Marshal(Mount{Type: "nfs"}); err == nil {
		t.Error("mount of unknown type: got nil, want an error")
	}
}
