package components_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/components"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

// image is the default image of the golden files.
const image = "ghcr.io/pytorch/torchx:0.8.0dev0"

// build evaluates a built-in component with command-line arguments. It also returns
// the output of the component.
func build(t *testing.T, env map[string]string, name string, args ...string) (*spec.App, string, error) {
	t.Helper()
	var printed strings.Builder
	loader := component.NewLoader(component.Config{
		Dir:      t.TempDir(),
		Builtins: components.FS,
		Image:    image,
		Version:  "0",
		Getenv:   func(key string) (string, bool) { v, ok := env[key]; return v, ok },
		Print:    func(msg string) { printed.WriteString(msg + "\n") },
		Fatal:    func(err error) { t.Errorf("watchdog: %v", err) },
	})
	c, err := loader.Find(context.Background(), name)
	if err != nil {
		t.Fatalf("find %s: %v", name, err)
	}
	result, err := c.Build(context.Background(), component.Inputs{Args: args})
	if err != nil {
		return nil, printed.String(), err
	}
	if err := result.App.Validate(); err != nil {
		t.Fatalf("validate: %v", err)
	}
	return result.App, printed.String(), nil
}

// mustBuild is build for valid arguments.
func mustBuild(t *testing.T, name string, args ...string) *spec.App {
	t.Helper()
	app, _, err := build(t, nil, name, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return app
}

// wantError fails the test unless err is one line that contains text.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", text)
	}
	if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line with %q", err, text)
	}
}

// readJSON decodes a file below testdata.
func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// row is one row of a table of inputs and results.
type row struct {
	In    []any           `json:"in"`
	Out   json.RawMessage `json:"out"`
	Error string          `json:"error"`
}

// text returns an input as a string, and whether it is a string.
func (r row) text(i int) (string, bool) {
	s, ok := r.In[i].(string)
	return s, ok
}

func readRows(t *testing.T, name string) []row {
	t.Helper()
	var table struct {
		Rows []row `json:"rows"`
	}
	readJSON(t, filepath.Join("vectors", name+".json"), &table)
	if len(table.Rows) == 0 {
		t.Fatalf("no rows in %s", name)
	}
	return table.Rows
}

// program returns the options that select the program of dist.ddp; null in the table means no option.
func (r row) program(script, module int) []string {
	var args []string
	if s, ok := r.text(script); ok {
		args = append(args, "--script", s)
	}
	if m, ok := r.text(module); ok {
		args = append(args, "-m", m)
	}
	return args
}

// find returns a built-in component.
func find(t *testing.T, name string) *component.Component {
	t.Helper()
	loader := component.NewLoader(component.Config{Dir: t.TempDir(), Builtins: components.FS})
	c, err := loader.Find(context.Background(), name)
	if err != nil {
		t.Fatalf("find %s: %v", name, err)
	}
	return c
}
