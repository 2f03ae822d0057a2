package migrate

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"torchx/components"
	"torchx/starlark/component"
)

// environ is the environment of components in these tests.
func environ(name string) (string, bool) {
	v, ok := map[string]string{"TORCHX_SET": "yes", "USER": "me", "LOGNAME": "me", "HOME": "/home/me"}[name]
	return v, ok
}

// needPython skips a test without python3, unless TORCHX_REQUIRE asks for it.
func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if strings.Contains(","+os.Getenv("TORCHX_REQUIRE")+",", ",python,") {
			t.Fatal(err)
		}
		t.Skip("python3 not found")
	}
}

// ports caches the results of Port by file, for several tests.
var ports sync.Map

func port(t *testing.T, file string) *Result {
	t.Helper()
	needPython(t)
	once, _ := ports.LoadOrStore(file, sync.OnceValues(func() (*Result, error) {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return Port(context.WithoutCancel(t.Context()), "python3", file, source, Folders{Imports: []string{filepath.Dir(file)}})
	}))
	r, err := once.(func() (*Result, error))()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcome is the result of a component with some arguments: an app or an error.
type outcome struct {
	Argv  []string `json:"argv"`
	App   any      `json:"app"`
	Error string   `json:"error"`
}

// TestAgainstPython runs each component as Python and as its port.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/c*/*.py")                      // cases of the language, and components as in public repositories
	projects, err2 := filepath.Glob("testdata/projects/*/components.py") // with modules of their own
	files = append(files, projects...)
	if err != nil || err2 != nil || len(files) < 20 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			t.Parallel()
			r := port(t, file)
			for _, p := range r.Problems {
				t.Error(p)
			}
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err == nil {
				err = os.CopyFS(dir, os.DirFS(filepath.Dir(file)))
			}
			if err != nil {
				t.Fatal(err)
			}
			want := inPython(t, dir, filepath.Base(file))
			if len(want) == 0 {
				t.Fatal("no components")
			}
			if err := os.WriteFile(filepath.Join(dir, "port.star"), []byte(r.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, runs := range want {
				if !slices.Contains(r.Components, name) {
					t.Errorf("%s is not among the ported %v", name, r.Components)
					continue
				}
				for _, w := range runs {
					compare(t, name, inStarlark(t, dir, name, w.Argv), w)
				}
			}
			if t.Failed() {
				t.Log(r.Text)
			}
		})
	}
}

// TestPackage: a module finds those of its package by their full names.
func TestPackage(t *testing.T) {
	t.Parallel()
	needPython(t)
	dir := t.TempDir()
	source := "from torchx import specs\nfrom pkg.common import NAME\ndef f() -> specs.AppDef:\n  return specs.AppDef(NAME)\n"
	files := fstest.MapFS{"pkg/__init__.py": {}, "pkg/sub/__init__.py": {}, "pkg/common.py": {Data: []byte("NAME = 'n'\n")}}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	r, err := Port(t.Context(), "python3", "f.py", []byte(source), Folders{Imports: []string{filepath.Join(dir, "pkg", "sub")}})
	if err != nil || len(r.Problems) > 0 || !strings.Contains(r.Text, `NAME = "n"`) {
		t.Errorf("got %+v, %v", r, err)
	}
}

func compare(t *testing.T, name string, got, want outcome) {
	t.Helper()
	if want.Error != "" || got.Error != "" {
		if want.Error == "" || got.Error == "" || !strings.Contains(got.Error, reason(want.Error)) {
			t.Errorf("%s %q: error %q, Python's is %q", name, want.Argv, got.Error, want.Error)
		}
		return
	}
	if !reflect.DeepEqual(got.App, want.App) {
		g, _ := json.MarshalIndent(got.App, "", " ")
		w, _ := json.MarshalIndent(want.App, "", " ")
		t.Errorf("%s %q: app\n%s\nPython's is\n%s", name, want.Argv, g, w)
	}
}

// reason returns the part of a Python exception that the port's error must contain.
func reason(exception string) string {
	kind, text, _ := strings.Cut(exception, ": ")
	if kind == "KeyError" && strings.HasPrefix(text, "'") {
		return strings.Trim(text, "'")
	}
	if strings.HasPrefix(text, "invalid literal") || strings.Contains(text, "is not a valid") || kind == "KeyError" || kind == "IndexError" || kind == "TypeError" {
		return ""
	}
	return text
}

func inPython(t *testing.T, dir, file string) map[string][]outcome {
	t.Helper()
	run, err := filepath.Abs("testdata/python/run.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", run, filepath.Join(dir, file))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "TORCHX_SET=yes", "USER=me", "LOGNAME=me", "HOME=/home/me")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]outcome
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for _, runs := range all {
		for i, o := range runs {
			if app, ok := o.App.(map[string]any); ok {
				runs[i].App = mounted(app)
			}
		}
	}
	return all
}

// mounted converts the mounts of TorchX, which are classes, to those of torchx.
func mounted(app map[string]any) map[string]any {
	for _, r := range app["roles"].([]any) {
		for _, m := range r.(map[string]any)["mounts"].([]any) {
			mount := m.(map[string]any)
			kind := "BindMount"
			switch {
			case mount["src"] != nil:
				kind = "VolumeMount"
			case mount["permissions"] != nil:
				kind = "DeviceMount"
			}
			mount["kind"] = kind
		}
	}
	return app
}

func inStarlark(t *testing.T, dir, name string, args []string) outcome {
	t.Helper()
	loader := component.NewLoader(component.Config{
		Dir: dir, Builtins: components.FS, Image: "image:test", Version: "0.8.0", Getenv: environ,
	})
	c, err := loader.Find(t.Context(), "port.star:"+name)
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Build(t.Context(), component.Inputs{Args: args})
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
