package specmodule

import (
	"errors"
	"path/filepath"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarktest"
	"go.starlark.net/syntax"
)

// testOptions returns options with a fixed environment.
func testOptions() Options {
	env := map[string]string{"HOME": "/home/me", "EMPTY": ""}
	return Options{
		Image: "example/torchx:1.2.3", Version: "1.2.3",
		Getenv:     func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		ExpandUser: func() string { return "/home/me" },
	}
}

// TestStar runs the Starlark test files of testdata, with the assertions of starlarktest:
// assert.eq, assert.fails …
func TestStar(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.star")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	assert, err := starlarktest.LoadAssertModule()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			predeclared := Predeclared(testOptions())
			predeclared["assert"] = assert["assert"]
			thread := &starlark.Thread{Name: file, Print: func(_ *starlark.Thread, msg string) { t.Log(msg) }}
			starlarktest.SetReporter(thread, t)
			_, err := starlark.ExecFileOptions(&syntax.FileOptions{}, thread, file, nil, predeclared)
			if e := (*starlark.EvalError)(nil); errors.As(err, &e) {
				t.Fatal(e.Backtrace())
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// eval evaluates an expression with the predeclared names.
func eval(t *testing.T, o Options, expr string) (starlark.Value, error) {
	t.Helper()
	return starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{Name: t.Name()}, "expr.star", expr, Predeclared(o))
}

// mustEval evaluates an expression and fails the test on an error.
func mustEval(t *testing.T, expr string) starlark.Value {
	t.Helper()
	v, err := eval(t, testOptions(), expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return v
}
