package interp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.starlark.net/starlark"
)

// files writes name → content below a new folder and returns it.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mapFS(content map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range content {
		m[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m
}

// eval loads source as a built-in file.
func eval(t *testing.T, source string) (*Module, error) {
	t.Helper()
	return New(Config{Builtins: mapFS(map[string]string{"x.star": source})}).LoadBuiltin(context.Background(), "x.star")
}

// global evaluates source and returns its global x printed.
func global(t *testing.T, source string) string {
	t.Helper()
	m, err := eval(t, source)
	if err != nil {
		t.Fatalf("%v\n%s", err, detail(err))
	}
	v := m.Globals["x"]
	if v == nil {
		t.Fatalf("no global x in %q", source)
	}
	return v.String()
}

func detail(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Detail()
	}
	return ""
}

// wantError checks that err is one line that contains each of parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("error is a %T, want *Error: %v", err, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got error %q, want %q in it", err, part)
		}
	}
}

func function(t *testing.T, m *Module, name string) starlark.Callable {
	t.Helper()
	fn, ok := m.Globals[name].(starlark.Callable)
	if !ok {
		t.Fatalf("%s is not a function in %v", name, m.Globals)
	}
	return fn
}
