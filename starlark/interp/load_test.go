package interp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.starlark.net/starlark"
)

func load(t *testing.T, c Config, path string) (*Module, error) {
	t.Helper()
	return New(c).LoadFile(context.Background(), path)
}

func TestLoadLabels(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		".torchxconfig":            "",
		"components/sub/main.star": `load("./near.star", a="n"); load("../up.star", b="n"); load("//lib/root.star", c="n"); load("@torchx//dist.star", d="n"); load("@acme//pkg/x.star", e="n"); x = [a, b, c, d, e]`,
		"components/sub/near.star": `n = "near"`,
		"components/up.star":       `load("./sub/../sub/near.star", o="n"); load("./sub/near.star", m="n"); n = m + "up"`,
		"lib/root.star":            `n = "root"`,
	})
	c := Config{
		Builtins: mapFS(map[string]string{"dist.star": `load("./util.star", u="n"); load("//util.star", v="n"); n = u + v`, "util.star": `n = "u"`}),
		Library: func(_, name string) (fs.FS, error) {
			if name != "acme" {
				return nil, fmt.Errorf("not in the lock file: %w", fs.ErrNotExist)
			}
			return mapFS(map[string]string{"pkg/x.star": `load("../y.star", k="n"); load("//y.star", m="n"); load("@acme//y.star", o="n"); load("@torchx//util.star", u="n"); n = "lib" + u`, "y.star": `n = "y"`}), nil
		},
	}
	i := New(c)
	m, err := i.LoadFile(context.Background(), filepath.Join(dir, "components/sub/main.star"))
	if err != nil {
		t.Fatalf("%v\n%s", err, detail(err))
	}
	if got, want := m.Globals["x"].String(), `["near", "nearup", "root", "uu", "libu"]`; got != want {
		t.Errorf("x = %s, want %s", got, want)
	}
	if m.Label != "//components/sub/main.star" || m.Path != filepath.Join(dir, "components/sub/main.star") {
		t.Errorf("got label %q, path %q, want those of components/sub/main.star", m.Label, m.Path)
	}
	var labels []string
	for _, h := range i.Modules() {
		labels = append(labels, h.Label)
		if (h.Path == "") != strings.HasPrefix(h.Label, "@") {
			t.Errorf("%s: got path %q, want one for files on disk only", h.Label, h.Path)
		}
	}
	want := []string{
		"//components/sub/main.star", "//components/sub/near.star", "//components/up.star", "//lib/root.star",
		"@acme//pkg/x.star", "@acme//y.star", "@torchx//dist.star", "@torchx//util.star",
	}
	if !reflect.DeepEqual(labels, want) {
		t.Errorf("modules %q, want %q", labels, want)
	}
	if got, want := i.Modules()[3].SHA256, fmt.Sprintf("%x", sha256.Sum256([]byte(`n = "root"`))); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestLoadEvaluatesOnce(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"a.star": `load("./c.star", "n"); load("./b.star", m="n")`,
		"b.star": "load('//c.star', c='n')\nn = c",
		"c.star": `print("c is evaluated"); n = 1`,
	})
	var mu sync.Mutex
	printed := 0
	i := New(Config{Dir: dir, Print: func(string) { mu.Lock(); printed++; mu.Unlock() }})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, name := range []string{"a.star", filepath.Join(dir, "c.star"), "./b.star"} {
				if _, err := i.LoadFile(context.Background(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if printed != 1 {
		t.Errorf("c.star was evaluated %d times", printed)
	}
}

func TestLoadFreezes(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"a.star": "load('./b.star', 'l', 'f')\nl.append(1)",
		"b.star": "l = []\ndef f(): l.append(2)",
		"c.star": "load('./b.star', 'f')\nf()",
	})
	_, err := load(t, Config{Dir: dir}, "a.star")
	wantError(t, err, "a.star:2:9: append: cannot append to frozen list")
	_, err = load(t, Config{Dir: dir}, "c.star")
	wantError(t, err, "b.star:2:18: append: cannot append to frozen list")
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		".git/HEAD":    "",
		"cycle.star":   `load("./c1.star", "x")`,
		"c1.star":      `load("//sub/c2.star", "x")`,
		"sub/c2.star":  "\nload('../c1.star', 'x')",
		"self.star":    `load("./self.star", "x")`,
		"missing.star": "\n\nload('./nope.star', 'x')",
		"folder.star":  `load("./sub", "x")`,
		"through.star": `load("./self.star/x.star", "x")`,
		"bare.star":    `load("c1.star", "x")`,
		"out.star":     `load("../x.star", "x")`,
		"out2.star":    `load("//sub/../../x.star", "x")`,
		"empty.star":   `load("//", "x")`,
		"abs.star":     `load("///etc/passwd", "x")`,
		"nolib.star":   `load("@acme//x.star", "x")`,
		"badlib.star":  `load("@../x.star", "x")`,
		"back.star":    `load(".\\x.star", "x")`,
		"nobuilt.star": `load("@torchx//nope.star", "x")`,
		"private.star": `load("./p.star", "_x")`,
		"noname.star":  `load("./p.star", "yyyz")`,
		"p.star":       "_x = 1\nyyyy = 2",
		"syntax.star":  `load("./bad.star", "x")`,
		"bad.star":     "x = 1\ny = = 2",
	})
	c := Config{Dir: dir, Builtins: mapFS(map[string]string{"evil.star": `load("@acme//x.star", "x")`, "up.star": `load("../x.star", "x")`})}
	for name, parts := range map[string][]string{
		"cycle.star":   {"sub/c2.star:2:1: cannot load ../c1.star: load cycle: //c1.star -> //sub/c2.star -> //c1.star; "},
		"self.star":    {"self.star:1:1: ", "load cycle: //self.star -> //self.star"},
		"missing.star": {"missing.star:3:1: cannot load ./nope.star: no such file (" + filepath.Join(dir, "nope.star") + "); did you mean noname.star?"},
		"folder.star":  {"folder.star:1:1: cannot load ./sub: is a folder; name a .star file in it"},
		"through.star": {"through.star:1:1: ", "not a folder"},
		"bare.star":    {"bare.star:1:1: ", `did you mean "./c1.star"?`},
		"out.star":     {"out.star:1:1: ", "leads out of the workspace root " + dir},
		"out2.star":    {"leads out of the workspace root " + dir},
		"empty.star":   {"has no file name"},
		"abs.star":     {"has no file name"},
		"nolib.star":   {"nolib.star:1:1: ", "unknown library @acme"},
		"badlib.star":  {`not of the form "@library//file.star"`},
		"back.star":    {"backslashes"},
		"nobuilt.star": {"cannot load @torchx//nope.star: no such file; check the name"},
		"private.star": {"private.star:1:19: load: names with leading underscores are not exported: _x"},
		"noname.star":  {"noname.star:1:1: load: name yyyz not found in module ./p.star (did you mean yyyy?)"},
		"syntax.star":  {"bad.star:2:5: "},
		"nope.star":    {"nope.star: no such file (" + filepath.Join(dir, "nope.star") + "); did you mean noname.star?"},
		"sub":          {"sub: is a folder; name a .star file in it"},
		"":             {"the path is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, c, name)
			wantError(t, err, parts...)
		})
	}
	for name, part := range map[string]string{
		"evil.star": "@torchx//evil.star:1:1: cannot load @acme//x.star: a built-in file can only load built-in files",
		"up.star":   "@torchx//up.star:1:1: cannot load ../x.star: the label leads out of @torchx",
		"nope.star": "@torchx//nope.star: no such file; check the name",
		"../x.star": "@torchx//../x.star: no built-in file",
	} {
		_, err := New(c).LoadBuiltin(context.Background(), name)
		wantError(t, err, part)
	}
	_, err := load(t, c, "nope.star")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestLibraryErrors(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.star": `load("@acme//x.star", "x")`})
	_, err := load(t, Config{Dir: dir, Library: func(string, string) (fs.FS, error) { return nil, errors.New("not locked; run `torchx lock`") }}, "a.star")
	wantError(t, err, "a.star:1:1: cannot load @acme//x.star: library @acme: not locked; run `torchx lock`")
	_, err = load(t, Config{Dir: dir, Library: func(string, string) (fs.FS, error) { return nil, nil }}, "a.star")
	wantError(t, err, "unknown library @acme")
	_, err = load(t, Config{Dir: dir, Library: func(string, string) (fs.FS, error) { return deniedFS{}, nil }}, "a.star")
	wantError(t, err, "permission denied; make the file and its folders readable")
}

