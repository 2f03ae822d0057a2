package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/state"
)

func (w *world) plan(t *testing.T) *Planned {
	t.Helper()
	p, err := w.Plan(t.Context(), PlanRequest{
		Backend: "local", App: echo(2), Provenance: Provenance{Source: history.Source{
			Component: "utils.echo", Args: []string{"--msg", "x"}, Cwd: "/w",
			Modules: json.RawMessage(`[1]`), Getenv: json.RawMessage(`{}`),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSubmitRecordsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.plan(t)
	w.local.submit = func(plan *backend.Plan) error {
		a := w.rowOf(t, p.Ref())
		if a.State != spec.Submitted || a.Component != "utils.echo" || len(a.Args) != 2 || a.Cwd != "/w" || a.Name != "echo" || string(a.Modules) != "[1]" {
			t.Errorf("got row %+v, want the submitted app", a)
		}
		if !strings.HasPrefix(a.Submitter, fmt.Sprint(os.Getpid(), ":")) || !alive(a.Submitter) {
			t.Errorf("got submitter %q, want this process", a.Submitter)
		}
		w.local.set(plan.ID, &spec.Status{State: spec.Running})
		return nil
	}
	h, err := w.Submit(t.Context(), p)
	if err != nil || h.String() != p.Ref().Handle() {
		t.Fatalf("got %v, %v, want %s", h, err, p.Ref().Handle())
	}
	var app spec.App
	if err := json.Unmarshal(w.rowOf(t, p.Ref()).Spec, &app); err != nil || app.Roles[0].NumReplicas != 2 {
		t.Errorf("got app %+v, %v, want 2 replicas", app, err)
	}
}

// TestSubmitRecordsSteps: while an image is pulled, other commands see which one.
func TestSubmitRecordsSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.plan(t)
	var told []backend.Step
	p.Plan.Progress = func(s backend.Step) { told = append(told, s) }
	w.local.submit = func(plan *backend.Plan) error {
		steps := []struct {
			step backend.Step
			want string
		}{
			{backend.Step{Name: "pull a:1", Text: "contacting r"}, "preparing: pull a:1"},
			{backend.Step{Name: "pull a:1", Done: 1}, "preparing: pull a:1"},
			{backend.Step{Name: "pull b:1"}, "preparing: pull a:1 (and 1 more)"},
			{backend.Step{Name: "pull a:1", Ended: true}, "preparing: pull b:1"},
			{backend.Step{Name: "pull b:1", Ended: true}, "preparing: pull b:1"},
		}
		for _, s := range steps {
			plan.Progress.Tell(s.step)
			var got *spec.Status
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				var err error
				if got, err = w.Status(t.Context(), p.Ref()); err != nil {
					return err
				}
				if got.Msg == s.want || time.Now().After(deadline) {
					break
				}
			}
			if got.State != spec.Submitted || got.Msg != s.want {
				t.Errorf("%+v: got %s %q, want SUBMITTED %q", s.step, got.State, got.Msg, s.want)
			}
		}
		w.local.set(plan.ID, &spec.Status{State: spec.Running})
		return nil
	}
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if a := w.rowOf(t, p.Ref()); a.State != spec.Running || a.Msg != "" {
		t.Errorf("got %s %q after the start, want RUNNING without a message", a.State, a.Msg)
	}
	if len(told) != 5 {
		t.Errorf("got %d steps %v, want all 5", len(told), told)
	}
}

func TestSubmitFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		err   error
		known *spec.Status // the backend's status afterwards
		state spec.State
		code  int
		msg   string
	}{
		{"not found", &backend.StartError{Code: 127, Err: errors.New("no such program")}, nil, spec.Failed, 127, "no such program"},
		{"unavailable", fmt.Errorf("no engine: %w", backend.ErrUnavailable), nil, spec.Failed, 125, "no engine: backend unavailable"},
		{"interrupted", context.Canceled, nil, spec.Cancelled, 130, "interrupted before it started"},
		{
			"status from the backend", &backend.StartError{Code: 126, Err: errors.New("x")},
			&spec.Status{State: spec.Failed, ExitCode: new(126), Msg: "from the backend"}, spec.Failed, 126, "from the backend",
		},
		{"still running", errors.New("connection lost"), &spec.Status{State: spec.Running}, spec.Running, -1, ""},
		{"started in part", &backend.StartError{Code: 125, Err: errors.New("y")}, &spec.Status{State: spec.Running}, spec.Failed, 125, "y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.local.submit = func(p *backend.Plan) error {
				if tt.known != nil {
					w.local.set(p.ID, tt.known)
				}
				return tt.err
			}
			p := w.plan(t)
			_, err := w.Submit(t.Context(), p)
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			a := w.rowOf(t, p.Ref())
			code := -1
			if a.ExitCode != nil {
				code = *a.ExitCode
			}
			if a.State != tt.state || code != tt.code || a.Msg != tt.msg {
				t.Errorf("got row %v, %d, %q, want %v, %d, %q", a.State, code, a.Msg, tt.state, tt.code, tt.msg)
			}
		})
	}
}

func TestSubmitTakenID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.plan(t)
	w.local.submit = func(*backend.Plan) error { return fmt.Errorf("taken: %w", backend.ErrExists) }
	if _, err := w.Submit(t.Context(), p); !errors.Is(err, backend.ErrExists) {
		t.Fatal(err)
	}
	if _, err := w.History.Get(t.Context(), "local", p.Plan.ID); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("record: got %v, want none", err)
	}
	w.local.submit = nil
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Submit(t.Context(), p); !errors.Is(err, backend.ErrExists) {
		t.Errorf("second Submit: got %v, want exists", err)
	}
	if a := w.rowOf(t, p.Ref()); a.State == spec.Failed {
		t.Errorf("first record: got %v, want it unchanged", a.State)
	}
}

func TestSubmitWithoutHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.History.(*state.DB).Close(); err != nil {
		t.Fatal(err)
	}
	p := w.plan(t)
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.warned(t, "app "+p.Ref().Handle()+" is not in the history")
	w.warnings, w.local.submit = nil, func(*backend.Plan) error { return errors.New("no room") }
	if _, err := w.Submit(t.Context(), w.plan(t)); err == nil || len(w.warnings) != 0 {
		t.Errorf("an app that does not start: got %v, warnings %q, want an error alone", err, w.warnings)
	}
	w.History, w.local.submit = nil, nil
	p = w.plan(t)
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if s, err := w.Status(t.Context(), p.Ref()); err != nil || s.State != spec.Running {
		t.Errorf("status: got %v, %v, want RUNNING", s, err)
	}
	if rows, err := w.List(t.Context(), Filter{}); err != nil || len(rows) != 2 {
		t.Errorf("list: got %v, %v, want 2 apps", rows, err)
	}
	if d, err := w.Describe(t.Context(), p.Ref()); err != nil || !d.Partial || !strings.Contains(string(d.Spec), `"num_replicas":2`) {
		t.Errorf("describe: got %+v, %v, want a partial description", d, err)
	}
	if ref, err := w.Resolve(t.Context(), p.Plan.ID[:len(p.Plan.ID)-1]); err != nil || ref.Backend != "local" {
		t.Errorf("resolve: got %v, %v, want the app", ref, err)
	}
	if err := w.Delete(t.Context(), p.Ref(), DeleteOptions{Force: true}); err != nil {
		t.Error(err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := w.Plan(t.Context(), PlanRequest{
		Backend: "local", App: echo(1),
		Cfg: []backend.Layer{backend.JSONLayer(map[string]any{"log_dir": "/l"}, "")},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Load(t.Context(), raw, LoadOptions{Cwd: "/c"})
	if err != nil {
		t.Fatal(err)
	}
	if again, want := partsOf(t, got), partsOf(t, p); again != want || got.Ref() != p.Ref() {
		t.Errorf("got %s\nwant %s", again, want)
	}
	edited := strings.Replace(string(raw), `"app_id": "echo-`, `"app_id": "mine-`, 1)
	if got, err = w.Load(t.Context(), []byte(edited), LoadOptions{Backend: "local_docker"}); err != nil || got.Backend != "docker" || !strings.HasPrefix(got.Plan.ID, "mine-") {
		t.Errorf("edited plan: got %+v, %v, want app mine on docker", got, err)
	}
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Load(t.Context(), raw, LoadOptions{}); !errors.Is(err, backend.ErrExists) {
		t.Errorf("an app in the history: got %v, want exists", err)
	}
	if err := w.History.Delete(t.Context(), "local", p.Plan.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Load(t.Context(), raw, LoadOptions{}); !errors.Is(err, backend.ErrExists) {
		t.Errorf("an app in the backend: got %v, want exists", err)
	}
}

// partsOf returns the JSON of a plan without what says how it was planned.
func partsOf(t *testing.T, p *Planned) string {
	t.Helper()
	raw, err := json.Marshal([]any{p.Plan.App, p.Plan.Cfg, p.Plan.Request})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw, err := w.plan(t).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		t.Helper()
		if !strings.Contains(string(raw), old) {
			t.Fatalf("plan %s lacks %s", raw, old)
		}
		return strings.Replace(string(raw), old, new, 1)
	}
	tests := []struct {
		name, text, want string
		is               error
	}{
		{"empty", "", "it is empty", backend.ErrInvalidPlan},
		{"no json", "\n\nfoo", "line 3: invalid character", backend.ErrInvalidPlan},
		{"array", "[]", "line 1: ", backend.ErrInvalidPlan},
		{"unknown field", edit(`{"app":`, `{"apps":`), `unknown field "apps"`, backend.ErrInvalidPlan},
		{"unknown field of a role", edit(`"entrypoint":`, `"entry":`), `unknown field "entry"`, backend.ErrInvalidPlan},
		{"empty object", "{}", `"app" or "request" is missing`, backend.ErrInvalidPlan},
		{"two values", string(raw) + "{}", "more than one", backend.ErrInvalidPlan},
		{"replicas", edit(`"num_replicas":2`, `"num_replicas":0`), "non-positive replicas", backend.ErrInvalidPlan},
		{"option", edit(`"image_type":"cwd"`, `"image_type":"cwf"`), "one of cwd, dir", backend.ErrInvalidOption},
		{"unknown option", edit(`"image_type":`, `"image_typ":`), "unknown option image_typ. Did you mean image_type?", backend.ErrInvalidPlan},
		{"bad id", edit(`"app_id":"`, `"app_id":"a/`), "app id", backend.ErrInvalidPlan},
		{"no backend", edit(`"TORCHX_JOB_ID"`, `"JOB_ID"`), "choose it with -b", backend.ErrInvalidPlan},
		{"unknown backend", edit(`local://torchx`, `nope://torchx`), `unknown backend "nope"`, backend.ErrNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.Load(t.Context(), []byte(tt.text), LoadOptions{})
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	own := submitter()
	f := strings.Split(own, ":")
	if !alive(own) {
		t.Errorf("alive(%q): got false, want true", own)
	}
	for _, text := range []string{"", "x", "0::", "-1:2:3", "1:2", f[0] + ":1:" + f[2], f[0] + ":" + f[1] + ":another-boot", "4194305:5:" + f[2]} {
		if alive(text) {
			t.Errorf("alive(%q): got true, want false", text)
		}
	}
	if !alive(f[0] + "::") {
		t.Error("without start time: got false, want true")
	}
}
