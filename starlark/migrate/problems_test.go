package migrate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const head = "import torchx.specs as specs\nfrom torchx.specs import AppDef, Role\nimport os, json, enum, random\n"

// portText ports a function body, as a component f.
func portText(t *testing.T, text string) *Result {
	t.Helper()
	needPython(t)
	r, err := Port(t.Context(), "python3", "f.py", []byte(text), Folders{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProblems: constructs without a counterpart are reported with their line, and never guessed.
func TestProblems(t *testing.T) {
	t.Parallel()
	var bodies, wants []string
	for body, want := range map[string]string{
		"try:\n  pass\nexcept E:\n  pass": "`try` has no counterpart",
		"with open('x') as f:\n  pass":    "`with` has no counterpart",
		"x = open('x')":                   "open(…) has no counterpart",
		"x = round(n, 1)":                 "round(…) with digits has no counterpart",
		"x = n ** 0.5":                    "** has no counterpart",
		"x = y":                           "y is not defined",
		"x = os.listdir()":                "os.listdir has no counterpart",
		"x = random.random()":             "random.random has no counterpart",
		"x = [1].sort()":                  "lists have no sort",
		"x = 'a'.zfill(3)":                "the method .zfill has no counterpart",
		"x = b'a'":                        "a literal of type bytes",
		"x = (y := 1)":                    "`:=` has no counterpart",
		"x = n is s":                      "`is` compares identities",
		"x = '%s' % q()":                  "q is not defined",
		"x = specs.Rol(name='x')":         "Did you mean specs.Role?",
		"x = specs.Role(name='x', image='i', nam='y')":               "specs.Role has no argument nam",
		"def g():\n  yield n\n  return 2":                            "`yield` has no counterpart",
		"global X":                                                   "`global` has no counterpart",
		"import subprocess\nsubprocess.run('x')":                     "subprocess.run has no counterpart",
		"from .own import helper\nhelper()":                          "port that file too",
		"x = f()":                                                    "calls itself",
		"for i in []:\n  pass\nelse:\n  pass":                        "`else` of a for",
		"os.environ['X'] = '1'":                                      "cannot set environment variables",
		"e = {}\nr = Role(name='r', image='i', env=e)\ne['X'] = '1'": "e changes after line",
		"e = {}\nrs = []\nfor i in range(2):\n  e['I'] = str(i)\n  rs.append(Role(name='r', image='i', env=e))":     "e changes after line",
		"r = Role(name='r', image='i')\nrs = [r]\nr.num_replicas = 2":                                               "r changes after line",
		"e = {}\nr = Role(name='r', image='i', env=e)\nr.env['X'] = '1'\nq = Role(name='q', image='i', env=e)":      "r.env changes but is also e",
		"for r in [Role(name='r', image='i')]:\n  r.image = 'j'":                                                    "r changes but is a loop variable",
		"r = Role(name='r', image='i')\nr.args.sort()":                                                              ".sort(…) cannot change a part of a specs value",
		"r = Role(name='r', image='i')\nd = {'a': r}\nd['a'].env['x'] = '1'\nq = [r]":                               "d changes after line",
		"rs = [Role(name='r', image='i')]\napp = AppDef('a', roles=rs)\nfor r in rs:\n  r.env['x'] = '1'":           "r changes after line",
		"app = AppDef('a')\nrs = app.roles\nb = AppDef('b', roles=rs)\napp.roles.append(Role(name='r', image='i'))": "app changes after line",
		"D['x'] = '1'":                               "values at the top of a file cannot change",
		"e = {}\nr = mk(e)\ne['X'] = '1'":            "e changes after line",
		"x = f'{Mode.A}'":                            "the text of an Enum member",
		"x = Mode.B":                                 "Mode has no member B",
		"x = [i async for i in y()]":                 "",
		"x = lambda a=1: a":                          "a lambda with default or starred parameters cannot be ported",
		"x = sum(1 for _ in range(3)) @ 2":           "MatMult has no counterpart",
		"x = '\\ud800'":                              "surrogate",
		"x = [1, 2]\nx[::2] = [3]":                   "Starlark cannot assign to a slice",
		"x = s.splitlines()":                         "Python splits lines at more characters",
		"x = [i for i in {1, 2}]":                    "the order of a set cannot be reproduced",
		"x = list({1, 2} - {1})":                     "the order of a set cannot be reproduced",
		"x = ','.join(set([s]))":                     "the order of a set cannot be reproduced",
		"x = f'{specs.RetryPolicy.ROLE}'":            "the text of an Enum member",
		"P = specs.RetryPolicy\nx = str(P.ROLE)":     "the text of an Enum member",
		"x = D\nx['y'] = '1'":                        "x changes, which is D",
		"x = shout(1.5)":                             "v of shout is annotated as str but gets a float",
		"def g() -> str:\n  return n * 1.5\nx = g()": "g is annotated to return str but returns a float",
	} {
		bodies, wants = append(bodies, body), append(wants, want)
	}
	// One file has a function for each, since starting Python takes long.
	text := head + "D = {}\nclass Mode(enum.Enum):\n  A = 'a'\ndef shout(v: str) -> str:\n  return f'{v}'\ndef mk(e):\n  return Role(name='m', image='i', env=e)\n"
	var starts []int
	for i, body := range bodies {
		starts = append(starts, strings.Count(text, "\n")+1)
		text += fmt.Sprintf("def f%d(n: int = 1, s: str = '') -> AppDef:\n  'Doc.'\n  ", i) +
			strings.ReplaceAll(strings.ReplaceAll(body, "f()", fmt.Sprintf("f%d()", i)), "\n", "\n  ") + "\n  return AppDef('a')\n"
	}
	starts = append(starts, strings.Count(text, "\n")+1)
	r := portText(t, text)
	for i, want := range wants {
		found := false
		for _, p := range r.Problems {
			found = found || p.Line >= starts[i] && p.Line < starts[i+1] && strings.Contains(p.Msg, want)
		}
		if !found {
			t.Errorf("%s\nno problem %q in lines %d to %d", bodies[i], want, starts[i], starts[i+1])
		}
		if name := fmt.Sprintf("f%d", i); slices.Contains(r.Components, name) || !strings.Contains(r.Text, "def "+name+"(n = None") {
			t.Errorf("%s is listed as ported:\n%s", name, bodies[i])
		}
	}
	for _, p := range r.Problems {
		if p.Line < starts[0] {
			t.Error(p)
		}
	}
	if t.Failed() {
		t.Log(r.Problems)
	}
}

// TestTop: problems at the top of a file, and functions that depend on them.
func TestTop(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"X = open('x')\ndef f() -> AppDef:\n  return AppDef(X)\n":                              "X could not be ported",
		"class C(Role):\n  pass\ndef f() -> AppDef:\n  return C('x')\n":                        "a class can be derived only from",
		"from os import *\ndef f() -> AppDef:\n  return AppDef('x')\n":                         "import them one by one",
		"@deco\ndef f() -> AppDef:\n  return AppDef('x')\n":                                    "decorators",
		"def f(a: tuple[int, int]) -> AppDef:\n  return AppDef('x')\n":                         "a command line cannot give a value of this type",
		"def g():\n  return h()\ndef h():\n  return g()\n":                                     "calls itself",
		"class M(str, enum.Enum):\n  A = 'a'\ndef f() -> AppDef:\n  return AppDef(str(M.A))\n": "differs between Python versions",
		"def specs_(specs: int) -> AppDef:\n  return specs.AppDef('x')\n":                      "the method .AppDef has no counterpart",
	} {
		r := portText(t, head+text)
		found := false
		for _, p := range r.Problems {
			found = found || strings.Contains(p.Msg, want)
		}
		if !found {
			t.Errorf("%s\nproblems %v, want %q", text, r.Problems, want)
		}
	}
}

func TestNoPort(t *testing.T) {
	t.Parallel()
	needPython(t)
	for text, want := range map[string]string{
		"print('hi')\n":  "f.py: no component found",
		"def f(:\n":      "f.py:1: not a valid Python program",
		"x = 'a\x00b'\n": "f.py: not a valid Python program",
		"":               "f.py: no component found",
		head + "def f(a) -> AppDef:\n  return AppDef('x')\n":  "f.py:4: no component that TorchX accepts: f: argument a: it has no type annotation",
		strings.Repeat("(", 5000) + strings.Repeat(")", 5000): "not a valid Python program",
		strings.Repeat("#", MaxSource+1):                      "is too large for a component file",
	} {
		_, err := Port(t.Context(), "python3", "f.py", []byte(text), Folders{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
	var p Problem
	if _, err := Port(t.Context(), "python3", "f.py", []byte("x = = 1\n"), Folders{}); !errors.As(err, &p) || p.Line != 1 {
		t.Errorf("error %v has no place", err)
	}
}

// TestPythons: python3 may be missing, too old, or another program.
func TestPythons(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := func(name, body string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for python, want := range map[string]string{
		filepath.Join(dir, "none"):                                                      "not found: it is needed to read f.py (install Python 3.8",
		script("old", `echo '{"old": "3.6"}'`):                                          "is Python 3.6, which is too old to read f.py: install Python 3.8 or later",
		script("broken", "echo Traceback >&2; echo why >&2; exit 3"):                    "could not read f.py: exit status 3: why",
		script("chatty", "echo hello"):                                                  "printed no syntax tree of f.py",
		script("classless", `echo '{"tree": {"body": []}}'`):                            "printed no syntax tree of f.py",
		script("mistyped", `echo '{"tree": {"kind": "Name", "id": {"kind": "Name"}}}'`): "printed no syntax tree of f.py: json: ",
	} {
		_, err := Port(t.Context(), python, "f.py", []byte("x = 1\n"), Folders{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestAnnotationWithoutValue: an annotation of an item or a field assigns nothing.
func TestAnnotationWithoutValue(t *testing.T) {
	t.Parallel()
	r := portText(t, head+"def f() -> AppDef:\n  'Doc.'\n  d = {}\n  d['a']: int\n  x: str\n  return AppDef('x')\n")
	if len(r.Problems) > 0 || !slices.Contains(r.Components, "f") || strings.Contains(r.Text, "int") {
		t.Errorf("problems %v, want none; components %v, want f\n%s", r.Problems, r.Components, r.Text)
	}
}

// TestMuch: the time of a port grows with the size of the file, not with the nesting of expressions.
func TestMuch(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		strings.Repeat("list(", 60) + "[1]" + strings.Repeat(")", 60),
		strings.Repeat("[", 30) + "x" + strings.Repeat(" for a in x]", 30),
		strings.Repeat("max(", 60) + "1" + strings.Repeat(", 2)", 60),
		"x" + strings.Repeat(".a", 60) + ".b()",
	} {
		portText(t, head+"def f(x: str = '') -> AppDef:\n  'Doc.'\n  y = "+expr+"\n  return AppDef(str(y))\n")
	}
}

// TestNothingRuns: the program is read and never executed.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	portText(t, head+"open("+quote(mark, false)+", 'w').write('x')\ndef f(a: int = open("+quote(mark, false)+", 'w')) -> AppDef:\n  return AppDef('x')\n")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the program was executed")
	}
}