type deniedFS struct{}

func (deniedFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestWorkspaceRoot(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"a/.torchxconfig": "", "a/b/c/x.star": "", "g/.git": "gitdir: elsewhere", "g/h/x.star": "",
		"p/components/sub/x.star": "", "f/components": "only a folder marks a root", "f/x.star": "",
	})
	for file, want := range map[string]string{
		"a/b/c/x.star": "a", "g/h/x.star": "g", "p/components/sub/x.star": "p", "p/components/no.star": "p",
	} {
		if got := WorkspaceRoot(filepath.Join(dir, file)); got != filepath.Join(dir, want) {
			t.Errorf("root of %s is %s", file, got)
		}
	}
	if got, want := WorkspaceRoot(filepath.Join(dir, "f/x.star")), filepath.Join(dir, "f"); got != want {
		t.Errorf("root without a mark is %s, want %s", got, want)
	}
}

func TestPathsAreShownRelative(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"in/a.star": "fail('x')"})
	_, err := load(t, Config{Dir: dir}, filepath.Join(dir, "in", "a.star"))
	wantError(t, err, "in/a.star:1:5: fail: x")
	if !strings.HasPrefix(err.Error(), "in/") {
		t.Errorf("error %q does not begin with the relative path", err)
	}
	_, err = load(t, Config{Dir: filepath.Join(dir, "in")}, "../in/a.star")
	wantError(t, err, "a.star:1:5: fail: x")
	_, err = load(t, Config{Dir: t.TempDir()}, filepath.Join(dir, "in", "a.star"))
	wantError(t, err, filepath.Join(dir, "in", "a.star")+":1:5: fail: x")
}

