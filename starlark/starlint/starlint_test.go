package starlint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"torchx/starlark/analysis"
	"torchx/starlark/starlint"
	"torchx/test/long"
)

// cases are files, their findings as "LINE:COL-LINE:COL rule: message", and the file after its fixes
// ("" without fixes).
var cases = []struct{ name, src, want, fixed string }{
	{"clean", "def go(n = 1):\n    \"\"\"Goes.\n\n    Args:\n        n (int): number\n    \"\"\"\n    return n\n", "", ""},
	{"syntax", "def f(:\n    pass\n", "1:6-1:7 syntax: '(' is never closed: got ':', want ')'", ""},
	{"not text", "x = 1\x00", "1:1-1:1 syntax: is not text (a NUL byte at offset 5); name a Starlark file", ""},
	{"undefined", "x = nothing\n", "1:5-1:12 names: undefined: nothing", ""},
	{"twice", "x = 1\nx = 2\n", "2:1-2:2 names: cannot reassign global x declared at x.star:1:1", ""},
	{"known names", "x = [specs, torchx, json, math, struct, shlex, path, len, __file__]\n", "", ""},
	{"recursion of comments", "# lint: disable=\nx = nothing\n", "2:5-2:12 names: undefined: nothing", ""},

	{"docstring", "def go():\n    return 1\n", "1:5-1:7 missing-docstring: component go has no docstring: write one, or rename it to _go if it is a helper", ""},
	{"private", "def _go():\n    return 1\n\nX = _go()\n", "", ""},
	{"nested", "def go():\n    \"\"\"Goes.\"\"\"\n    def f():\n        return 1\n\n    return f()\n", "", ""},
	{
		"undocumented", "def go(a, b = 1, *c):\n    \"\"\"Goes.\n\n    Args:\n        a (str): first\n    \"\"\"\n    return [a, b, c]\n",
		"1:11-1:12 undocumented-argument: argument b of go is not in the Args: section of its docstring\n" +
			"1:19-1:20 undocumented-argument: argument *c of go is not in the Args: section of its docstring", "",
	},
	{"kwargs", "def go(**kw):\n    \"\"\"Goes.\"\"\"\n    return kw\n", "1:10-1:12 component-kwargs: a command line cannot set **kw: use other parameters, or rename the function to _go", ""},
	{
		"help", "def go(help):\n    \"\"\"Goes.\n\n    Args:\n        help (str): no\n    \"\"\"\n    return help\n",
		"1:8-1:12 component-kwargs: a command line cannot set help: use other parameters, or rename the function to _go", "",
	},
	{
		"no such argument", "def go(image):\n    \"\"\"Goes.\n\n    Args:\n        imgae (str): the image\n        gone: nothing\n    \"\"\"\n    return image\n",
		"1:8-1:13 undocumented-argument: argument image of go is not in the Args: section of its docstring\n" +
			"5:9-5:14 unknown-argument: the docstring of go describes imgae, which is not an argument. Did you mean image?\n" +
			"6:9-6:13 unknown-argument: the docstring of go describes gone, which is not an argument",
		"def go(image):\n    \"\"\"Goes.\n\n    Args:\n        image (str): the image\n        gone: nothing\n    \"\"\"\n    return image\n",
	},
	{
		"type", "def go(a, ä, b, c):\n    \"\"\"Ä.\n\n    Args:\n        a (string): a\n        ä (intt): ä\n        b (Thing): b\n        c (list[int]): c\n    \"\"\"\n    return [a, ä, b, c]\n",
		"5:12-5:18 unknown-type: argument a: unknown type …\n6:12-6:16 unknown-type: argument ä: unknown type …\n7:12-7:17 unknown-type: argument b: unknown type …",
		"def go(a, ä, b, c):\n    \"\"\"Ä.\n\n    Args:\n        a (str): a\n        ä (int): ä\n        b (Thing): b\n        c (list[int]): c\n    \"\"\"\n    return [a, ä, b, c]\n",
	},
	{
		"default", defaults(`a = "1", b = 2, c = "true", d = [1, "x"], e = {"k": 1.5}, f = None, g = X, h = -2.5, i = len([]), j = 3`,
			"a (int)", "b (str)", "c (bool)", "d (list[int])", "e (dict[str, int])", "f (int)", "g (int)", "h (float)", "i (str)", "j (float)"),
		"3:12-3:15 default-type: the default of a is not of its type int: \"1\" is not an int (a whole number such as 3)\n" +
			"3:21-3:22 default-type: the default of b is not of its type str: 2 …\n" +
			"3:28-3:34 default-type: the default of c is not of its type bool: \"true\" is not a bool …\n" +
			"3:40-3:48 default-type: the default of d is not of its type list[int]: element 1: \"x\" is not an int …\n" +
			"3:54-3:64 default-type: the default of e is not of its type dict[str, int]: the value of …\n" +
			"3:80-3:81 default-type: the default of g is not of its type int: \"x\" …",
		defaults(`a = 1, b = "2", c = True, d = [1, "x"], e = {"k": 1.5}, f = None, g = X, h = -2.5, i = len([]), j = 3`,
			"a (int)", "b (str)", "c (bool)", "d (list[int])", "e (dict[str, int])", "f (int)", "g (int)", "h (float)", "i (str)", "j (float)"),
	},
	{
		"role", "def _f(kw):\n    a = specs.Role(name = \"a\", image = \"b\")\n    b = specs.Role(\"a\", \"b\", resource = None)\n    c = specs.Role(\"a\", \"b\", resource = specs.resource())\n    d = specs.Role(\"a\", **kw)\n    e = specs.Role(\"a\", \"b\", None, \"c\", [], {}, 1, 1, \"ROLE\", kw)\n    return [a, b, c, d, e]\n\nX = _f({})\n",
		"2:9-2:19 role-without-resource: specs.Role without resource: …\n3:9-3:19 role-without-resource: specs.Role without resource: …", "",
	},

	{"no app", "def go():\n    \"\"\"Goes.\"\"\"\n    specs.AppDef(name = \"x\")\n", "1:5-1:7 no-app: component go returns no app: end it with `return specs.AppDef(…)`, …", ""},
	{"no app from a role", "def go(n = 1):\n    \"\"\"Goes.\n\n    Args:\n        n (int): n\n    \"\"\"\n    if n < 1:\n        fail(\"n\")\n    print(specs.Role(\"a\", \"b\", resource = specs.resource(cpu = n)))\n", "1:5-1:7 no-app: component go returns no app: …", ""},
	{"None on a path", "def go(n = 1):\n    \"\"\"Goes.\n\n    Args:\n        n (int): n\n    \"\"\"\n    if n < 1:\n        return None\n    return specs.AppDef(name = \"x\")\n", "8:9-8:20 no-app: component go returns None here: …", ""},
	{"None in a conditional", "def go(n = 1):\n    \"\"\"Goes.\n\n    Args:\n        n (int): n\n    \"\"\"\n    return (specs.AppDef(name = \"x\") if n else None)\n", "7:5-7:53 no-app: component go returns None here: …", ""},
	{"helpers", "def check(n):\n    \"\"\"C.\n\n    Args:\n        n (int): n\n    \"\"\"\n    if n < 1:\n        fail(\"n\")\n\ndef extend(args):\n    \"\"\"E.\n\n    Args:\n        args (list): a\n    \"\"\"\n    args.append(1)\n\ndef validate(n):\n    \"\"\"V.\n\n    Args:\n        n (int): n\n    \"\"\"\n    _no(n)\n\ndef _no(n):\n    fail(n)\n\ndef find(n):\n    \"\"\"F.\n\n    Args:\n        n (int): n\n    \"\"\"\n    if n:\n        return None\n    return n\n", "", ""},
	{"macro", "X = [\"a ${replicaid} ${app_id} ${HOME} ${app-id} ${map_id} ${rep}\", \"appid=1; ${appid}\"]\n", "1:9-1:21 unknown-macro: unknown macro ${replicaid}. Did you mean ${replica_id} (specs.macros.replica_id)?\n1:40-1:49 unknown-macro: unknown macro ${app-id}. …", ""},
	{"attribute", "X = specs.Rolle\n", "1:11-1:16 unknown-attribute: specs has no attribute Rolle. Did you mean Role?", ""},
	{"call", "X = specs.AppDef(nme = 1)\n", "1:5-1:17 wrong-call: specs.AppDef needs the argument name\n1:18-1:21 wrong-call: specs.AppDef has no argument nme. Did you mean name?", ""},
	{
		"unused load", "load(\"./a.star\", \"a\", b = \"c\")\nload(\"./d.star\", \"d\")\n\nX = a\n",
		"1:23-1:24 unused-load: loaded symbol \"b\" is unused\n2:19-2:20 unused-load: loaded symbol \"d\" is unused",
		"load(\"./a.star\", \"a\")\n\nX = a\n",
	},
	{"confusing", "def _f():\n    l = 1\n    return l\n\nX = _f()\n", "2:5-2:6 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')", ""},
	{"dict method", "X = {}.get(\"a\", default = 1)\n", "1:17-1:28 dict-method-named-arg: named argument \"default\" not allowed, use a positional (unnamed) argument", ""},
	{"docstring header", "def _f():\n    \"\"\"This is\n    on two lines.\"\"\"\n    return 1\n\nX = _f()\n", "2:5-3:21 docstring-header: the docstring for the function \"_f\" should start with a one-line summary", ""},
	{"append", "def _f(x):\n    x += [1]\n    return x\n\nX = _f([])\n", "2:5-2:13 list-append: prefer using \".append()\" to adding a single element list", "def _f(x):\n    x.append(1)\n    return x\n\nX = _f([])\n"},
	{
		"append to no name", "def _f(x):\n    x[0] += [1]\n    x.y += [1]\n    10 += [0]\n    return x\n\nX = _f([])\n",
		"2:5-2:16 list-append: …\n3:5-3:15 list-append: …\n4:5-4:14 list-append: …\n4:5-4:7 names: can't assign to literal", "",
	},
	{
		"append with comments", "def _f(x):\n    x += [ # one\n        1,\n    ]\n    x += [2] # two\n    return x\n\nX = _f([])\n",
		"2:5-4:6 list-append: …\n5:5-5:13 list-append: …", "def _f(x):\n    x.append(\n        # one\n        1,\n    )\n    x.append(2) # two\n    return x\n\nX = _f([])\n",
	},
	{
		"type in a name", "def go(stringy, x):\n    \"\"\"Goes.\n\n    Args:\n        stringy (string): a string\n        x (str): x\n    \"\"\"\n    return [stringy, x]\n",
		"5:18-5:24 unknown-type: …", "def go(stringy, x):\n    \"\"\"Goes.\n\n    Args:\n        stringy (str): a string\n        x (str): x\n    \"\"\"\n    return [stringy, x]\n",
	},
	{
		"docstring with escapes", "def go(a):\n    \"\"\"Goes.\\n\\nArgs:\\n    a (string): a\"\"\"\n    b = 1\n    string = [a, b]\n    return string\n",
		"2:5-2:6 unknown-type: …", "",
	},
	{"no effect", "def _f(x):\n    x == 1\n    return x\n\nX = _f(1)\n", "2:5-2:11 no-effect: expression result is not used", ""},
	{"return", "def _f(x):\n    if x:\n        return 1\n\nX = _f(1)\n", "1:1-3:17 return-value: some but not all execution paths of \"_f\" return a value", ""},
	{"string", "X = [c for c in \"abc\"]\n", "1:17-1:22 string-iteration: string iteration is deprecated", ""},
	{"uninitialized", "def _f(x):\n    if x:\n        y = 1\n    return y\n\nX = _f(1)\n", "4:12-4:13 uninitialized: variable \"y\" may not have been initialized", ""},
	{"tabs", "def _f(x):\n\ty = [ # lint: disable=unused-variable\n\t\t1]\n\tif x:\n\t\tx += [\"é\"]\n\treturn x\n\nX = _f([])\n", "5:3-5:13 list-append: …", "def _f(x):\n\ty = [ # lint: disable=unused-variable\n\t\t1]\n\tif x:\n\t\tx.append(\"é\")\n\treturn x\n\nX = _f([])\n"},
	{"unreachable", "def _f():\n    return 1\n    fail(\"x\")\n\nX = _f()\n", "3:5-3:14 unreachable: the statement is unreachable", ""},
	{"unused", "def _f(a, _b):\n    c = 1\n    return 1\n\nX = _f(1, 2)\n", "1:8-1:9 unused-variable: variable \"a\" is unused\n2:5-2:6 unused-variable: variable \"c\" is unused", ""},

	{"disabled on the line", "X = nothing # lint: disable=names\nY = nothing\n", "2:5-2:12 names: undefined: nothing", ""},
	{"disabled above", "# buildifier: disable=unused-load, names\nload(\"./a.star\", \"a\")\n\n# lint: disable=missing-docstring\ndef go():\n    return 1\n", "", ""},
	{"disabled by buildifier's name", "load(\"./a.star\", \"a\") # buildifier: disable=load\n", "", ""},
	{"disabled function", "# lint: disable=undocumented-argument\ndef go(\n        a,\n        b):\n    \"\"\"Goes.\"\"\"\n    return [a, b]\n", "", ""},
	{"another rule", "X = nothing # lint: disable=syntax\n", "1:5-1:12 names: undefined: nothing", ""},
}

