package interp

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

// libraries returns a Config.Library that serves files by library name; unlisted names do not exist.
func libraries(libs map[string]map[string]string) func(string, string) (fs.FS, error) {
	return func(_, name string) (fs.FS, error) {
		files, ok := libs[name]
		if !ok {
			return nil, fmt.Errorf("not listed: %w", fs.ErrNotExist)
		}
		return mapFS(files), nil
	}
}

func TestAllMissingLibrariesAreListed(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		".git/HEAD": "",
		"a.star":    "load('./b.star', 'x')\nload('@util//x.star', y='x')",
		"b.star":    "load('@acme//x.star', y='x')\nx = y",
	})
	c := Config{Dir: dir, Library: libraries(map[string]map[string]string{
		"acme": {"x.star": "load('//y.star', 'x')\nload('@base//x.star', z='x')", "y.star": "load('@more//x.star', 'x')"},
	})}
	_, err := load(t, c, "a.star")
	wantError(t, err, "@acme//y.star:1:1: cannot load @more//x.star: library @more: not listed",
		"(also missing: @base for @acme//x.star:2, @util for a.star:2)")
}

func TestLibrariesOfTheTopWorkspace(t *testing.T) {
	t.Parallel()
	one := files(t, map[string]string{".torchxconfig": "", "a.star": "load('@acme//x.star', 'x')"})
	two := files(t, map[string]string{"torchx.libs": "", "sub/a.star": "load('@acme//x.star', 'x')"})
	i := New(Config{Library: func(root, name string) (fs.FS, error) {
		if name == "acme" {
			return mapFS(map[string]string{"x.star": "load('@base//y.star', y='x')\nx = y"}), nil
		}
		return mapFS(map[string]string{"y.star": fmt.Sprintf("x = %q", root)}), nil
	}})
	for root, file := range map[string]string{one: one + "/a.star", two: two + "/sub/a.star"} {
		if _, err := i.LoadFile(context.Background(), file); err != nil {
			t.Fatal(err)
		}
		m, err := i.LoadLibrary(context.Background(), root, "acme", "x.star")
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Globals["x"].String(); got != fmt.Sprintf("%q", root) {
			t.Errorf("the library of %s loads the library of %s", root, got)
		}
	}
}

func TestLoadLibrary(t *testing.T) {
	t.Parallel()
	i := New(Config{Library: libraries(map[string]map[string]string{
		"acme": {"sub/x.star": "load('//y.star', 'y')\nx = y", "y.star": "y = 1", "a.star": "load('@base//b.star', 'x')"},
		"base": {"b.star": "load('@acme//a.star', 'x')"},
	})})
	m, err := i.LoadLibrary(context.Background(), "/w", "acme", "sub/x.star")
	if err != nil || m.Label != "@acme//sub/x.star" || m.Path != "" || m.Globals["x"].String() != "1" {
		t.Errorf("got module %+v, %v, want @acme//sub/x.star with x = 1", m, err)
	}
	for file, want := range map[string]string{
		"nope.star":     "@acme//nope.star: no such file; check the name",
		"../y.star":     "@acme//../y.star: the label leads out of the library",
		"sub/../y.star": "leads out of the library",
		"a.star":        "@base//b.star:1:1: cannot load @acme//a.star: load cycle: @acme//a.star -> @base//b.star -> @acme//a.star; ",
	} {
		_, err := i.LoadLibrary(context.Background(), "/w", "acme", file)
		wantError(t, err, want)
	}
	_, err = i.LoadLibrary(context.Background(), "/w", "nope", "x.star")
	wantError(t, err, "@nope//x.star: library @nope: not listed")
}

func TestLoads(t *testing.T) {
	t.Parallel()
	loads, err := Loads("x.star", []byte("\uFEFFload('@acme//x.star', 'x')\n\nif True:\n    load('./y.star', 'y')\n"))
	want := []Load{{"@acme//x.star", 1}, {"./y.star", 4}}
	if err != nil || !slices.Equal(loads, want) {
		t.Errorf("loads %v, %v, want %v", loads, err, want)
	}
	if _, err := Loads("x.star", []byte("load(")); err == nil {
		t.Error("got the loads of a broken file, want an error")
	}
	for label, want := range map[string]string{"@acme//x.star": "acme", "@torchx//x.star": "", "//x.star": "", "@-x//x.star": ""} {
		if got := LibraryOf(label); got != want {
			t.Errorf("library of %s is %q", label, got)
		}
	}
}
