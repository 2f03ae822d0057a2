package component

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"torchx/components"
	"torchx/starlark/interp"
)

const oneRole = `
def NAME(msg = "hi"):
    """NAME of WHERE.

    More text.
    """
    return specs.AppDef(name = "NAME-WHERE", roles = [specs.Role(name = "r", image = "i", entrypoint = msg)])

def _helper():
    """Private."""

def undocumented():
    pass
`

func file(name, where string) string {
	return strings.NewReplacer("NAME", name, "WHERE", where).Replace(oneRole)
}

func builtins() fstest.MapFS {
	return fstest.MapFS{
		"dist.star":   {Data: []byte(file("ddp", "builtin"))},
		"utils.star":  {Data: []byte(`load("@torchx//dist.star", other = "ddp")` + file("echo", "builtin"))},
		"launch.star": {Data: []byte("TEXT = 'x'\n")},
	}
}

// project creates a folder with files and returns it.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		".torchxconfig":           "",
		"components/dist.star":    file("ddp", "project"),
		"components/mine.star":    file("train", "project"),
		"x.star":                  file("fn", "root"),
		"sub/x.star":              file("fn", "sub"),
		"sub/components/utils.py": "",
		"sub/deep/dist.star":      file("ddp", "deep"),
	})
	tests := []struct{ dir, ref, app, name string }{
		{"", "dist.ddp", "ddp-project", "dist.ddp"},
		{"sub/deep", "dist.ddp", "ddp-builtin", "dist.ddp"}, // sub/components makes sub the root
		{"components", "mine.train", "train-project", "mine.train"},
		{"", "utils.echo", "echo-builtin", "utils.echo"},
		{"", "components/dist.star:ddp", "ddp-project", "dist.ddp"},
		{"components", "components/mine.star:train", "train-project", "mine.train"},
		{"", "components/utils.star:echo", "echo-builtin", "utils.echo"},
		{"sub", "components/dist.star:ddp", "ddp-builtin", "dist.ddp"},
		{"", "utils.star:echo", "echo-builtin", "utils.echo"},
		{"", "x.star:fn", "fn-root", "x.star:fn"},
		{"", "./x.star:fn", "fn-root", "./x.star:fn"},
		{"sub", "x.star:fn", "fn-sub", "x.star:fn"},
		{"sub", "../x.star:fn", "fn-root", "../x.star:fn"},
		{"", "@torchx//dist.star:ddp", "ddp-builtin", "dist.ddp"},
		{"", filepath.Join(dir, "x.star") + ":fn", "fn-root", filepath.Join(dir, "x.star") + ":fn"},
	}
	for _, test := range tests {
		loader := NewLoader(Config{Dir: filepath.Join(dir, test.dir), Builtins: builtins()})
		c, err := loader.Find(t.Context(), test.ref)
		if err != nil {
			t.Errorf("%s in %q: %v", test.ref, test.dir, err)
			continue
		}
		result, err := c.Build(t.Context(), Inputs{})
		if err != nil || result.App.Name != test.app || c.Name != test.name || c.Ref != test.ref {
			t.Errorf("%s in %q: %s (name %s), %v, want %s (%s)", test.ref, test.dir, result.App.Name, c.Name, err, test.app, test.name)
		}
	}
}

