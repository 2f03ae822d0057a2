package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the module's folder, relative to this package.
const root = "../.."

func TestPagesAreCurrent(t *testing.T) {
	t.Parallel()
	files, err := render(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is stale (%v): run `make arch`", name, err)
		}
	}
}

// TestPackageComments: every package has a comment, whose first sentence is in the table.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	g, err := load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for path, p := range g {
		if len(strings.Fields(p.doc)) < 4 {
			t.Errorf("package %s: got comment %q, want a sentence about its purpose", path, p.doc)
		}
	}
}

// maxDepth bounds the longest chain of imports: who follows one has to read every package in it.
const maxDepth = 14

func TestDepth(t *testing.T) {
	t.Parallel()
	g, err := load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if d := g.depth(); d > maxDepth {
		t.Errorf("got an import depth of %d, want at most %d", d, maxDepth)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	g := graph{
		"runtime/a": {path: "runtime/a", imports: []string{"runtime/b"}},
		"runtime/b": {path: "runtime/b", imports: []string{"runtime/c"}},
		"runtime/c": {path: "runtime/c"},
		"cmd/x":     {path: "cmd/x", imports: []string{"runtime/a", "runtime/c"}},
	}
	for path, want := range map[string]int{"runtime/a": 2, "runtime/b": 1, "runtime/c": 0, "cmd/x": 0} {
		if got := g.setLevel(path); got != want {
			t.Errorf("level of %s: got %d, want %d", path, got, want)
		}
	}
	if got := g.depth(); got != 4 {
		t.Errorf("import depth: got %d, want 4: cmd/x, runtime/a, b and c", got)
	}
	if got := g.fanOut(); got != 1 {
		t.Errorf("imports per package: got %g, want 4 of 4", got)
	}
	if got := g.crossings("cmd", "runtime"); got != 2 {
		t.Errorf("imports from cmd into runtime: got %d, want 2", got)
	}
}
