package migrate

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"torchx/components"
	"torchx/starlark/component"
)

// environ is what components read in these tests.
func environ(name string) (string, bool) { return "yes", name == "TORCHX_SET" }

// needPython skips a test without python3, unless TORCHX_REQUIRE asks for it.
func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if strings.Contains(","+os.Getenv("TORCHX_REQUIRE")+",", ",python,") {
			t.Fatal(err)
		}
		t.Skip("python3 is not there")
	}
}

func port(t *testing.T, file string) *Result {
	t.Helper()
	needPython(t)
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Port(t.Context(), "python3", file, source)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcome is what a component gives: an app, or an error.
type outcome struct {
	App   any    `json:"app"`
	Error string `json:"error"`
}

// TestAgainstPython runs each component as Python and as its port.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cases/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := port(t, file)
			for _, p := range r.Problems {
				t.Error(p)
			}
			want := inPython(t, file)
			if len(want) == 0 {
				t.Fatal("no components")
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "port.star"), []byte(r.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, w := range want {
				if !contains(r.Components, name) {
					t.Errorf("%s is not among the ported %v", name, r.Components)
				}
				compare(t, name, inStarlark(t, dir, name), w)
			}
			if t.Failed() {
				t.Log(r.Text)
			}
		})
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func compare(t *testing.T, name string, got, want outcome) {
	t.Helper()
	if want.Error != "" || got.Error != "" {
		if want.Error == "" || got.Error == "" || !strings.Contains(got.Error, strings.Trim(strings.SplitN(want.Error, ": ", 2)[1], `'`)) {
			t.Errorf("%s: error %q, Python's is %q", name, got.Error, want.Error)
		}
		return
	}
	if !reflect.DeepEqual(got.App, want.App) {
		g, _ := json.MarshalIndent(got.App, "", " ")
		w, _ := json.MarshalIndent(want.App, "", " ")
		t.Errorf("%s: app\n%s\nPython's is\n%s", name, g, w)
	}
}

func inPython(t *testing.T, file string) map[string]outcome {
	t.Helper()
	cmd := exec.Command("python3", "testdata/python/run.py", file)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "TORCHX_SET=yes")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]outcome
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for name, o := range all {
		if app, ok := o.App.(map[string]any); ok {
			all[name] = outcome{App: mounted(app)}
		}
	}
	return all
}

// mounted writes the mounts of TorchX, which are classes, as apps have them here, and adds
// the fields that the stub of TorchX has not.
func mounted(app map[string]any) map[string]any {
	for _, r := range app["roles"].([]any) {
		role := r.(map[string]any)
		role["workspace"] = nil
		for i, m := range role["mounts"].([]any) {
			mount := m.(map[string]any)
			role["mounts"].([]any)[i] = map[string]any{
				"kind": "BindMount", "src_path": mount["src_path"], "dst_path": mount["dst_path"], "read_only": mount["read_only"],
			}
		}
	}
	return app
}

func inStarlark(t *testing.T, dir, name string) outcome {
	t.Helper()
	loader := component.NewLoader(component.Config{
		Dir: dir, Builtins: components.FS, Image: "image:test", Version: "0.8.0", Getenv: environ,
	})
	c, err := loader.Find(t.Context(), "port.star:"+name)
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Build(t.Context(), component.Inputs{})
	if err != nil {
		return outcome{Error: err.Error()}
	}
	data, err := json.Marshal(result.App)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{}
	if err := json.Unmarshal(data, &o.App); err != nil {
		t.Fatal(err)
	}
	return o
}
