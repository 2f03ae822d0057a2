package membackend

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/backendtest"
)

// programNames implements backendtest.Programs with the programs of this backend.
type programNames struct{}

func (programNames) Echo(text string) (string, []string)  { return "echo", []string{text} }
func (programNames) Print(text string) (string, []string) { return "printf", []string{text} }
func (programNames) Env(name string) (string, []string)   { return "printenv", []string{name} }
func (programNames) Exit(code int) (string, []string)     { return "exit", []string{strconv.Itoa(code)} }
func (programNames) IgnoreTerm() (string, []string)       { return "hang", nil }
func (programNames) Die() (string, []string)              { return "die", []string{"KILL"} }

func (programNames) FailWith(text string, code int) (string, []string) {
	return "fail", []string{strconv.Itoa(code), text}
}

func (programNames) Sleep(d time.Duration) (string, []string) { return "sleep", []string{inSeconds(d)} }

func (programNames) Lines(n int, pause time.Duration) (string, []string) {
	return "lines", []string{strconv.Itoa(n), inSeconds(pause)}
}

func inSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

func TestConformance(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(*testing.T) backendtest.Harness {
		b := New()
		return backendtest.Harness{
			Backend: b, Programs: programNames{}, Caps: backendtest.AllCaps(),
			Reopen: func(*testing.T) backend.Backend { return b.Reopen() },
		}
	})
}

// run runs roles, each "name replicas program argument…", to the end.
func run(t *testing.T, cfg backend.Config, change func(app *spec.App), roles ...string) *spec.Status {
	t.Helper()
	app := &spec.App{Name: "app"}
	for _, text := range roles {
		words := strings.Fields(text)
		r := spec.NewRole(words[0], "")
		r.NumReplicas, _ = strconv.Atoi(words[1])
		r.Entrypoint, r.Args = words[2], words[3:]
		app.Roles = append(app.Roles, r)
	}
	if change != nil {
		change(app)
	}
	b := New()
	p, err := b.Plan(t.Context(), backend.PlanInput{ID: "a", App: app, Cfg: cfg})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	s, err := b.Wait(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func states(s *spec.Status) string {
	words := []string{s.State.String()}
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			words = append(words, r.State.String())
		}
	}
	return strings.Join(words, " ")
}

func TestWithoutFailFast(t *testing.T) {
	t.Parallel()
	s := run(t, backend.Config{"fail_fast": false}, nil, "a 1 exit 3", "b 1 sleep 0.05")
	if got := states(s); got != "FAILED FAILED SUCCEEDED" || *s.ExitCode != 3 {
		t.Errorf("got %s with exit code %d", got, *s.ExitCode)
	}
}

func TestMinReplicas(t *testing.T) {
	t.Parallel()
	for minimum, want := range map[int]spec.State{0: spec.Succeeded, 1: spec.Succeeded, 2: spec.Failed} {
		// Replica 0 succeeds, replica 1 fails.
		s := run(t, nil, func(app *spec.App) { app.Roles[0].MinReplicas = &minimum }, "r 2 exit ${replica_id}")
		if s.State != want || s.Roles[0].Replicas[1].State != spec.Failed {
			t.Errorf("min_replicas %d: got %s, want %v", minimum, states(s), want)
		}
	}
}

func TestGracePeriod(t *testing.T) {
	t.Parallel()
	s := run(t, backend.Config{"grace_period": 0.01}, nil, "a 1 hang", "b 1 false")
	if got := states(s); got != "FAILED CANCELLED FAILED" || *s.Roles[0].Replicas[0].ExitCode != codeKill {
		t.Errorf("got %s, %+v", got, s.Roles[0].Replicas[0])
	}
}

func TestPlanRefusesCfg(t *testing.T) {
	t.Parallel()
	role := spec.NewRole("r", "")
	role.Entrypoint = "true"
	for _, cfg := range []backend.Config{
		{"fail_fast": "yes"},
		{"grace_period": 1},
		{"grace_period": -1.0},
		{"color": "red"},
		{"count": 1.5},
		{"tags": map[string]string{}},
		{"labels": []string{}},
		{"extra": true},
	} {
		_, err := New(backend.Option{Key: "extra", Type: backend.TypeStr}).Plan(t.Context(),
			backend.PlanInput{ID: "a", App: &spec.App{Name: "app", Roles: []spec.Role{role}}, Cfg: cfg})
		if !errors.Is(err, backend.ErrInvalidOption) {
			t.Errorf("%v: got %v, want ErrInvalidOption", cfg, err)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	role := spec.NewRole("r", "")
	role.Entrypoint = "true"
	in := backend.PlanInput{ID: "a", App: &spec.App{Name: "app", Roles: []spec.Role{role}}}
	for raw, want := range map[string]string{
		`{"app_id":"b"}`:                                                       "app_id",
		`{"app_id":"a","roles":[]}`:                                            "roles",
		`{"app_id":"a","roles":[{"name":"x"}]}`:                                "roles[0].name",
		`{"app_id":"a","roles":[{"name":"r"}]}`:                                "roles[0].replicas",
		`{"app_id":"a","roles":[{"name":"r","replicas":[{"args":[]}]}]}`:       "roles[0].replicas[0].args",
		`{"app_id":"a","roles":[{"name":"r","replicas":[{"argv":["true"]}]}]}`: "argv",
	} {
		_, err := New().Load(t.Context(), in, json.RawMessage(raw))
		if !errors.Is(err, backend.ErrInvalidPlan) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s in it", raw, err, want)
		}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"true": "SUCCEEDED", "false": "FAILED", "exit x": "FAILED", "sleep x": "FAILED", "lines x": "FAILED",
		"fail x": "FAILED", "die x": "FAILED", "die TERM": "FAILED", "printenv NONE": "FAILED", "lines 2": "SUCCEEDED",
	} {
		if got := run(t, nil, nil, "r 1 "+text).State.String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// There is one warning about settings without an effect.
func TestOrderIsIgnored(t *testing.T) {
	t.Parallel()
	roles := []spec.Role{spec.NewRole("a", "img"), spec.NewRole("b", "img")}
	for i := range roles {
		roles[i].Entrypoint = "true"
		roles[i].Metadata = map[string]any{spec.OrderKey: map[string]any{"ready": map[string]any{"port": 80}}}
	}
	b := New()
	p, err := b.Plan(t.Context(), backend.PlanInput{ID: "x", App: &spec.App{Name: "x", Roles: roles}})
	if err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "depends_on and ready") {
		t.Errorf("warnings %q, %v", p.Warnings, err)
	}
}
