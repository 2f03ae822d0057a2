package analysis

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"torchx/starlark/interp"
	"torchx/starlark/startest"
)

// fakeLoader has the files of a workspace as texts.
type fakeLoader map[string]string

func (l fakeLoader) Load(_ *File, label string) (*File, error) {
	text, ok := l[label]
	if !ok {
		return nil, errors.New("no such file")
	}
	return New(label, nil, text, nil), nil
}

func (l fakeLoader) Entries(_ *File, folder string) []string {
	var out []string
	for label := range l {
		if rest, ok := strings.CutPrefix(label, folder); ok {
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				rest = rest[:i+1]
			}
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (fakeLoader) Roots(*File) []string { return []string{"@torchx//", "@acme//"} }

func (fakeLoader) Resources(*File) []string { return []string{"gpu.lab", "gpu.small"} }

var workspace = fakeLoader{
	"./helper.star": `"""Helpers."""

def role(name, image = "x", *, replicas = 1):
    """Makes a role.

    Args:
        name (str): what to call it
        mode (enum("fast", "slow")): how
        replicas (int): how many
    """
    return specs.Role(name = name, image = image)

def train(mode = "fast"):
    """Trains.

    Args:
        mode (enum("fast", "slow")): how to train
    """

SIZE = 3
_private = 1
`,
	"./sub/deep.star":     "def deep(): pass\n",
	"@torchx//dist.star":  "def ddp(): pass\n",
	"@torchx//utils.star": "def sh(): pass\n",
}

// cursorFile splits a text at "|", the cursor.
func cursorFile(t *testing.T, text string, before *File) (*File, int) {
	t.Helper()
	return cursorIn(t, "x.star", text, before)
}

// cursorIn is cursorFile for a file with that name.
func cursorIn(t *testing.T, name, text string, before *File) (*File, int) {
	t.Helper()
	at := strings.IndexByte(text, '|')
	if at < 0 {
		t.Fatalf("no cursor in %q", text)
	}
	return New(name, nil, text[:at]+text[at+1:], before), at
}

const head = `load("./helper.star", "role", "train", "SIZE")

LIMIT = 3
names = ["a"]

def main(data, steps = 3):
    """Trains.

    Args:
        data (path): the data
        steps (int): how many
    """
    total = steps * 2
    for i in range(3):
        pass
`

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want, not string }{
		{"members", head + "    specs.|\n", "AppDef Role Resource resource macros named_resources", "len total main"},
		{"members, after a prefix", head + "    x = specs.Re|\n", "Resource RetryPolicy replace resource", "Role AppDef"},
		{"members of members", head + "    specs.macros.|", "app_id img_root", "Role"},
		{"torchx", head + "    torchx.|", "IMAGE getenv version", ""},
		{"math", "x = math.|", "sqrt pi", ""},
		{"arguments", head + "    specs.Role(|", "name image num_replicas total data steps i LIMIT main role specs len", ""},
		{"arguments as text", head + "    specs.Role(na|", "name = ", "image"},
		{"remaining arguments", head + "    specs.Role(name = data, |, args = [])", "image num_replicas", "name args"},
		{"arguments on a separate line", head + "    return specs.AppDef(\n        name = data,\n        ro|\n    )", "roles", "name"},
		{"arguments of a loaded function", head + "    role(|", "name image replicas", ""},
		{"arguments of a local function", head + "    main(st|", "steps = ", ""},
		{"arguments of a builtin", head + "    sorted(names, |", "key reverse", "x"},
		{"a value, not an argument", head + "    specs.Role(name = |", "data total LIMIT", "image = "},
		{"in a list within a call", head + "    specs.Role(args = [|", "data total", "image = "},
		{"names", head + "    |", "data steps total i LIMIT names main role SIZE specs torchx len return for", "Role"},
		{"names at the top", head + "\n|", "LIMIT main role specs def load", "data total"},
		{"names in a broken function", head + "    x = (1 +\n    y = tot|", "total", ""},
		{"names after a broken function", "def broken(a, b:\n    x = [1,\n\ndef good(c):\n    y = 1\n    |", "c y", "a b x"},
		{"comprehension", head + "    z = [e.| for e in names]", "", "append"},
		{"comprehension variable", head + "    z = [el| for elem in names]", "elem", ""},
		{"methods of a literal", `x = ",".jo|`, "join", "append"},
		{"methods of a list", head + "    names.|", "append extend", "join"},
		{"methods of a parameter", head + "    data.|", "split join", "append"},
		{"methods of an unknown value", head + "    total.|", "", "append join"},
		{"fields", "def f():\n    r = specs.Role(name = \"a\", image = \"b\")\n    r.|", "name image args", "AppDef"},
		{"label", `load("|`, "./ // @torchx// @acme// ./helper.star ./sub/", ""},
		{"label, begun", `load("./h|`, "./helper.star", "./sub/"},
		{"label of a library", `load("@torchx//|")`, "@torchx//dist.star @torchx//utils.star", "./"},
		{"loaded names", `load("./helper.star", "|`, "role train SIZE", "_private"},
		{"remaining loaded names", `load("./helper.star", "role", "|")`, "train SIZE", "role"},
		{"resource names", `specs.named_resources["gpu.|"]`, "gpu.small gpu.large", "cpu.small"},
		{"resource names by argument", `specs.resource(h = "gpu.|")`, "gpu.small", "cpu.small"},
		{"choices", head + `    train(mode = "|")`, "fast slow", ""},
		{"resources of the project", `specs.named_resources["|"]`, "gpu.lab gpu.small", ""},
		{"resource of an argument", "def f(h = None):\n    \"\"\"F.\n\n    Args:\n        h (resource?): what\n    \"\"\"\n\nf(h = \"gpu.|\")", "gpu.lab gpu.large", "cpu.small"},
		{"t is unknown outside tests", "def test_x(t):\n    t.|", "", "eq"},
		{"comment", "# spe|", "", "specs"},
		{"string", `x = "spe|"`, "", "specs"},
		{"docstring", "def f():\n    \"\"\"spe|", "", "specs"},
		{"new function", "def spe|", "", "specs"},
		{"new parameter", "def f(spe|", "", "specs"},
		{"default of a parameter", "def f(a = spe|", "specs", ""},
		{"attribute of a call", "f().|", "", "append"},
		{"empty file", "|", "specs load def", ""},
	} {
		f, at := cursorFile(t, c.text, nil)
		items, from := f.Complete(workspace, at)
		have := map[string]bool{}
		for _, i := range items {
			have[i.Text], have[i.Name] = true, true
		}
		wants := strings.Fields(c.want)
		if strings.HasSuffix(c.want, " = ") {
			wants = []string{c.want}
		}
		for _, w := range wants {
			if !have[w] {
				t.Errorf("%s: want %q in %v", c.name, w, have)
			}
		}
		for w := range strings.FieldsSeq(strings.ReplaceAll(c.not, " = ", "=")) {
			if have[strings.ReplaceAll(w, "=", " = ")] {
				t.Errorf("%s: got %q, want it left out", c.name, w)
			}
		}
		if c.want == "" && c.not == "" && len(items) > 0 || from > at {
			t.Errorf("%s: got %v from %d, want none", c.name, have, from)
		}
	}
}