// TestFindFallsBack checks that a project's file does not hide built-in functions that it lacks.
func TestFindFallsBack(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"components/utils.star": file("other", "project")})
	loader := NewLoader(Config{Dir: dir, Builtins: builtins()})
	if _, err := loader.Find(t.Context(), "utils.echo"); err != nil {
		t.Error(err)
	}
	if _, err := loader.Find(t.Context(), "components/utils.star:echo"); err == nil {
		t.Error("echo was found, want it hidden by the file on disk, which has no echo")
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"components/mine.star": file("train", "project"),
		"comps.star":           file("simple", "root") + "CONSTANT = 3\n",
		"comps.py":             "",
		"other.py":             "",
		"broken.star":          "def f(:\n",
		"empty.star":           "",
		"typed.star":           "def f(a):\n    '''F.\n\n    Args:\n        a (strng): x\n    '''\n",
		"a.star/x.star":        "",
		"raises.star":          "fail('no way')\n",
	})
	tests := []struct{ ref, want string }{
		{"", "name is empty"},
		{"foo.bar.baz", `unknown component "foo.bar.baz"`},
		{"utils.ehco", `no function "ehco" in @torchx//utils.star: the file has echo, undocumented. Did you mean echo?`},
		{"util.echo", "Did you mean utils.echo?"},
		{"ddp", "Did you mean dist.ddp?"},
		{"mine.trian", "Did you mean train?"},
		{"min.train", "Did you mean mine.train?"},
		{"utils._helper", "is private"},
		{"utils.", `is missing a function name: write utils.FUNCTION (the file has echo, undocumented)`},
		{"comps.star", `is missing a function name: write comps.star:FUNCTION (the file has simple, undocumented`},
		{"comps.star:", "write comps.star:FUNCTION"},
		{"comps.star:nope", `no function "nope" in`},
		{"comps.star:simpl", "Did you mean simple?"},
		{"comps.star:CONSTANT", "is not a function, got int"},
		{"comps.star:_helper", "is private"},
		{"comps.star:simple:x", "one colon"},
		{"comps.star:a-b", "cannot be the name of a function"},
		{"comp.star:simple", "does not exist. Did you mean comps.star?"},
		{"components/dits.star:ddp", "Did you mean components/dist.star?"},
		{"comps.py:simple", "Did you mean comps.star:simple?"},
		{"comps.py", "Did you mean comps.star?"},
		{"other.py:f", "Starlark files: port it with `torchx migrate -o other.star other.py`"},
		{"comps.txt:simple", "expected FILE.star:FUNCTION"},
		{"sub/comps", "FILE.star:FUNCTION"},
		{"components/mine", "FILE.star:FUNCTION"},
		{"empty.star:f", "the file has no public function"},
		{"a.star:f", "is a folder"},
		{"comps.star/x.star:f", "does not exist"},
		{"typed.star:f", `typed.star:5: component f: argument a: unknown type "strng"`},
		{"@torchx//nope.star:f", "does not exist"},
		{"@torchx/dist.star:f", "@NAME//FILE.star:FUNCTION"},
		{"@lib//x.star:f", "unknown library @lib"},
		{"@lib//x.py:f", "expected FILE.star:FUNCTION"},
		{"@lib//sub/x", "@NAME//FILE.star:FUNCTION"},
		{"@-lib//x.star:f", "@NAME//FILE.star:FUNCTION"},
		{"x\ny.z", `"x\ny.z": it has unprintable characters`},
		{"\x1b[31m.star:f", "unprintable"},
	}
	loader := NewLoader(Config{Dir: dir, Builtins: builtins()})
	for _, test := range tests {
		_, err := loader.Find(t.Context(), test.ref)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", test.ref, err, test.want)
		}
		if _, ok := errors.AsType[*UsageError](err); ok {
			t.Errorf("%q: %v is a usage error", test.ref, err)
		}
	}
	for _, ref := range []string{"broken.star:f", "raises.star:f"} {
		_, err := loader.Find(t.Context(), ref)
		var source *interp.Error
		if !errors.As(err, &source) || source.Detail() == "" {
			t.Errorf("%s: error %v does not show the source", ref, err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Log("root can read every file: run this test as another user")
		return
	}
	dir := project(t, map[string]string{"closed/x.star": file("fn", "x")})
	closed := filepath.Join(dir, "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o700) })
	_, err := NewLoader(Config{Dir: dir}).Find(t.Context(), "closed/x.star:fn")
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got error %v, want permission denied", err)
	}
}

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	loader := NewLoader(Config{Dir: "testdata"})
	for ref, want := range map[string]string{
		"comps.star:raises":      "boom",
		"comps.star:wrongreturn": "component wrongreturn: component returned string, want specs.AppDef",
	} {
		c, err := loader.Find(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Build(t.Context(), Inputs{})
		var usage *UsageError
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &usage) {
			t.Errorf("%s: error %v, want %q", ref, err, want)
		}
		if !strings.Contains(err.Error(), "comps.star:") {
			t.Errorf("%s: error %v does not name the file", ref, err)
		}
	}
}

