package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

type golden struct {
	Env    map[string]string
	AppDef *spec.App
}

func readGolden(t *testing.T, name string) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	// Here, handles hold the canonical name of the backend.
	data = bytes.ReplaceAll(data, []byte(`"local_cwd://`), []byte(`"local://`))
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGoldenEnv(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file     string
		trackers []config.Tracker
		parent   string
	}{
		{"trackers_env.local_cwd.json", []config.Tracker{{Name: "unused"}}, "cli"},
		{"config_default_component.local_cwd.json", []config.Tracker{{Name: "fsspec", Config: "$PEER/fsspec.conf"}, {Name: "mlf"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			g := readGolden(t, tt.file)
			w := newWorld(t)
			w.env = g.Env
			q := PlanRequest{Backend: "local_cwd", App: echo(1), Tracking: Tracking{Trackers: tt.trackers, ParentRunID: tt.parent}}
			p, err := w.Plan(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.App().Roles[0].Env; !reflect.DeepEqual(got, g.AppDef.Roles[0].Env) {
				t.Errorf("got %v, want %v", got, g.AppDef.Roles[0].Env)
			}
			if p.Ref() != (history.AppKey{Backend: "local", ID: "echo-bzx310r0jf6nh"}) {
				t.Errorf("got ref %v, want echo-bzx310r0jf6nh", p.Ref())
			}
		})
	}
}

func TestPlanLeavesAppAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := echo(1)
	app.Roles[0].Env.Set("A", "role")
	env, _, err := ParseEnv([]string{"A=cli=1", "B=", "TORCHX_JOB_ID=mine"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: app, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if len(app.Roles[0].Env) != 1 {
		t.Errorf("the caller's app: got env %v, want it unchanged", app.Roles[0].Env)
	}
	got := p.App().Roles[0].Env
	if len(got) != 4 || got[0].Value != "cli=1" || got[1].Key != "B" || got[2].Value != "local://torchx/${app_id}" {
		t.Errorf("got env %v", got)
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if id, _ := got.Get(envSessionID); !uuid.MatchString(id) {
		t.Errorf("got session ID %q, want a UUID", id)
	}
	lookup := func(name string) (string, bool) { return "here", name == "A" }
	if env, unset, err := ParseEnv([]string{"A", "B"}, lookup); err != nil || len(env) != 1 || env[0].Value != "here" || len(unset) != 1 {
		t.Errorf("names alone: got %v, %v, %v", env, unset, err)
	}
	if _, _, err := ParseEnv([]string{"A: 1"}, nil); err == nil {
		t.Error("--env A: got nil, want an error")
	}
}

func TestEmptyTrackersVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env[envTrackers] = ""
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: echo(1), Tracking: Tracking{Trackers: []config.Tracker{{Name: "x", Config: "y"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.App().Roles[0].Env.Get(envTrackers); ok {
		t.Errorf("got env %v, want it without "+envTrackers, p.App().Roles[0].Env)
	}
}

func TestPlanJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := echo(1)
	app.Roles[0].Args = []string{"a && b > <c>"}
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: app})
	if err != nil {
		t.Fatal(err)
	}
	data, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte(`{"app":{"name":"echo"`)) || !bytes.Contains(data, []byte(`},"cfg":{"image_type":"cwd","log_dir":null},"request":{"app_id":"echo-bzx`)) {
		t.Errorf("got %s", data)
	}
	if !bytes.Contains(data, []byte(`a && b > <c>`)) {
		t.Errorf("got %s, want it without escapes", data)
	}
}

func TestPlanErrors(t *testing.T) {
	t.Parallel()
	plain := echo(1)
	plain.Roles[0].Resource = spec.NullResource()
	noRoles := &spec.App{Name: "x"}
	bad := func(text string) []backend.Layer {
		return []backend.Layer{{{Key: "image_type", Text: text, Origin: "-cfg"}}}
	}
	tests := []struct {
		name string
		q    PlanRequest
		want []string
		is   error
	}{
		{"backend", PlanRequest{Backend: "nope", App: echo(1)}, []string{`"nope"`, "local, docker"}, backend.ErrNotFound},
		{"strict", PlanRequest{Backend: "local", App: plain, Strict: true}, []string{"role echo", "--strict", "resource"}, nil},
		{"no roles", PlanRequest{Backend: "local", App: noRoles}, []string{"no roles for app: x"}, nil},
		{"no app", PlanRequest{Backend: "local"}, []string{"no app"}, nil},
		{"cfg", PlanRequest{Backend: "local", App: echo(1), Cfg: bad("x")}, []string{"backend local", "image_type", "cwd, dir", "runopts local"}, backend.ErrInvalidOption},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := newWorld(t).Plan(t.Context(), tt.q)
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("got %v, want %v", err, tt.is)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
	if _, err := newWorld(t).Plan(t.Context(), PlanRequest{Backend: "local", App: plain}); err != nil {
		t.Errorf("without --strict: got %v, want nil", err)
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	text := "[local]\nlog_dir = canonical\nbogus = 1\n[local_cwd]\nlog_dir = cwd\n[local_dir]\nlog_dir = dir\n"
	if err := os.WriteFile(dir+"/.torchxconfig", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{LookupEnv: func(string) (string, bool) { return "", false }, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]backend.Config{
		"local":     {"log_dir": "canonical", "image_type": "cwd"},
		"local_cwd": {"log_dir": "cwd", "image_type": "cwd"},
		"local_dir": {"log_dir": "dir", "image_type": "dir"},
	} {
		layer, err := w.ConfigLayer(c, name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Plan(t.Context(), PlanRequest{Backend: name, App: echo(1), Cfg: []backend.Layer{nil, layer}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Backend != "local" || !reflect.DeepEqual(p.Plan.Cfg, want) {
			t.Errorf("%s: got %s, %v, want local, %v", name, p.Backend, p.Plan.Cfg, want)
		}
		if want := dir + "/.torchxconfig:3: unknown option bogus"; len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], want) || p.Warnings[1] != "planned" {
			t.Errorf("got warnings %q, want %q and planned", p.Warnings, want)
		}
	}
}

func TestPreProc(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := echo(1)
	app.Roles = append(app.Roles, app.Roles[0], app.Roles[0])
	app.Roles[1].Name, app.Roles[2].Name = "second", "third"
	add := func(value string) spec.PreProc {
		return func(backendName string, raw []byte) ([]byte, error) {
			var q request
			if err := json.Unmarshal(raw, &q); err != nil {
				return nil, err
			}
			q.Env[0].Set("X", q.Env[0][len(q.Env[0])-1].Value+backendName+value)
			return json.Marshal(q)
		}
	}
	app.Roles[0].PreProc, app.Roles[2].PreProc = add("1"), add("2")
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: app, Env: spec.Map[string]{{Key: "E", Value: "e"}}})
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := p.Plan.Request.(*request).Env[0].Get("X"); !strings.HasSuffix(x, "local1local2") {
		t.Errorf("got X = %q, want suffix local1local2", x)
	}
	if !reflect.DeepEqual(p.Warnings, []string{"planned", "loaded"}) {
		t.Errorf("got warnings %q, want planned, loaded", p.Warnings)
	}
	app.Roles[2].PreProc = func(string, []byte) ([]byte, error) { return []byte("{"), nil }
	if _, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: app}); !errors.Is(err, backend.ErrInvalidPlan) {
		t.Errorf("broken result: got %v, want an invalid plan", err)
	}
	app.Roles[2].PreProc = func(string, []byte) ([]byte, error) { return nil, errors.New("boom") }
	if _, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: app}); err == nil || err.Error() != "role third: boom" {
		t.Errorf("failing pre_proc: got %v, want boom", err)
	}
}