// TestOfTests checks that in a test file t is the argument of tests.
func TestOfTests(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"def test_x(t):\n    t.|", "def _check(t, app):\n    if app:\n        t.|",
		"def test_x(t):\n    t.run(\"a\", lambda t: t.|)", "def test_x(t):\n    for t2 in [1]:\n        x = [t.|",
	} {
		f, at := cursorIn(t, "x_test.star", text, nil)
		items, _ := f.Complete(workspace, at)
		if len(items) != len(startest.Docs()) {
			t.Errorf("%q: got %d names, want all of t", text, len(items))
		}
	}
	f, at := cursorIn(t, "x_test.star", "def test_x(t):\n    t.pl|an(1)", nil)
	if r := f.Reference(workspace, at); r == nil || !strings.HasPrefix(r.Signature, "t.plan(app, backend = ") || len(r.Params) != 3 {
		t.Errorf("got %+v, want t.plan with 3 parameters", r)
	}
}

// TestLastGoodText checks that the definitions of the last text that parsed are kept while the line
// at the cursor does not parse.
func TestLastGoodText(t *testing.T) {
	t.Parallel()
	good := New("x.star", nil, head+"\ndef late(wide, narrow = 1):\n    pass\n", nil)
	f, at := cursorFile(t, head+"\ndef late(((:\n\nx = late(|", good)
	items, _ := f.Complete(workspace, at)
	found := slices.ContainsFunc(items, func(i Item) bool { return i.Text == "narrow = " })
	if f.Err == nil || !found {
		t.Errorf("got error %v, items %v, want a syntax error and the name", f.Err, items)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, signature, file, at string }{
		{head + "    specs.Ro|le()", "specs.Role(name", "", ""},
		{head + "    sp|ecs.Role()", "specs", "", ""},
		{head + "    specs.macros.app|_id", "specs.macros.app_id", "", ""},
		{head + "    le|n(x)", "len(x)", "", ""},
		{head + "    rol|e()", `def role(name, image = "x", replicas = 1)`, "./helper.star", "role(name"},
		{head + "    ma|in()", "def main(data, steps = 3)", "x.star", "main(data"},
		{head + "    da|ta", "data", "x.star", "data, steps"},
		{head + "    print(|total)", "total = steps * 2", "x.star", "total = "},
		{head + "    specs.Role(num_|replicas = 2)", "num_replicas = 1", "", ""},
		{head + "    role(repl|icas = 2)", "replicas = 1", "./helper.star", "replicas = 1):"},
		{head + "    LIM|IT", "LIMIT = 3", "x.star", "LIMIT = 3"},
		{head + `    ",".jo|in([])`, "join(iterable)", "", ""},
		{head + "    names.app|end(1)", "append(x)", "", ""},
		{`load("./helper.star", "ro|le")`, "def role(", "./helper.star", "role(name"},
		{"def f(path):\n    pa|th", "path", "x.star", "path):"},
		{head + "    nothing.kn|own", "", "", ""},
		{"# specs.Ro|le", "", "", ""},
	} {
		f, at := cursorFile(t, c.text, nil)
		r := f.Reference(workspace, at)
		if r == nil || r.Symbol == nil {
			if c.signature != "" {
				t.Errorf("%q: got no reference, want one", c.text[max(0, at-20):])
			}
			continue
		}
		if c.signature == "" || !strings.HasPrefix(r.Signature, c.signature) {
			t.Errorf("%q: %q, want %q", c.text[max(0, at-20):], r.Signature, c.signature)
		}
		if (r.File == nil) != (c.file == "") || r.File != nil && (r.File.Name != c.file || !strings.HasPrefix(r.File.Text[r.Start:], c.at)) {
			t.Errorf("%q: got %+v, want the definition", c.text[max(0, at-20):], r.Symbol)
		}
	}
	f, at := cursorFile(t, `load("./help|er.star", "role")`, nil)
	if r := f.Reference(workspace, at); r == nil || r.Loaded == nil || r.Loaded.Name != "./helper.star" {
		t.Errorf("got reference %+v, want ./helper.star", r)
	}
}