// defaults is a component with these parameters and types.
func defaults(params string, types ...string) string {
	var names []string
	var doc strings.Builder
	for _, typed := range types {
		name, _, _ := strings.Cut(typed, " ")
		names = append(names, name)
		doc.WriteString("        " + typed + ": text\n")
	}
	return "X = \"x\"\n\ndef go(" + params + "):\n    \"\"\"Goes.\n\n    Args:\n" + doc.String() + "    \"\"\"\n    return [" + strings.Join(names, ", ") + "]\n"
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			findings := check("x.star", []byte(c.src))
			same(t, findings, c.want)
			if c.fixed == "" {
				c.fixed = c.src
			}
			if got, _ := starlint.Apply([]byte(c.src), findings); string(got) != c.fixed {
				t.Errorf("fixed\n%s\nwant\n%s", got, c.fixed)
			}
			// A byte order mark and line ends of Windows change only offsets.
			marked := check("x.star", []byte("\uFEFF"+c.src))
			same(t, marked, c.want)
			if got, _ := starlint.Apply([]byte("\uFEFF"+c.src), marked); string(got) != "\uFEFF"+c.fixed {
				t.Errorf("fixed after a byte order mark\n%q\nwant\n%q", got, c.fixed)
			}
		})
	}
}

// check lints a text without following loads.
func check(name string, src []byte) []starlint.Finding {
	return starlint.Check(analysis.New(name, nil, string(src), nil), nil)
}

