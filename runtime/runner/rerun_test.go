package runner

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func TestRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	source := history.Source{
		Component: "utils.echo", Args: []string{"--msg", "x"}, Cwd: "/w",
		Modules: json.RawMessage(`[{"path":"/w/x.star"}]`), Getenv: json.RawMessage(`{"A":"1"}`), Request: json.RawMessage(`{"env":{"B":"2"}}`),
	}
	p, err := w.Plan(t.Context(), PlanRequest{
		Backend: "local_dir", App: echo(2), Provenance: Provenance{Source: source, Origin: "rerun of something"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	c, err := w.Recorded(t.Context(), p.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if c.App == nil || c.App.Roles[0].NumReplicas != 2 {
		t.Errorf("got app %+v, want 2 replicas", c.App)
	}
	c.App = nil
	want := &Recorded{
		Ref: p.Ref(), Source: source,
		Cfg: map[string]any{"image_type": "dir"}, // log_dir had no value
	}
	if !reflect.DeepEqual(c, want) || !c.Evaluated() {
		t.Errorf("got %+v, want %+v", c, want)
	}
	events, err := w.History.Events(t.Context(), "local", p.Plan.ID)
	if err != nil || len(events) == 0 || events[0].Msg != "rerun of something" {
		t.Errorf("got events %+v, %v, want the origin first", events, err)
	}
	if s, err := w.Status(t.Context(), p.Ref()); err != nil || s.Msg != "" {
		t.Errorf("got message %q, %v, want none", s.Msg, err)
	}
}

func TestNotRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.local.set("known", &spec.Status{State: spec.Running})
	for _, id := range []string{"known", "unknown"} {
		if _, err := w.Recorded(t.Context(), history.AppKey{Backend: "local", ID: id}); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", id, err)
		}
	}
	if c := (&Recorded{Source: history.Source{Component: "utils.echo"}}); c.Evaluated() {
		t.Error("an app without modules: got Evaluated, want not")
	}
}
