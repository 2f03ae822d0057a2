package runner

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

// TestLoadEdited: the request of an edited app is made anew, and edits of both must agree.
func TestLoadEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "local", App: echo(1)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		edit        func(plan map[string]any)
		image, note string // what runs
		want        string // error
	}{
		"nothing": {func(map[string]any) {}, "i", "", ""},
		"app": {func(plan map[string]any) {
			roleIn(plan)["image"] = "edited"
		}, "edited", "the request is made anew", ""},
		"cfg": {func(plan map[string]any) {
			plan["cfg"].(map[string]any)["log_dir"] = "/edited"
		}, "i", "the request is made anew", ""},
		"request": {func(plan map[string]any) {
			plan["request"].(map[string]any)["env"] = []any{}
		}, "i", "request was edited", ""},
		"request removed": {func(plan map[string]any) {
			delete(plan, "request")
		}, "i", "the request is made anew", ""},
		"both agree": {func(plan map[string]any) {
			roleIn(plan)["env"].(map[string]any)["A"] = "1"
			env := plan["request"].(map[string]any)["env"].([]any)
			env[0].(map[string]any)["A"] = "1"
		}, "i", "", ""},
		"both disagree": {func(plan map[string]any) {
			roleIn(plan)["env"].(map[string]any)["A"] = "1"
			env := plan["request"].(map[string]any)["env"].([]any)
			env[0].(map[string]any)["A"] = "2"
		}, "", "", "disagree at request.env[0].A"},
		"app of pre_proc": {func(plan map[string]any) {
			plan["planned"].(map[string]any)["pre_proc"] = true
			roleIn(plan)["image"] = "edited"
		}, "", "", "pre_proc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var plan map[string]any
			if err := json.Unmarshal(raw, &plan); err != nil {
				t.Fatal(err)
			}
			tt.edit(plan)
			text, err := json.MarshalIndent(plan, "", "   ")
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.Load(t.Context(), text, LoadOptions{Cwd: "/c"})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, backend.ErrInvalidPlan) {
					t.Fatalf("got %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil || got.Ref() != p.Ref() || got.App().Roles[0].Image != tt.image {
				t.Fatalf("got %+v, %v, want image %s", got, err, tt.image)
			}
			if notes := strings.Join(got.Plan.Notes, "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
				t.Errorf("got notes %q, want %q", notes, tt.note)
			}
		})
	}
}

// roleIn returns the first role of a plan.
func roleIn(plan map[string]any) map[string]any {
	roles := plan["app"].(map[string]any)["roles"].([]any)
	return roles[0].(map[string]any)
}
