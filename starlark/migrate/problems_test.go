package migrate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const head = "import torchx.specs as specs\nfrom torchx.specs import AppDef, Role\nimport os, json, enum, random\n"

// portText ports a function body, as a component f.
func portText(t *testing.T, text string) *Result {
	t.Helper()
	needPython(t)
	r, err := Port(t.Context(), "python3", "f.py", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProblems: what has no counterpart is named with its line, and never guessed.
func TestProblems(t *testing.T) {
	t.Parallel()
	var bodies, wants []string
	for body, want := range map[string]string{
		"while True:\n  break":            "`while` has no counterpart",
		"try:\n  pass\nexcept E:\n  pass": "`try` has no counterpart",
		"with open('x') as f:\n  pass":    "`with` has no counterpart",
		"x = open('x')":                   "open(…) has no counterpart",
		"x = round(1.5, 1)":                  "round(…) with digits has no counterpart",
		"x = n ** 0.5":                      "** has no counterpart",
		"x = y":                           "y is not known here",
		"x = os.listdir()":                "os.listdir has no counterpart",
		"x = random.random()":             "random.random has no counterpart",
		"x = [1].sort()":                  "lists have no sort",
		"x = 'a'.zfill(3)":                "the method .zfill has no counterpart",
		"x = b'a'":                        "a literal of type bytes",
		"x = (y := 1)":                    "`:=` has no counterpart",
		"x = n is s":                      "`is` compares identities",
		"x = '%(a)s' % {'a': 1}":          "% with a dict",
		"x = '%s' % q()":                  "q is not known here",
		"x = specs.Rol(name='x')":         "Did you mean specs.Role?",
		"x = specs.Role(name='x', image='i', nam='y')": "specs.Role takes no nam here",
		"*first, rest = [1, 2]":                        "starred target",
		"def g():\n  yield 1":                          "`yield` has no counterpart",
		"global X":                                     "`global` has no counterpart",
		"import subprocess\nsubprocess.run('x')":       "subprocess.run has no counterpart",
		"from .own import helper\nhelper()":            "port that file too",
		"x = f()":                                      "calls itself",
		"for i in []:\n  pass\nelse:\n  pass":          "`else` of a for",
		"os.environ['X'] = '1'":                        "cannot set variables of its own environment",
		"x = __file__":                                 "__file__",
		"e = {}\nr = Role(name='r', image='i', env=e)\ne['X'] = '1'":                                            "e is changed although line",
		"e = {}\nrs = []\nfor i in range(2):\n  e['I'] = str(i)\n  rs.append(Role(name='r', image='i', env=e))": "e is changed although line",
		"r = Role(name='r', image='i')\nrs = [r]\nr.num_replicas = 2":                                           "r is changed although line",
		"e = {}\nr = Role(name='r', image='i', env=e)\nr.env['X'] = '1'\nq = Role(name='q', image='i', env=e)":  "r.env is changed, which is also e",
		"for r in [Role(name='r', image='i')]:\n  r.image = 'j'":                                                "r is changed, and comes from a loop",
		"r = Role(name='r', image='i')\nr.args.sort()":                                                          ".sort(…) of a part of a specs value",
		"D['x'] = '1'":                           "values that a file defines never change",
		"e = {}\nr = mk(e)\ne['X'] = '1'":        "e is changed although line",
		"x = f'{Mode.A}'":                        "the text of an Enum's member",
		"x = 'a{0.b}'.format(n)":                 "this format() cannot be ported",
		"x = Mode.B":                             "Mode has no member B",
		"x = [i async for i in y()]":             "",
		"x = lambda a=1: a":                      "a lambda with more than plain parameters",
		"x = sum(1 for _ in range(3)) @ 2":       "MatMult has no counterpart",
		"x = '\\ud800'":                          "surrogate",
		"x = [1, 2]\nx[0:1] = []":                "a slice cannot be assigned to",
		"x = s.splitlines()":                     "lines end at more characters in Python",
		"x = s.split(',', maxsplit=1)":           ".split takes no maxsplit= in Starlark",
		"x = sorted([s], key=str.lower)":         "str.lower is used as a value",
		"x = [i for i in {1, 2}]":                "the order of a set is Python's own",
		"x = list({1, 2} - {1})":                 "the order of a set is Python's own",
		"x = ','.join(set([s]))":                 "the order of a set is Python's own",
		"x = f'{specs.RetryPolicy.ROLE}'":        "the text of an Enum's member",
		"P = specs.RetryPolicy\nx = str(P.ROLE)": "the text of an Enum's member",
		"x = D\nx['y'] = '1'":                    "x is changed, which is D",
		"x = said(1.5)":                          "v of said is annotated as str and gets a float",
		"def g() -> str:\n  return 1.5\nx = g()": "g is annotated to return str and returns a float",
	} {
		bodies, wants = append(bodies, body), append(wants, want)
	}
	// One file with a function for each, for a start of Python takes long.
	text := head + "D = {}\nclass Mode(enum.Enum):\n  A = 'a'\ndef said(v: str) -> str:\n  return f'{v}'\ndef mk(e):\n  return Role(name='m', image='i', env=e)\n"
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
		if name := fmt.Sprintf("f%d", i); contains(r.Components, name) || !strings.Contains(r.Text, "def "+name+"(n = None") {
			t.Errorf("%s is there as if it had been ported", name)
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
		"X = open('x')\ndef f() -> AppDef:\n  return AppDef(X)\n":                              "X is used, which could not be ported",
		"X = 1\nX = 2\ndef f() -> AppDef:\n  return AppDef('x')\n":                             "X gets several values",
		"class C(Role):\n  pass\ndef f() -> AppDef:\n  return C('x')\n":                        "a class derived from another",
		"from os import *\ndef f() -> AppDef:\n  return AppDef('x')\n":                         "import them one by one",
		"if 1:\n  X = 1\ndef f() -> AppDef:\n  return AppDef(X)\n":                             "at the top of a file there is no `if`",
		"@deco\ndef f() -> AppDef:\n  return AppDef('x')\n":                                    "decorators",
		"def f(a: tuple[int, int]) -> AppDef:\n  return AppDef('x')\n":                         "a command line cannot give a value of its type",
		"def g():\n  return h()\ndef h():\n  return g()\n":                                     "calls itself",
		"class M(str, enum.Enum):\n  A = 'a'\ndef f() -> AppDef:\n  return AppDef(str(M.A))\n": "differs between versions of Python",
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
		"print('hi')\n":  "f.py: it has no component",
		"def f(:\n":      "f.py:1: this is no Python program",
		"x = 'a\x00b'\n": "f.py: this is no Python program",
		"":               "f.py: it has no component",
		head + "def f(a) -> AppDef:\n  return AppDef('x')\n":  "f.py:4: it has no component that TorchX takes: f: argument a: it has no type annotation",
		strings.Repeat("(", 5000) + strings.Repeat(")", 5000): "this is no Python program",
		strings.Repeat("#", MaxSource+1):                      "this is no component file",
	} {
		_, err := Port(t.Context(), "python3", "f.py", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
	var p Problem
	if _, err := Port(t.Context(), "python3", "f.py", []byte("x = = 1\n")); !errors.As(err, &p) || p.Line != 1 {
		t.Errorf("error %v has no place", err)
	}
}

// TestPythons: python3 may be missing, too old, or something else.
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
		filepath.Join(dir, "none"):                                                      "is needed to read f.py and was not found: install Python 3.8",
		script("old", `echo '{"old": "3.6"}'`):                                          "is Python 3.6, which is too old to read f.py: 3.8 or later is needed",
		script("broken", "echo Traceback >&2; echo why >&2; exit 3"):                    "could not read f.py: exit status 3: why",
		script("chatty", "echo hello"):                                                  "printed no syntax tree of f.py",
		script("classless", `echo '{"tree": {"body": []}}'`):                            "printed no syntax tree of f.py",
		script("mistyped", `echo '{"tree": {"kind": "Name", "id": {"kind": "Name"}}}'`): "printed no syntax tree of f.py: json: ",
	} {
		_, err := Port(t.Context(), python, "f.py", []byte("x = 1\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestAnnotationWithoutValue: an annotation of an item or a field assigns nothing.
func TestAnnotationWithoutValue(t *testing.T) {
	t.Parallel()
	r := portText(t, head+"def f() -> AppDef:\n  'Doc.'\n  d = {}\n  d['a']: int\n  x: str\n  return AppDef('x')\n")
	if len(r.Problems) > 0 || !contains(r.Components, "f") || strings.Contains(r.Text, "int") {
		t.Errorf("problems %v, want none; components %v, want f\n%s", r.Problems, r.Components, r.Text)
	}
}

// TestNothingRuns: the program is read, never executed.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	portText(t, head+"open("+quote(mark, false)+", 'w').write('x')\ndef f(a: int = open("+quote(mark, false)+", 'w')) -> AppDef:\n  return AppDef('x')\n")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the program was executed")
	}
}