// same compares findings with lines, each of which may end with "…".
func same(t *testing.T, findings []starlint.Finding, want string) {
	t.Helper()
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%d:%d-%d:%d %s: %s", f.Start.Line, f.Start.Col, f.End.Line, f.End.Col, f.Rule, f.Message))
		if f.File != "x.star" || f.Severity == "" || f.Start.Offset > f.End.Offset {
			t.Errorf("got %+v, want file, severity and place", f)
		}
	}
	lines := strings.Split(want, "\n")
	if want == "" {
		lines = nil
	}
	ok := len(got) == len(lines)
	for i := 0; ok && i < len(got); i++ {
		begin, partly := strings.CutSuffix(lines[i], "…")
		ok = got[i] == lines[i] || partly && strings.HasPrefix(got[i], begin)
	}
	if !ok {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestTestFiles checks that rules about components do not apply to test files.
func TestTestFiles(t *testing.T) {
	t.Parallel()
	src := "def test_x(t):\n    t.eq(specs.Role(name = \"a\", image = \"b\").name, \"a\")\n"
	if f := check("a/x_test.star", []byte(src)); len(f) != 0 {
		t.Errorf("got %+v, want none in a test file", f)
	}
	if f := check("a/x.star", []byte(src)); len(f) != 3 {
		t.Errorf("got %+v, want three", f)
	}
}

// TestRules checks that the cases above cover every rule, and that Fixable is correct.
func TestRules(t *testing.T) {
	t.Parallel()
	found, fixed := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		for _, f := range check("x.star", []byte(c.src)) {
			found[f.Rule] = true
			fixed[f.Rule] = fixed[f.Rule] || f.Fix != nil
			if f.Fix != nil && (f.Fix.Title == "" || len(f.Fix.Edits) == 0) {
				t.Errorf("%s: got fix %+v, want a title and edits", f.Rule, f.Fix)
			}
		}
	}
	found["broken-load"] = true // covered by the tests of package analysis
	var names []string
	for _, r := range starlint.Rules() {
		names = append(names, r.Name)
		if !found[r.Name] || r.Summary == "" || r.Fixable != fixed[r.Name] {
			t.Errorf("%+v: found %t, fixed %t", r, found[r.Name], fixed[r.Name])
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(names)) != len(found) {
		t.Errorf("got rules %q, want all, sorted", names)
	}
}

// FuzzCheck checks that positions are within the file and that fixes add no errors.
func FuzzCheck(f *testing.F) {
	for _, c := range cases {
		f.Add(c.src)
	}
	f.Add("x=[]\n0+=[0] #0000000")
	f.Add("x = [1]\nx += [2] # c\r\nif x:\n  load('a', 'b')\n")
	f.Fuzz(func(t *testing.T, src string) {
		findings := check("x.star", []byte(src))
		for _, x := range findings {
			if x.Start.Offset < 0 || x.End.Offset > len(src) || x.Start.Offset > x.End.Offset || strings.ContainsAny(x.Message, "\n") {
				t.Fatalf("got %+v in %q, want a place in it and one line", x, src)
			}
		}
		fixed, n := starlint.Apply([]byte(src), findings)
		if n == 0 {
			return
		}
		if comments(string(fixed)) < comments(src) {
			t.Fatalf("%q\nbecame\n%q\nand lost a comment", src, fixed)
		}
		for _, x := range check("x.star", fixed) {
			if x.Rule == "syntax" {
				t.Fatalf("%q\nbecame\n%q\n%+v", src, fixed, x)
			}
		}
	})
}

// comments counts the comments of a file, none if it does not parse.
func comments(src string) (n int) {
	tree, err := (&syntax.FileOptions{Set: true, GlobalReassign: true, TopLevelControl: true}).Parse("x.star", src, syntax.RetainComments)
	if err != nil {
		return 0
	}
	syntax.Walk(tree, func(node syntax.Node) bool {
		if node != nil {
			if c := node.Comments(); c != nil {
				n += len(c.Before) + len(c.Suffix) + len(c.After)
			}
		}
		return true
	})
	return n
}

// TestLargeFiles checks that linting and fixing a large file does not compare all its parts with each
// other: that would take minutes, or forever for values with shared parts.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	n := long.N(20000, 4000)
	many := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "@", "%[1]d"), i)
		}
		return b.String()
	}
	shared := "X0 = []\n"
	for i := range 60 {
		shared += fmt.Sprintf("X%d = [X%d, X%d]\n", i+1, i, i)
	}
	for name, c := range map[string]struct {
		src   string
		fixes int // minimum
	}{
		"parameters on a line":        {"def go(ä = 1" + many(", p@ = 1") + "):\n    \"\"\"Goes.\"\"\"\n    return ä\n", 0},
		"types":                       {"def go(" + many("p@, ") + "):\n    \"\"\"Goes.\n\n    Args:\n" + many("        p@ (string): x\n") + "    \"\"\"\n    return p0\n", n},
		"arguments that do not exist": {"def go(" + many("p@, ") + "):\n    \"\"\"Goes.\n\n    Args:\n" + many("        q@: x\n") + "    \"\"\"\n    return p0\n", 0},
		"undefined names":             {many("g@ = u@\n"), 0},
		"disabled rules":              {many("g@ = u@ # lint: disable=no-effect\n"), 0},
		"choices":                     {"def go(a = \"z\"):\n    \"\"\"Goes.\n\n    Args:\n        a (enum(" + many("\"c@\", ") + "\"x\")): x\n    \"\"\"\n    return a\n", 0},
		"shared values":               {shared + "def go(a = X60):\n    \"\"\"Goes.\n\n    Args:\n        a (int): x\n    \"\"\"\n    return a\n", 0},
		"appends":                     {"def _f(x):\n" + many("    x += [@]\n") + "    return x\n\nX = _f([])\n", n},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, fixed, left := starlint.FixAll(analysis.New("x.star", nil, c.src, nil), nil)
			if fixed < c.fixes || fixed == 0 && len(left) == 0 {
				t.Errorf("got %d fixes and %d findings, want at least %d fixes or a finding", fixed, len(left), c.fixes)
			}
			for _, f := range left {
				if len(f.Message) > 4000 {
					t.Errorf("got a message of %d bytes, want a short one", len(f.Message))
				}
			}
		})
	}
}
