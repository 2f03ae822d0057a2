package component

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// withLibraries returns the loader of a workspace that has two libraries and files.
func withLibraries(t *testing.T, files map[string]string) *Loader {
	t.Helper()
	dir := project(t, files)
	libs := map[string]fstest.MapFS{
		"acme": {
			"components/dist.star": {Data: []byte(file("ddp", "components"))},
			"dist.star":            {Data: []byte(file("ddp", "root"))},
			"train.star":           {Data: []byte(`load("@util//x.star", "x")` + file("go", "acme"))},
			"train_test.star":      {Data: []byte("def test_x(t):\n    '''No component.'''\n")},
			"sub/broken.star":      {Data: []byte("def f(:\n")},
		},
		"util": {"x.star": {Data: []byte("x = 1\n")}},
	}
	return NewLoader(Config{
		Dir: dir, Builtins: builtins(),
		Library: func(root, name string) (fs.FS, error) {
			lib, ok := libs[name]
			switch {
			case root != dir:
				return nil, fmt.Errorf("got root %s, want %s", root, dir)
			case name == "gone":
				return nil, errors.New("not fetched")
			case !ok:
				return nil, fmt.Errorf("not listed: %w", fs.ErrNotExist)
			}
			return lib, nil
		},
		Libraries: func(string) []string { return []string{"acme", "util"} },
	})
}

func TestFindInLibrary(t *testing.T) {
	t.Parallel()
	loader := withLibraries(t, map[string]string{".torchxconfig": ""})
	for ref, want := range map[string][2]string{
		"@acme//train.star:go":            {"go-acme", "@acme//train.star:go"},
		"@acme//dist.star:ddp":            {"ddp-root", "@acme//dist.star:ddp"},
		"@acme//dist.ddp":                 {"ddp-components", "@acme//components/dist.star:ddp"},
		"@acme//train.go":                 {"go-acme", "@acme//train.star:go"},
		"@acme//components/dist.star:ddp": {"ddp-components", "@acme//components/dist.star:ddp"},
		"@torchx//dist.ddp":               {"ddp-builtin", "dist.ddp"},
	} {
		c, err := loader.Find(t.Context(), ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		result, err := c.Build(t.Context(), Inputs{})
		if err != nil || result.App.Name != want[0] || c.Name != want[1] {
			t.Errorf("%s: app %v name %s, %v; want %v", ref, result.App, c.Name, err, want)
		}
	}
}

func TestFindInLibraryRefuses(t *testing.T) {
	t.Parallel()
	loader := withLibraries(t, map[string]string{".torchxconfig": ""})
	for ref, want := range map[string]string{
		"@acme//trian.star:go":     "component file @acme//trian.star does not exist. Did you mean train.star?",
		"@acme//broken.star:f":     "component file @acme//broken.star does not exist. Did you mean sub/broken.star?",
		"@acme//../x.star:go":      "leads out of the library",
		"@acme//train.star:og":     `no function "og" in @acme//train.star`,
		"@acme//train.star":        "is missing a function name: write @acme//train.star:FUNCTION (the file has go, undocumented)",
		"@acme//train.star:_x":     "is private",
		"@acme//sub/broken.star:f": "@acme//sub/broken.star:1",
		"@amce//train.star:go":     "library @amce: not listed: file does not exist. Did you mean acme?",
		"@gone//train.star:go":     "library @gone: not fetched",
	} {
		_, err := loader.Find(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", ref, err, want)
		}
	}
}

func TestLibraryComponents(t *testing.T) {
	t.Parallel()
	loader := withLibraries(t, nil)
	list, err := loader.LibraryComponents(t.Context(), "acme")
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	want := []string{"@acme//components/dist.star:ddp", "@acme//dist.star:ddp", "@acme//train.star:go"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("components %q, %v, want %q", names, err, want)
	}
	if _, err := loader.LibraryComponents(t.Context(), "nope"); err == nil {
		t.Error("an unknown library has components")
	}
}

func TestLibraryEntries(t *testing.T) {
	t.Parallel()
	loader := withLibraries(t, nil)
	for typed, want := range map[string]string{
		"@":                       "@acme// @util//",
		"@acme//":                 "@acme//components/ @acme//dist.star: @acme//sub/ @acme//train.star: @acme//train_test.star:",
		"@acme//components/di":    "@acme//components/dist.star:",
		"@acme//dist.star:":       "@acme//dist.star:ddp @acme//dist.star:undocumented",
		"@nope//":                 "",
		"@acme//nope/":            "",
		"@acme//sub/broken.star:": "",
	} {
		var got []string
		for _, s := range loader.LibraryEntries(typed) {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
