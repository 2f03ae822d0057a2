package all

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"torchx/backends/driver"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// printed is the JSON form of a plan that `submit` reads.
type printed struct {
	App     *spec.App       `json:"app"`
	Cfg     map[string]any  `json:"cfg"`
	Request json.RawMessage `json:"request"`
}

// FuzzLoad loads edited plans on every backend. A plan that is accepted is the same after
// printing and loading it again. Nothing contacts a backend.
func FuzzLoad(f *testing.F) {
	home := filepath.Join(f.TempDir(), "home")
	r := &runner.Runner{
		Backends: New(driver.Env{Home: home, Exe: "torchx", Version: "0", Offline: true}),
		Rand:     func() uint64 { return 1 }, LookupEnv: func(string) (string, bool) { return "", false },
	}
	var seeds []seed
	for _, c := range []struct{ backend, cfg string }{
		{"local", ""}, {"docker", ""}, {"kubernetes", "gang=volcano"}, {"kubernetes", "gang=jobset"}, {"kubernetes", "gang=job"},
	} {
		seeds = append(seeds, seed{c.backend, seedPlan(f, r, c.backend, c.cfg)})
	}
	for i := range seeds {
		f.Add(uint8(i), "", "")
		f.Add(uint8(i), `"num_replicas":2`, `"num_replicas":2147483647`)
		f.Add(uint8(i), `"request":{`, `"request":{"objects":[{}],`)
		f.Add(uint8(i), `"w"`, `"../x"`)
		f.Add(uint8(i), `:0.5`, `:1e308`)
		f.Add(uint8(i), `{`, `[{},{},null,`)
	}
	f.Fuzz(func(t *testing.T, n uint8, old, replacement string) {
		s := seeds[int(n)%len(seeds)]
		name, raw := s.backend, bytes.Replace(s.plan, []byte(old), []byte(replacement), 2)
		b, err := r.Backends.Get(name)
		if err != nil {
			return
		}
		plan := loadPlan(t, b, raw)
		if plan == nil {
			return
		}
		once := encode(t, plan)
		reloaded := loadPlan(t, b, once)
		if reloaded == nil {
			t.Fatalf("%s: the plan loaded from %.2000s is refused after printing: %.2000s", name, raw, once)
		}
		if twice := encode(t, reloaded); string(twice) != string(once) {
			t.Errorf("%s: loaded again: got\n%.2000s\nwant\n%.2000s", name, twice, once)
		}
	})
}

// seed is a plan before it is edited.
type seed struct {
	backend string
	plan    []byte
}

// seedPlan returns the printed plan of an app that sets most fields.
func seedPlan(f *testing.F, r *runner.Runner, name, cfg string) []byte {
	f.Helper()
	layer, err := backend.CfgLayer(cfg)
	if err != nil {
		f.Fatal(err)
	}
	role := spec.NewRole("w", "img")
	role.Entrypoint, role.Args, role.NumReplicas = "sh", []string{"-c", "echo ${replica_id}"}, 2
	role.Env.Set("K", "${app_id}")
	role.PortMap.Set("http", 80)
	role.Resource = spec.Resource{CPU: 0.5, MemMB: 64, GPU: 1}
	role.Mounts = []spec.Mount{{Type: spec.MountVolume, Src: "v", Dst: "/v"}}
	app := &spec.App{Name: "a", Roles: []spec.Role{role}, Metadata: map[string]any{}}
	p, err := r.Plan(f.Context(), runner.PlanRequest{Backend: name, App: app, Cfg: []backend.Layer{layer}, DefaultImage: "img", Environ: []string{}})
	if err != nil {
		f.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// loadPlan loads a plan as runner.Load does. It returns nil if the plan is refused.
func loadPlan(t *testing.T, b backend.Backend, raw []byte) *backend.Plan {
	t.Helper()
	var in printed
	if json.Unmarshal(raw, &in) != nil || in.App == nil || in.App.Validate() != nil {
		return nil
	}
	cfg, _, err := backend.Resolve(b.Options(), backend.JSONLayer(in.Cfg, "cfg"))
	if err != nil {
		return nil
	}
	if cuda, _ := cfg["auto_set_cuda_visible_devices"].(bool); cuda {
		return nil // Load would list the GPUs
	}
	var named struct {
		AppID string `json:"app_id"`
	}
	_ = json.Unmarshal(in.Request, &named)
	plan, err := b.Load(t.Context(), backend.PlanInput{ID: named.AppID, App: in.App, Cfg: cfg, Cwd: "/", Environ: []string{}}, in.Request)
	if err != nil {
		return nil
	}
	return plan
}

func encode(t *testing.T, p *backend.Plan) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"app": p.App, "cfg": p.Cfg, "request": p.Request})
	if err != nil {
		t.Fatalf("a loaded plan has no JSON form: %v", err)
	}
	return data
}