func TestCallAround(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]any{
		"specs.Role(|":                       {"specs.Role", 0},
		"specs.Role(\"a\", |)":               {"specs.Role", 1},
		"specs.Role(args = [1, |":            {"specs.Role", 4},
		"specs.Role(\n  image = x(1, 2),\n|": {"specs.Role", 1},
		"f(specs.Role(), len(|":              {"len", 0},
		"shlex.join(a, b, |":                 {"shlex.join", -1},
	} {
		f, at := cursorFile(t, text, nil)
		c := f.At(at)
		b := c.EnclosingCall()
		if b == nil || b.Callee != want[0] {
			t.Errorf("%q: got bracket %+v, want callee %q", text, b, want[0])
			continue
		}
		if i := f.Lookup(workspace, at, b.Callee).ParameterIndex(b); i != want[1] {
			t.Errorf("%q: parameter %d, want %d", text, i, want[1])
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`load("./gone.star", "x")`:                                               "no such file",
		`load("./helper.star", "rol")`:                                           "./helper.star has no rol. Did you mean role?",
		`load("./helper.star", "_private")`:                                      "_private is private",
		`specs.Role(nme = 1, image = "")`:                                        "specs.Role has no argument nme. Did you mean name?",
		`specs.Role(name = "")`:                                                  "specs.Role needs the argument image",
		`specs.Role("", "")`:                                                     "",
		`specs.Role(**{})`:                                                       "",
		`specs.replace(x, anything = 1)`:                                         "",
		`struct(a = 1)`:                                                          "",
		`print(1, 2, sep = "")`:                                                  "",
		"load(\"./helper.star\", \"role\")\nrole()":                              "role needs the argument name",
		"load(\"./helper.star\", \"role\")\nrole(\"x\", replica = 1)":            "role has no argument replica. Did you mean replicas?",
		"def specs(): pass\nspecs(x = 1)":                                        "specs has no argument x",
		"def f(a, *b, **c): pass\nf(1, 2, d = 3)":                                "",
		"def f(a):\n    pass\n\ndef g(f):\n    f(x = 1)":                         "",
		"load(\"./helper.star\", other = \"role\")\nother(nam = 1, name = \"\")": "other has no argument nam",
	} {
		f := New("x.star", nil, text+"\n", nil)
		found := f.Problems(workspace)
		texts := make([]string, len(found))
		for i, p := range found {
			texts[i] = p.Text
			if p.To <= p.From {
				t.Errorf("%s: %+v has no extent", text, p)
			}
		}
		got := strings.Join(texts, "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestLargeAndBroken checks that the worst texts are analyzed in acceptable time.
// The bound is generous, because the machine of a test is busy.
func TestLargeAndBroken(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"open brackets": "x(\n", "heads": "def f(\n", "bodies": "def f():\n  x = (\n", "quotes": "x = \"\n", "nested": "f([{(", "dots": "a.",
		"long body": "  y = 1 +\n", "names": "x = specs.Role(a)\n",
	} {
		text := strings.Repeat(line, 150_000/len(line))
		matching := time.Now()
		f := New("x.star", nil, text, nil)
		f.Complete(workspace, len(text))
		f.Reference(workspace, len(text)/2)
		f.Problems(workspace)
		if took := time.Since(matching); took > 20*time.Second {
			t.Errorf("%s: got %v, want at most 20s", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
}

// TestDocumented checks that all names of Starlark are documented.
func TestDocumented(t *testing.T) {
	t.Parallel()
	for name := range starlark.Universe {
		if Builtin(name) == nil {
			t.Errorf("%s is not documented", name)
		}
	}
	for kind, v := range map[string]starlark.HasAttrs{
		"string": starlark.String(""), "list": starlark.NewList(nil), "dict": starlark.NewDict(0), "set": starlark.NewSet(0),
	} {
		for _, name := range v.AttrNames() {
			if Builtin(kind+"."+name) == nil {
				t.Errorf("%s.%s is not documented", kind, name)
			}
		}
		if got := len(Members(kind)); got != len(v.AttrNames()) {
			t.Errorf("%s has %d methods, %d are documented", kind, len(v.AttrNames()), got)
		}
	}
	for name, s := range builtins() {
		if strings.Contains(s.Signature, "(") && !strings.HasSuffix(s.Signature, "()") && len(s.Params) == 0 {
			t.Errorf("%s: no parameter is read from %s", name, s.Signature)
		}
	}
}

// FuzzFile checks that analysis neither fails nor hangs, for any text and cursor.
func FuzzFile(f *testing.F) {
	f.Add(head, 10)
	f.Add("\uFEFFload(\"./helper.star\", \"x\"", 20)
	f.Add("def f(a, b = [1, (2:\n  x.y.\n\"\"\"", 18)
	f.Add("x = {'a': [1, 2}\ny = \"\\\n", 5)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if len(text) > 4096 {
			return
		}
		file := New("x.star", nil, text, nil)
		at = max(0, min(at, len(text)))
		file.Complete(workspace, at)
		file.Reference(workspace, at)
		for _, p := range file.Problems(workspace) {
			if p.From < 0 || p.To > len(text) {
				t.Errorf("%+v is not within the text", p)
			}
		}
		for _, s := range file.Globals() {
			if s.Start < 0 || s.End > len(text) {
				t.Errorf("%+v is not within the text", s)
			}
		}
	})
}

// TestProblemsOfFiles checks that exactly the calls, attributes and loads that certainly fail are found.
func TestProblemsOfFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"specs.Rolle()":                                     "specs has no attribute Rolle. Did you mean Role?",
		"x = torchx.IMAG":                                   "torchx has no attribute IMAG. Did you mean IMAGE?",
		"x = path.jion":                                     "path has no attribute jion. Did you mean join?",
		"x = torchx.py.rep(1)":                              "torchx.py has no attribute rep. Did you mean repr?",
		"x = specs.macros.app_idd":                          "specs.macros has no attribute app_idd. Did you mean app_id?",
		"x = specs.RetryPolicy.REPLIKA":                     "Did you mean REPLICA?",
		"def f():\n    x = specs\n    return x.Rol":         "Did you mean Role?",
		"def f():\n    r = specs.Role\n    r(nme = 1)":      "r has no argument nme. Did you mean name?",
		"x = \"a\".jion([])":                                "a string has no attribute jion. Did you mean join?",
		"x = [].apend(1)":                                   "a list has no attribute apend. Did you mean append?",
		"x = {}.itmes()":                                    "a dict has no attribute itmes. Did you mean items?",
		"r = specs.Role(\"a\", \"b\")\nx = r.arg":           "a value of specs.Role has no attribute arg. Did you mean args?",
		"r = specs.Role(\"a\", \"b\")\nr.args = []":         "cannot be changed: use specs.replace(value, args = ...)",
		"specs.Resource(cpus = 1, gpu = 0, memMB = 1)":      "specs.Resource has no argument cpus. Did you mean cpu?",
		"specs.BindMount(\"a\", \"b\", True, 1)":            "specs.BindMount takes at most 3 positional arguments",
		"specs.AppDef(\"a\", name = \"b\")":                 "specs.AppDef is given the argument name twice",
		"len()":                                             "len needs the argument x",
		"json.decode(\"1\", 2, 3)":                          "json.decode takes at most 2 positional arguments",
		"def f(a, *, b):\n    pass\n\nf(1, 2)":              "f takes at most 1 positional argument; f needs the argument b",
		"def g():\n    def f(a):\n        pass\n    f(b=1)": "f has no argument b; f needs the argument a",
		"load(\"./helper.star\", \"role\")\ndef g():\n    return role(\"a\", \"b\", 3)": "role takes at most 2 positional arguments",

		"x = specs.Role(\"a\", \"b\", num_replicas = \"2\")":                               "specs.Role: num_replicas: got string, want int",
		"x = specs.Role(\"a\", 1)":                                                         "specs.Role: image: got int, want string",
		"x = specs.Role(\"a\", \"b\", args = [\"x\",\n    1])":                             "specs.Role: args[1]: got int, want string",
		"x = specs.Role(\"a\", \"b\", sidecar = \"yes\")":                                  "specs.Role: sidecar: got string, want bool",
		"x = specs.Role(\"a\", \"b\", max_parallel = 0)":                                   "specs.Role: max_parallel: got 0, want a whole number from 1",
		"x = specs.Role(\"a\", \"b\", retry_policy = \"Replica\")":                         "unknown policy",
		"x = specs.Role(\"a\", \"b\", env = None, args = ())":                              "",
		"True1 = 1\nx = specs.AppDef(True1)":                                               "",
		"def f(specs, path):\n    return specs.Rolle() + path.jion":                        "",
		"f = lambda torchx: torchx.IMAG":                                                   "",
		"x = [json.foo for json in []]":                                                    "",
		"def f():\n    for specs in []:\n        specs.Rolle()":                            "",
		"def f(x):\n    r = specs.Role(\"a\", \"b\")\n    if x:\n        r = x\n    r.foo": "",
		"def f(g):\n    g(x = 1)":                                                          "",
		"x = specs.UNKNOWN if hasattr(specs, \"UNKNOWN\") else 1":                          "",
		"x = getattr(specs, \"OTHER\", None) or specs.OTHER":                               "",
		"def f(a, b = 1):\n    pass\n\nf(*[1, 2], **{})":                                   "",
		"x = json.decode(\"1\")":                                                           "",
		"x = specs.Resource.copy(specs.NULL_RESOURCE, a = 1)":                              "",
		"x = math.pi + math.sqrt(2)":                                                       "",
		"def f():\n    x = x\n    return x.y":                                              "",
	} {
		f := New("x.star", nil, text+"\n", nil)
		var texts []string
		for _, p := range f.Problems(workspace) {
			texts = append(texts, strings.TrimSuffix(p.Text, "."))
		}
		got := strings.Join(texts, "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s:\n%q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]int{
		"def test_x(t):\n    t.equl(1, 1)":                          1,
		"def test_x(t):\n    t.eq(1)":                               1,
		"def test_x(t):\n    t.fails(lambda: specs.Rolle(), \"R\")": 0,
		"def _helper(t):\n    t.anything()":                         0,
	} {
		if got := New("x_test.star", nil, text+"\n", nil).Problems(nil); len(got) != want {
			t.Errorf("%s:\n%+v, want %d problems", text, got, want)
		}
	}
}

// TestBrokenLoads checks that a load fails if an indirectly loaded file is broken.
func TestBrokenLoads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.star": "load(\"./b.star\", \"b\")\n\na = b\n", "b.star": "load(\"./hlper.star\", \"h\")\n\nb = h\n",
		"helper.star": "h = 1\n", "c.star": "load(\"./d.star\", \"d\")\n", "d.star": "d = (1\n",
		"e.star": "load(\"./f.star\", \"f\")\n\ne = f\n", "f.star": "load(\"./e.star\", \"e\")\n\nf = e\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk := NewDisk(interp.New(interp.Config{Dir: dir}))
	for name, want := range map[string]string{
		"a.star": "b.star cannot be loaded: b.star: cannot load //hlper.star: no such file", "b.star": "did you mean helper.star?",
		"c.star": "d.star cannot be loaded: d.star:", "e.star": "load cycle: f.star loads this file",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := disk.File(name, string(data))
		if err != nil {
			t.Fatal(err)
		}
		if got := file.Problems(disk); len(got) != 1 || !strings.Contains(got[0].Text, want) || got[0].Rule != RuleLoad {
			t.Errorf("%s: got %+v, want one with %q", name, got, want)
		}
	}
}
