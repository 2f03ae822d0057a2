package backendtest

import (
	"encoding/json"
	"reflect"
	"slices"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func planIsPure(s *suite) {
	before, err := s.Backend.List(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	files := s.files()
	p := s.plan(s.role("r", 2)(s.Programs.Echo("x")))
	after, err := s.Backend.List(s.ctx)
	if err != nil || !s.Shared && len(after) != len(before) {
		s.Errorf("list: got %d apps after the plan, %d before (%v)", len(after), len(before), err)
	}
	if slices.ContainsFunc(after, func(v backend.View) bool { return v.ID == p.ID }) {
		s.Errorf("the list has the planned app %s", p.ID)
	}
	if now := s.files(); !reflect.DeepEqual(now, files) {
		s.Errorf("got files %v after the plan, %v before", now, files)
	}
	_, err = s.Backend.Describe(s.ctx, p.ID)
	s.wantError("describe of a planned app", err, backend.ErrNotFound)
}

func planKeepsApp(s *suite) {
	r := s.one(s.Programs.Echo("${app_id}"))
	r.Env = spec.Map[string]{{Key: "A", Value: "${app_id}"}}
	r.PortMap = spec.Map[int]{{Key: "p", Value: 80}}
	r.Metadata = map[string]any{"m": map[string]any{"k": []any{"${app_id}"}}}
	r.MinReplicas = ptr(1)
	in := s.input(r)
	before := in.App.Clone()
	p := s.planInput(in)
	if !reflect.DeepEqual(in.App, before) {
		s.Errorf("got app %+v after the plan, %+v before", in.App, before)
	}
	if p.App == nil || p.App == in.App {
		s.Fatal("the plan has no copy of the app")
	}
	p.App.Roles[0].Env.Set("A", "changed")
	if !reflect.DeepEqual(in.App, before) {
		s.Error("the plan's app shares its env with the input")
	}
}

func planIsStable(s *suite) {
	in := s.input(s.role("r", 2)(s.Programs.Echo("x")))
	a, b := s.encode(s.planInput(in)), s.encode(s.planInput(in))
	if string(a) != string(b) {
		s.Errorf("two plans of the same input differ:\n%s\n%s", a, b)
	}
}

func (s *suite) encode(p *backend.Plan) json.RawMessage {
	s.Helper()
	raw, err := json.Marshal(p.Request)
	if err != nil {
		s.Fatalf("encode the request: %v", err)
	}
	return raw
}

func loadRoundTrip(s *suite) {
	in := s.input(s.one(s.Programs.Echo("hello")))
	p := s.planInput(in)
	raw := s.encode(p)
	in.ID, in.App = p.ID, s.throughJSON(p.App)
	loaded, err := s.Backend.Load(s.ctx, in, raw)
	if err != nil {
		s.Fatalf("load: %v", err)
	}
	if got := s.encode(loaded); loaded.ID != p.ID || string(got) != string(raw) {
		s.Errorf("loaded %s with %s\nwant %s with %s", loaded.ID, got, p.ID, raw)
	}
	s.submit(loaded)
	s.wantEnd(p.ID, spec.Succeeded)
	s.wantLog(p.ID, "hello\n")
}

func (s *suite) throughJSON(app *spec.App) *spec.App {
	s.Helper()
	raw, err := json.Marshal(app)
	if err != nil {
		s.Fatal(err)
	}
	copied := &spec.App{}
	if err := json.Unmarshal(raw, copied); err != nil {
		s.Fatal(err)
	}
	return copied
}

func loadRefuses(s *suite) {
	in := s.input(s.one(s.Programs.Echo("x")))
	p := s.planInput(in)
	in.ID = p.ID
	good := string(s.encode(p))
	for _, raw := range []string{``, `{`, `[]`, `null`, `1`, `"x"`, `{}`, `{"surprise": 1}`, good[1:], `{"surprise": 1, ` + good[1:]} {
		_, err := s.Backend.Load(s.ctx, in, json.RawMessage(raw))
		s.wantError("load of "+raw, err, backend.ErrInvalidPlan)
	}
}