func TestAppID(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"echo":       "echo-bzx310r0jf6nh",
		"a/b c\td\n": "a-b-c-d--bzx310r0jf6nh",
		"x\x00\x1b":  "x---bzx310r0jf6nh",
		"bad\xff":    "bad--bzx310r0jf6nh",
		"ünï ":       "ünï--bzx310r0jf6nh",
	} {
		got := AppID(name, goldenRandom)
		if got != want {
			t.Errorf("AppID(%q): got %q, want %q", name, got, want)
		}
		h, err := spec.ParseHandle(history.AppKey{Backend: "local", ID: got}.Handle())
		if err != nil || h.AppID != got {
			t.Errorf("handle of %q: got %v, %v, want the same ID", got, h, err)
		}
	}
}

func TestRandomIsNeverZero(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	values := []uint64{0, 0, 7, 8, 9}
	w.Rand = func() uint64 { v := values[0]; values = values[1:]; return v }
	w.env[envSessionID] = "s"
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: echo(1)})
	if err != nil || p.Plan.ID != AppID("echo", 7) {
		t.Fatalf("got %v, %v, want the first ID without zero", p, err)
	}
	if a, b := (&Runner{}).random(), (&Runner{}).random(); a == b {
		t.Error("got equal random values, want different ones")
	}
}

func TestTooManyMinReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for least, want := range map[int]int{0: 1, 2: 1, 3: 2} {
		app := echo(2)
		app.Roles[0].MinReplicas = &least
		p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: app})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Warnings) != want || want == 2 && !strings.Contains(p.Warnings[0], "role echo has min_replicas 3, but only 2 replicas") {
			t.Errorf("%d: got warnings %q, want %d", least, p.Warnings, want)
		}
	}
}