func TestCall(t *testing.T) {
	t.Parallel()
	c := Config{Builtins: mapFS(map[string]string{"x.star": "def f(a, b=1):\n    return a + b\ndef deep():\n    v = []\n    for _ in range(5000):\n        v = [v]\n    return v\ndef loop():\n    for i in range(1 << 40): pass\n"})}
	i := New(c)
	m, err := i.LoadBuiltin(context.Background(), "x.star")
	if err != nil {
		t.Fatal(err)
	}
	v, err := i.Call(context.Background(), function(t, m, "f"), starlark.Tuple{starlark.MakeInt(2)}, []starlark.Tuple{{starlark.String("b"), starlark.MakeInt(3)}})
	if err != nil || v != starlark.MakeInt(5) {
		t.Errorf("f(2, b=3) = %v, %v", v, err)
	}
	_, err = i.Call(context.Background(), function(t, m, "f"), starlark.Tuple{starlark.String("s")}, nil)
	wantError(t, err, "@torchx//x.star:2:14: unknown binary op: string + int")
	_, err = i.Call(context.Background(), function(t, m, "f"), nil, nil)
	wantError(t, err, "function f missing 1 argument (a)")
	_, err = i.Call(context.Background(), function(t, m, "deep"), nil, nil)
	wantError(t, err, "@torchx//x.star:3:1: the result of deep is nested deeper than 1000 levels")
	_, err = i.Call(context.Background(), function(t, m, "loop"), nil, nil)
	wantError(t, err, "@torchx//x.star:9:", "more than 1000000 steps")
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != "steps" || limit.Error() != err.Error() {
		t.Errorf("got limit %+v of %v, want steps", limit, err)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	c := Config{MaxSteps: 1 << 60, Builtins: mapFS(map[string]string{"x.star": "print('begins')\nfor i in range(1 << 50): pass\n", "y.star": ""})}
	ctx, cancel := context.WithCancel(context.Background())
	c.Print = func(string) { cancel() }
	_, err := New(c).LoadBuiltin(ctx, "x.star")
	wantError(t, err, "@torchx//x.star:2:", ": the evaluation was interrupted")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	_, err = New(c).LoadBuiltin(ctx, "y.star")
	wantError(t, err, "@torchx//y.star: the evaluation was interrupted")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	boom := starlark.NewBuiltin("boom", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		panic("ouch")
	})
	i := New(Config{Predeclared: starlark.StringDict{"boom": boom}, Builtins: mapFS(map[string]string{"x.star": "boom()", "y.star": "x = 1"})})
	_, err := i.LoadBuiltin(context.Background(), "x.star")
	wantError(t, err, "internal error", "@torchx//x.star", "ouch")
	if _, err := i.LoadBuiltin(context.Background(), "y.star"); err != nil {
		t.Errorf("the Interp cannot be used after a panic: %v", err)
	}
}
