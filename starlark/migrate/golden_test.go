package migrate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "torchx/test/cleanenv"

	"torchx/components"
	"torchx/starlark/analysis"
	"torchx/starlark/component"
	"torchx/starlark/starfiles"
	"torchx/starlark/starlint"
)

// golden is a dry run of TorchX of a component in comps.py.
type golden struct {
	Name   string
	Argv   []string
	AppDef map[string]any
}

// TestGoldens ports the file that the goldens were made with, and builds from the port
// what TorchX built from the file.
func TestGoldens(t *testing.T) {
	t.Parallel()
	r := port(t, "testdata/comps.py")
	for _, p := range r.Problems {
		t.Error(p)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "comps.star"), []byte(r.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../component/testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, file := range files {
		g := golden{}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(err)
		}
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			g.check(t, dir)
		})
	}
}

func (g golden) check(t *testing.T, dir string) {
	at := slices.IndexFunc(g.Argv, func(arg string) bool { return strings.HasPrefix(arg, "comps.py:") })
	loader := component.NewLoader(component.Config{Dir: dir, Builtins: components.FS})
	c, err := loader.Find(t.Context(), strings.Replace(g.Argv[at], ".py", ".star", 1))
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Build(t.Context(), component.Inputs{Args: g.Argv[at+1:]})
	if g.AppDef == nil || err != nil {
		if g.AppDef != nil || err == nil {
			t.Errorf("error %v, and an app in the golden: %v", err, g.AppDef != nil)
		}
		return
	}
	data, err := json.Marshal(result.App)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	g.correct()
	if !reflect.DeepEqual(got, g.AppDef) {
		t.Errorf("app\n%v\nwant\n%v", got, g.AppDef)
	}
}

// correct takes out what TorchX's runner adds, and what it gets wrong about arguments.
func (g golden) correct() {
	roles := g.AppDef["roles"].([]any)
	for _, r := range roles {
		env := r.(map[string]any)["env"].(map[string]any)
		delete(env, "TORCHX_JOB_ID")
		delete(env, "TORCHX_INTERNAL_SESSION_ID")
	}
	args := roles[0].(map[string]any)["args"].([]any)
	switch g.Name {
	case "custom_types_ok": // Optional[int] stays a string
		args[9] = "7"
	case "custom_types_dashdash": // --b 1 is false, silently
		args[2] = "True"
	}
}

// TestRefusedByTorchX: a component that TorchX refuses is a note, not a problem; the port refuses
// it, too.
func TestRefusedByTorchX(t *testing.T) {
	t.Parallel()
	r := port(t, "testdata/comps.py")
	for name, want := range map[string]string{
		"noannotation": "argument a: it has no type annotation",
		"badtype":      "only str, int, float and bool can be in a list or dict",
	} {
		if slices.Contains(r.Components, name) || !strings.Contains(r.Text, "\ndef "+name+"(a = None") || !strings.Contains(r.Text, want) {
			t.Errorf("%s is not refused in the port", name)
		}
		if !slices.ContainsFunc(r.Notes, func(p Problem) bool { return strings.HasPrefix(p.Msg, name+": TorchX refuses") && p.Line > 0 }) {
			t.Errorf("%s: no note among %v", name, r.Notes)
		}
	}
	if strings.Contains(r.Text, "\ndef noreturn(") {
		t.Error("noreturn, which lacks the annotation AppDef, became a component")
	}
}

// ownFindings are rules of lint that a port may break because the Python file does.
var ownFindings = []string{"role-without-resource", "unused-variable", "confusing-name", "uninitialized"}

// TestTidy: ports are formatted, and lint finds nothing that the port caused.
func TestTidy(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.py")
	cases, err2 := filepath.Glob("testdata/c*/*.py")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, file := range append(files, cases...) {
		r := port(t, file)
		again, err := starfiles.Format("port.star", []byte(r.Text))
		if err != nil || string(again) != r.Text {
			t.Errorf("%s: the port is not formatted (%v)", file, err)
		}
		for _, f := range starlint.Check(analysis.New("port.star", nil, r.Text, nil), nil) {
			if !slices.Contains(ownFindings, f.Rule) {
				t.Errorf("%s: %v", file, f)
			}
		}
	}
}