func TestResultRecordsWhatWasRead(t *testing.T) {
	t.Parallel()
	loader := NewLoader(Config{
		Dir: "testdata", Image: "image:1", Version: "v2",
		Getenv: func(name string) (string, bool) { return "from-env", name == "APP" },
	})
	c, err := loader.Find(t.Context(), "comps.star:reads")
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Build(t.Context(), Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	role := result.App.Roles[0]
	if result.App.Name != "from-env" || role.Image != "image:1" || role.Entrypoint != "v2" {
		t.Errorf("got app %+v, want from-env with image:1 and v2", result.App)
	}
	if len(result.Getenv) != 1 || result.Getenv["APP"] != "from-env" {
		t.Errorf("got environment %q, want APP only", result.Getenv)
	}
	if len(result.Modules) != 1 || !strings.HasSuffix(result.Modules[0].Path, "comps.star") || len(result.Modules[0].SHA256) != 64 {
		t.Errorf("got modules %+v, want comps.star with its hash", result.Modules)
	}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	loader := NewLoader(Config{Dir: t.TempDir(), Builtins: builtins()})
	all, err := loader.Builtins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0] != (Summary{"dist.ddp", "ddp of builtin."}) || all[1].Name != "utils.echo" {
		t.Errorf("got built-in components %q, want dist.ddp and utils.echo", all)
	}
	source, err := loader.Source("dist.ddp")
	if err != nil || !strings.HasPrefix(source, "def ddp(") || strings.Contains(source, "_helper") || !strings.HasSuffix(source, "\n") {
		t.Errorf("source of dist.ddp: %q, %v", source, err)
	}
	for _, name := range []string{"dist", "dist.star"} {
		if source, err := loader.Source(name); err != nil || source != file("ddp", "builtin") {
			t.Errorf("source of %s: %q, %v", name, source, err)
		}
	}
	for name, want := range map[string]string{"nope": "torchx builtins", "utils.ehco": "Did you mean utils.echo?", "dist._helper": "no built-in"} {
		if _, err := loader.Source(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("source of %s: error %v, want %q", name, err, want)
		}
	}
}

// TestForgottenReturn checks that the error names the function and what to add.
func TestForgottenReturn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.star"), []byte("def c():\n    specs.AppDef(name = \"c\")\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := NewLoader(Config{Dir: dir}).Find(t.Context(), "x.star:c")
	if err != nil {
		t.Fatal(err)
	}
	want := "x.star:1:1: component c: returned None: add `return specs.AppDef(…)`"
	if _, err := c.Build(t.Context(), Inputs{}); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// TestNestedModules checks that dots in a module are folders, both in references and in lists.
func TestNestedModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "def fn():\n    \"\"\"F.\"\"\"\n    return specs.AppDef(name = \"f\")\n"
	for _, file := range []string{
		"a/b.star", "a/b/c.star", "a.star", "a/b_test.star", "a/testdata/x.star", ".git/x.star", "no-module/x.star", "no-module.star", "utils.star", "dist/deep.star",
	} {
		path := filepath.Join(dir, "components", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loader := NewLoader(Config{Dir: dir, Builtins: components.FS})
	var got []string
	for _, s := range loader.Known() {
		if strings.HasSuffix(s.Name, "fn") {
			got = append(got, s.Name)
		}
	}
	want := []string{"a.fn", "a.b.fn", "a.b.c.fn", "dist.deep.fn", "components/no-module.star:fn", "utils.fn"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got components %q, want %q", got, want)
	}
	for ref, name := range map[string]string{
		"a.fn": "a.fn", "a.b.fn": "a.b.fn", "a.b.c.fn": "a.b.c.fn", "components/a/b.star:fn": "a.b.fn", "components/no-module.star:fn": "components/no-module.star:fn",
		"dist.deep.fn": "dist.deep.fn",
	} {
		if c, err := loader.Find(t.Context(), ref); err != nil || c.Name != name {
			t.Errorf("%s: got %+v, %v, want the component %s", ref, c, err, name)
		}
	}
	for ref, want := range map[string]string{
		"a.c.fn": "Did you mean a.b.c.fn?", "a..fn": "unknown component", "a.b.": "is missing a function name: write a.b.FUNCTION (the file has fn)", ".a.fn": "unknown component", "a.b.nope": "no function \"nope\"",
	} {
		if _, err := loader.Find(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", ref, err, want)
		}
	}
}
