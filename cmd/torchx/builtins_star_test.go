package main

import (
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
)

// starFolders are the folders with Starlark files of this project.
var starFolders = []string{"components", "examples"}

// TestBuiltinComponents: the built-in components pass their tests, components/*_test.star,
// with full coverage.
func TestBuiltinComponents(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	must(t, err)
	root, err = filepath.EvalSymlinks(root) // as the children that run the tests name it
	must(t, err)
	r := torchx(t, root, nil, "", "component", "test", "-cover", "components")
	if r.code != program.ExitOK || !strings.HasSuffix(r.out, "coverage: 100.0% of statements\n") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
}

func TestBuiltinComponentsAreTidy(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	must(t, err)
	for _, args := range [][]string{{"component", "lint"}, {"component", "fmt", "--check"}} {
		if r := torchx(t, root, nil, "", append(args, starFolders...)...); r.code != program.ExitOK {
			t.Errorf("%q: exit code %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
}
