package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"torchx/components"
	"torchx/runtime/library"
	"torchx/starlark/component"
)

// manyFiles is how many files the large library has.
const manyFiles = 2000

// component1 loads one other file of its library.
const component1 = `load("//sub/f7.star", "GREETING")

def go(msg = "hi"):
    """Says hello."""
    return specs.AppDef(name = "go", roles = [specs.Role(name = "r", image = "i", entrypoint = "echo", args = [GREETING, msg])])
`

// libraries benchmarks a component of a library with 2,000 files. Its cost must depend only
// on the files that it loads, and adding the library must cost about as much as git clone.
func (w *environment) libraries(runs int) []bench {
	return []bench{{
		name: "evaluate 1 of 2,000 files", goal: "< 5 ms", floorName: "the same out of the project", runs: 10 * runs,
		prepare: func() (side, side, error) {
			project, err := w.largeLibrary()
			if err != nil {
				return nil, nil, err
			}
			return timed(func() error { return w.evaluateIn(project, "@big//go.star:go") }),
				timed(func() error { return w.evaluateIn(filepath.Join(w.dir, "big"), "go.star:go") }), nil
		},
	}, {
		name: "lib add, 2,000 files", goal: "< 5x", floorName: "git clone", runs: runs,
		prepare: func() (side, side, error) {
			if _, err := w.largeLibrary(); err != nil {
				return nil, nil, err
			}
			url := "file://" + w.dir + "/big"
			return w.command("cd $(mktemp -d -p " + w.dir + ") && export TORCHX_HOME=$PWD/home && exec " + w.bin + " lib add big " + url + " main"),
				w.command("exec git clone -q " + url + " $(mktemp -d -p " + w.dir + ")/big"), nil
		},
	}}
}

// largeLibrary creates the repository and a project that uses it, and returns the project.
func (w *environment) largeLibrary() (string, error) {
	repository, project := filepath.Join(w.dir, "big"), filepath.Join(w.dir, "bigproject")
	if _, err := os.Stat(project); err == nil {
		return project, nil
	}
	for _, dir := range []string{filepath.Join(repository, "sub"), project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	for i := range manyFiles - 1 {
		text := fmt.Sprintf("GREETING = \"hello %d\"\n", i)
		if err := os.WriteFile(filepath.Join(repository, "sub", fmt.Sprintf("f%d.star", i)), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(repository, "go.star"), []byte(component1), 0o600); err != nil {
		return "", err
	}
	err := w.sh("cd " + repository + " && git init -q -b main && git add -A && git -c user.name=n -c user.email=e@example.com commit -q -m m")
	if err == nil {
		err = w.sh("cd " + project + " && exec " + w.bin + " lib add big file://" + repository + " main")
	}
	return project, err
}

// evaluateIn builds the app of a component in this process, and checks that it loaded only
// the files that it needs.
func (w *environment) evaluateIn(dir, ref string) error {
	set := &library.Set{Cache: &library.Cache{Dir: filepath.Join(w.home, "libs")}}
	c, err := component.NewLoader(component.Config{
		Dir: dir, Builtins: components.FS, Library: set.Open, Image: "image", Version: "1",
		Getenv: func(string) (string, bool) { return "", false }, Print: func(string) {}, Fatal: func(error) {},
	}).Find(context.Background(), ref)
	if err != nil {
		return err
	}
	built, err := c.Build(context.Background(), component.Inputs{})
	if err == nil && len(built.Modules) != 2 {
		err = fmt.Errorf("got %d loaded files, want 2", len(built.Modules))
	}
	return err
}
