package components_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
)

type golden struct {
	Argv   []string          `json:"argv"`
	Env    map[string]string `json:"env"`
	AppDef map[string]any    `json:"appdef"` // nil if the reference failed
}

// TestGolden builds the apps of the shared dry runs and compares everything that a
// component decides.
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/dryrun/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		t.Run(strings.TrimSuffix(name, ".local_cwd.json"), func(t *testing.T) {
			t.Parallel()
			var g golden
			readJSON(t, filepath.Join("dryrun", name), &g)
			checkGolden(t, g)
		})
	}
}

func checkGolden(t *testing.T, g golden) {
	i := slices.Index(g.Argv, "--dryrun") + 1
	app, _, err := build(t, g.Env, g.Argv[i], g.Argv[i+1:]...)
	if g.AppDef == nil {
		if err == nil {
			t.Fatalf("%q was accepted", g.Argv[i:])
		}
		return
	}
	if err != nil {
		t.Fatalf("build %q: %v", g.Argv[i:], err)
	}
	encoded, err := json.Marshal(app)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	adapt(g.AppDef, got)
	if want, got := pretty(t, g.AppDef), pretty(t, got); want != got {
		t.Error(diff(want, got))
	}
}

// endpoint matches the rendezvous address of the reference, which has a fixed port.
var endpoint = regexp.MustCompile(`(:=localhost}):(\d+)`)

// adapt applies intended differences to the reference: the runner, not the component,
// sets two variables; the backend may choose the rendezvous port, so that two local
// runs do not collide; booth runs a different program.
func adapt(want, got map[string]any) {
	for i, r := range want["roles"].([]any) {
		role := r.(map[string]any)
		env := role["env"].(map[string]any)
		delete(env, "TORCHX_JOB_ID")
		delete(env, "TORCHX_INTERNAL_SESSION_ID")
		for k, a := range role["args"].([]any) {
			role["args"].([]any)[k] = endpoint.ReplaceAllString(a.(string), `$1:$$$${TORCHX_PORT_C10D:=$2}`)
		}
		if role["name"] == "torchx-utils-booth" {
			ours := got["roles"].([]any)[i].(map[string]any)
			role["entrypoint"], role["args"] = ours["entrypoint"], ours["args"]
		}
	}
}

func pretty(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func diff(want, got string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(want), B: difflib.SplitLines(got),
		FromFile: "want", ToFile: "got", Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return text
}
