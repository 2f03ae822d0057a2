package docker

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/system"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// role returns a minimal role.
func role(name string, change func(*spec.Role)) spec.Role {
	r := spec.NewRole(name, "bb:1")
	r.Entrypoint = "true"
	if change != nil {
		change(&r)
	}
	return r
}

// input returns the input of a plan: app a-1 with these roles and the options of cfg.
func input(t *testing.T, cfg string, roles ...spec.Role) backend.PlanInput {
	t.Helper()
	layer, err := backend.CfgLayer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	resolved, unknown, err := backend.Resolve(planner{}.Options(), layer)
	if err != nil || len(unknown) > 0 {
		t.Fatal(err, unknown)
	}
	return backend.PlanInput{ID: "a-1", App: &spec.App{Name: "a", Roles: roles}, Cfg: resolved, Cwd: "/cwd", Environ: []string{}}
}

func plan(t *testing.T, in backend.PlanInput) (*backend.Plan, *Request) {
	t.Helper()
	p, err := planner{version: "1"}.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p, p.Request.(*Request)
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("r", 40)
	for _, test := range []struct {
		id    string
		roles []string
		want  []string // of replica 0 of each role
	}{
		{"app-x1", []string{"worker"}, []string{"app-x1-worker-0"}},
		{"-_9app-x1", []string{"_-r"}, []string{"9app-x1-_-r-0"}},
		{strings.Repeat("a", 30) + "-x1", []string{"w"}, []string{strings.Repeat("a", 27) + "-x1-w-0"}},
		{"ünter (1)-x1", []string{"rôle"}, []string{"nter--1--x1-r--le-0"}},
		{"a-x1", []string{long + "1", long + "2"}, []string{"a-x1-" + long[:30] + "-0", "a-x1-" + long[:28] + "-1-0"}},
		{"a-x1", []string{"a b", "a-b"}, []string{"a-x1-a-b-0", "a-x1-a-b-1-0"}},
		{"a-x1", []string{"a b", "a-b-1", "a-b"}, []string{"a-x1-a-b-0", "a-x1-a-b-1-0", "a-x1-a-b-2-0"}},
	} {
		app := &spec.App{}
		for _, r := range test.roles {
			app.Roles = append(app.Roles, role(r, nil))
		}
		n := newNames(test.id, app)
		for i, r := range test.roles {
			if got := n.replica(r, 0); got != test.want[i] {
				t.Errorf("%s, %s: %s, want %s", test.id, r, got, test.want[i])
			}
		}
	}
	n := newNames(strings.Repeat("i", 50), &spec.App{Roles: []spec.Role{role(long, nil)}})
	if got := n.replica(long, 12345); len(got) != maxHost || !strings.HasSuffix(got, "-12345") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestOptionsInPlan(t *testing.T) {
	t.Parallel()
	r := role("w", func(r *spec.Role) {
		r.NumReplicas = 2
		r.PortMap.Set("http", 8080)
		r.PortMap.Set("same", 8080)
		r.Mounts = []spec.Mount{{Type: spec.MountBind, Src: "data", Dst: "/data"}}
		r.Resource.Devices.Set("aws.amazon.com/neurondevice", 1)
		r.Resource.Devices.Set("strange/thing", 1)
		r.Resource.Capabilities["x"] = "y"
	})
	p, req := plan(t, input(t, "publish_ports=true,init=false,env=K:V", r))
	first, second := req.Containers[0], req.Containers[1]
	if first.HostConfig.Init != nil {
		t.Error("got an init with init=false")
	}
	if got, want := asJSON(t, first.HostConfig.PortBindings), `{"8080/tcp":[{"HostIp":"127.0.0.1","HostPort":"8080"}]}`; got != want {
		t.Errorf("ports %s, want %s", got, want)
	}
	if got, want := asJSON(t, second.HostConfig.PortBindings), `{"8080/tcp":[{"HostIp":"127.0.0.1","HostPort":""}]}`; got != want {
		t.Errorf("ports of the second replica %s, want %s", got, want)
	}
	if got := first.HostConfig.Mounts[0].Source; got != "/cwd/data" {
		t.Errorf("relative mount: got source %s, want /cwd/data", got)
	}
	if got := first.HostConfig.Devices[0].PathOnHost; got != "/dev/neuron0" {
		t.Errorf("got device %s, want /dev/neuron0", got)
	}
	if !slices.Contains(first.Config.Env, "K=V") {
		t.Errorf("env %q", first.Config.Env)
	}
	want := []string{"the docker backend ignores: capabilities, device strange/thing"}
	if !slices.Equal(p.Warnings, want) {
		t.Errorf("warnings %q, want %q", p.Warnings, want)
	}
	p, _ = plan(t, input(t, "publish_ports=true", role("w", nil)))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "publish_ports") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for cfg, want := range map[string]string{
		"copy_env=[a": "is not a pattern", "grace_period=-1": "must not be negative", "platform=amd64": "want OS/ARCHITECTURE such as linux/amd64",
		"ulimits=files:1": "want NAME:SOFT:HARD", "dns=resolver": "is not an IP address", "extra_hosts=db:cache": `the address "cache" of db`,
	} {
		_, err := planner{}.Plan(t.Context(), input(t, cfg, role("w", nil)))
		if !errors.Is(err, backend.ErrInvalidOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", cfg, err, want)
		}
	}
}

func TestWorkspaceInPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("x"), 0o644))
	own := func(r *spec.Role) {
		r.Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: dir, Value: "lib"}}}
	}
	in := input(t, "", role("first", nil), role("second", nil), role("third", own))
	in.Workspace, in.WorkspaceWhy = dir, "because"
	p, req := plan(t, in)
	images := []string{req.Containers[0].Config.Image, req.Containers[1].Config.Image, req.Containers[2].Config.Image}
	if !isBuilt(images[0]) || images[1] != "bb:1" || !isBuilt(images[2]) || images[0] == images[2] {
		t.Errorf("images %q", images)
	}
	if want := "TORCHX_IMAGE=" + images[0]; !slices.Contains(req.Containers[0].Config.Env, want) {
		t.Errorf("env %q has no %s", req.Containers[0].Config.Env, want)
	}
	// The app can be planned again, from any folder.
	if p.App.Roles[0].Image != "bb:1" || p.App.Roles[0].Workspace.Projects[0].Key != dir || in.App.Roles[0].Workspace != nil {
		t.Errorf("app %s, given %s", asJSON(t, p.App), asJSON(t, in.App))
	}
	want := "workspace of role first: " + dir + " (because): 1 file, 1B, onto bb:1 as " + images[0]
	if len(p.Notes) != 2 || p.Notes[0] != want || !strings.Contains(p.Notes[1], "role third") {
		t.Errorf("notes %q", p.Notes)
	}
	replanned := input(t, "", p.App.Roles...)
	if _, req2 := plan(t, replanned); asJSON(t, req2) != asJSON(t, req) {
		t.Errorf("planned again\n got %s\nwant %s", asJSON(t, req2), asJSON(t, req))
	}
}

func TestBoundWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f.txt")
	must(t, os.WriteFile(file, nil, 0o644))
	in := input(t, "workspace_mode=bind", role("w", func(r *spec.Role) {
		r.Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: dir}, {Key: file, Value: "conf/"}}}
	}))
	p, req := plan(t, in)
	c := req.Containers[0]
	want := `[{"Type":"bind","Source":"` + dir + `","Target":"/workspace"},{"Type":"bind","Source":"` + file + `","Target":"/workspace/conf/f.txt"}]`
	if got := asJSON(t, c.HostConfig.Mounts); got != want || c.Config.WorkingDir != "/workspace" || c.Config.Image != "bb:1" {
		t.Errorf("mounts %s in %s of %s", got, c.Config.WorkingDir, c.Config.Image)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "mounted at /workspace") {
		t.Errorf("notes %q", p.Notes)
	}
}

func TestNoWorkspace(t *testing.T) {
	t.Parallel()
	in := input(t, "", role("w", nil))
	in.WorkspaceWhy = "no project here"
	if p, _ := plan(t, in); !slices.Equal(p.Notes, []string{"no project here"}) {
		t.Errorf("notes %q", p.Notes)
	}
	in.App.Roles[0].Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: "no/such"}}}
	_, err := planner{}.Plan(t.Context(), in)
	if err == nil || !strings.Contains(err.Error(), "/cwd/no/such does not exist") {
		t.Errorf("error %v", err)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	big := func(r *spec.Role) { r.Resource = spec.Resource{CPU: 8, MemMB: 32768, GPU: 0} }
	small := func(r *spec.Role) { r.Resource = spec.Resource{CPU: 1.5, MemMB: 64} }
	_, req := plan(t, input(t, "", role("big", big), role("small", small), role("none", nil)))
	before := asJSON(t, req)
	capped, warnings := capLimits(req.Containers, 2, 8<<30)
	if len(warnings) != 2 || !strings.Contains(warnings[0], "1 of 3 containers request up to 8 CPUs, but the engine has 2") || !strings.Contains(warnings[1], "32GiB") {
		t.Errorf("warnings %q", warnings)
	}
	if h := capped[0].HostConfig; h.NanoCPUs != 2e9 || h.Memory != 32<<30 {
		t.Errorf("%d CPUs, %d bytes", h.NanoCPUs, h.Memory)
	}
	if capped[1].HostConfig.NanoCPUs != 15e8 || capped[2].HostConfig.NanoCPUs != 0 || asJSON(t, req) != before {
		t.Error("capLimits changed a limit that fits, or the plan")
	}
	if _, warnings := capLimits(req.Containers, 0, 0); warnings != nil {
		t.Errorf("unknown machine: got warnings %q, want none", warnings)
	}
}

func TestFitGPUs(t *testing.T) {
	t.Parallel()
	gpu := func(r *spec.Role) { r.Resource = spec.Resource{CPU: 1, GPU: 2, MemMB: 64} }
	_, req := plan(t, input(t, "", role("gpu", gpu), role("none", nil)))
	before := asJSON(t, req)
	remote, warnings := adaptTo(req.Containers, system.Info{NCPU: 4}, "tcp://elsewhere:2376")
	if len(warnings) != 0 || len(remote[0].HostConfig.DeviceRequests) != 1 {
		t.Errorf("remote engine: got warnings %q, want none", warnings)
	}
	known := system.Info{NCPU: 4, Runtimes: map[string]system.RuntimeWithStatus{"nvidia": {}}}
	if _, warnings := adaptTo(req.Containers, known, "unix:///x"); len(warnings) != 0 {
		t.Errorf("engine with GPUs: got warnings %q, want none", warnings)
	}
	if devices, _ := filepath.Glob("/dev/nvidia*"); len(devices) == 0 {
		limited, warnings := adaptTo(req.Containers, system.Info{NCPU: 4}, "unix:///x")
		if len(warnings) != 1 || !strings.Contains(warnings[0], "up to 2 GPUs, but the engine has none") || len(limited[0].HostConfig.DeviceRequests) != 0 {
			t.Errorf("machine without GPUs: got warnings %q, want one", warnings)
		}
	}
	if asJSON(t, req) != before {
		t.Error("adaptTo changed the plan")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestUnreachablePorts: a probe that cannot pass gets one warning.
func TestUnreachablePorts(t *testing.T) {
	t.Parallel()
	app := func(ready map[string]any) *spec.App {
		r := spec.NewRole("r", "i")
		r.PortMap.Set("http", 80)
		r.Metadata = map[string]any{"torchx": map[string]any{"ready": ready}}
		return &spec.App{Roles: []spec.Role{r, r}}
	}
	port, line := map[string]any{"port": "http"}, map[string]any{"log": "up"}
	for _, test := range []struct {
		host, system string
		ready        map[string]any
		published    bool
		want         string
	}{
		{"unix:///x", "linux", port, false, ""},
		{"unix:///x", "darwin", port, false, "use -cfg publish_ports=true"},
		{"unix:///x", "darwin", port, true, ""},
		{"tcp://far:2375", "linux", port, true, "the remote engine tcp://far:2375 (DOCKER_HOST)"},
		{"tcp://far:2375", "linux", line, false, ""},
	} {
		p := planner{environ: []string{"DOCKER_HOST=" + test.host}}
		got := p.unreachablePorts(app(test.ready), nil, options{publishPorts: test.published}, test.system)
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
