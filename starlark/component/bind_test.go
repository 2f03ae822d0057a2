package component

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/spec"
)

// echo is an evaluator that returns what it was called with, as text.
type echo struct {
	fn     starlark.Callable
	called string
}

func (e *echo) call(_ context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (*spec.App, error) {
	v, err := starlark.Call(&starlark.Thread{Name: "test"}, e.fn, args, kwargs)
	if err == nil {
		e.called = v.String()
	}
	return &spec.App{}, err
}
func (e *echo) modules() []Module         { return nil }
func (e *echo) getenv() map[string]string { return nil }

// define returns a component of the function f in text.
func define(t *testing.T, text string) (*Component, *echo, error) {
	t.Helper()
	file, err := (&syntax.FileOptions{}).Parse("c.star", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, &starlark.Thread{Name: "test"}, "c.star", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	fn := globals["f"].(*starlark.Function)
	src := newSource(fn, func() *fileText { return newFileText(file, []byte(text)) }, nil)
	params, err := src.params()
	run := &echo{fn: fn}
	return &Component{Name: "c.f", Ref: "c.star:f", Doc: src.doc.Text, Params: params, run: run}, run, err
}

const everything = `
def f(i, a = 1, *rest, s = "x", l = None, d = {"k": 1}, b = False, fl = 1.5, o = None):
    """Everything.

    Args:
        i (int): an int
        l (list[int]): a list
        o (Optional[int]): optional
        rest (str): the rest
    """
    return [i, a, rest, s, l, d, b, fl, o]
`

func TestBindPrecedence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   Inputs
		want string
	}{
		{"defaults", Inputs{Args: []string{"--i", "1"}}, `[1, 1, (), "x", None, {"k": 1}, False, 1.5, None]`},
		{
			"all typed",
			Inputs{Args: split("-i=2|-a|3|-s|y|-l|1,2|-d|z=9|-b|--fl|2|-o|4|--|p|-q")},
			`[2, 3, ("p", "-q"), "y", [1, 2], {"z": 9}, True, 2.0, 4]`,
		},
		{
			"json over config",
			Inputs{JSON: map[string]any{"i": 5.0, "s": "json"}, Config: map[string]string{"i": "6", "s": "config", "fl": "7"}},
			`[5, 1, (), "json", None, {"k": 1}, False, 7.0, None]`,
		},
		{
			"typed over json",
			Inputs{Args: []string{"--i", "1"}, JSON: map[string]any{"i": 5.0}},
			`[1, 1, (), "x", None, {"k": 1}, False, 1.5, None]`,
		},
		{
			"none",
			Inputs{Args: []string{"--i=1", "--l="}, JSON: map[string]any{"d": nil}, Config: map[string]string{"o": "None"}},
			`[1, 1, (), "x", None, None, False, 1.5, None]`,
		},
		{"rest from json", Inputs{JSON: map[string]any{"i": "1", "rest": []any{"a,b", "-c"}}}, `[1, 1, ("a,b", "-c"), "x", None, {"k": 1}, False, 1.5, None]`},
		{"words from json", Inputs{JSON: map[string]any{"i": "1", "rest": "a,b '-c d'"}}, `[1, 1, ("a,b", "-c d"), "x", None, {"k": 1}, False, 1.5, None]`},
		{
			"words from config",
			Inputs{Args: []string{"--i=1"}, Config: map[string]string{"rest": "echo a,b  --x=1\n-- 'c d' e\\ f"}},
			`[1, 1, ("echo", "a,b", "--x=1", "--", "c d", "e f"), "x", None, {"k": 1}, False, 1.5, None]`,
		},
		{"words after --", Inputs{Args: []string{"--i=1"}, Config: map[string]string{"rest": "-- a"}}, `[1, 1, ("a",), "x", None, {"k": 1}, False, 1.5, None]`},
		{"no words", Inputs{Args: []string{"--i=1"}, Config: map[string]string{"rest": " "}}, `[1, 1, (), "x", None, {"k": 1}, False, 1.5, None]`},
		{"json over words", Inputs{JSON: map[string]any{"i": "1", "rest": []any{}}, Config: map[string]string{"rest": "a"}}, `[1, 1, (), "x", None, {"k": 1}, False, 1.5, None]`},
		{"typed over words", Inputs{Args: []string{"--i=1", "b"}, Config: map[string]string{"rest": "a"}}, `[1, 1, ("b",), "x", None, {"k": 1}, False, 1.5, None]`},
	}
	for _, test := range tests {
		c, run, err := define(t, everything)
		if err != nil {
			t.Fatal(err)
		}
		result, err := c.Build(t.Context(), test.in)
		if err != nil || run.called != test.want || len(result.Warnings) != 0 {
			t.Errorf("%s: called with %s, %v, %v, want %s", test.name, run.called, result, err, test.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		in    Inputs
		usage bool
		want  string
	}{
		{"missing", Inputs{}, true, "torchx run c.star:f: missing required argument -i (see `torchx run c.star:f --help`)"},
		{"bad int", Inputs{Args: []string{"--i", "x"}}, true, `-i: "x" is not an int`},
		{"bad long", Inputs{Args: []string{"--i=1", "--fl=x"}}, true, `--fl: "x" is not a float`},
		{"line break", Inputs{Args: []string{"--i", "1\n2"}}, true, `-i: "1\n2" is not an int`},
		{"line break in a name", Inputs{Args: []string{"--i\nx"}}, true, `unknown option "--i\nx"`},
		{"unknown json", Inputs{Args: []string{"--i=1"}, JSON: map[string]any{"ii": 1}}, true, `unknown argument "ii" in JSON`},
		{"bad json", Inputs{JSON: map[string]any{"i": true}}, true, "-i: true is not an int"},
		{"json null", Inputs{JSON: map[string]any{"i": nil}}, true, "-i: cannot be None (type int)"},
		{"twice in json", Inputs{JSON: map[string]any{"a-b": 1, "a_b": 1}}, true, "repeated argument a_b"},
		{"bad config", Inputs{Config: map[string]string{"i": "x"}}, false, `config section [component:c.f]: i: "x" is not an int`},
		{"bad words in config", Inputs{Args: []string{"--i=1"}, Config: map[string]string{"rest": "a 'b"}}, false, "config section [component:c.f]: rest: no closing quotation mark"},
		{"none in config", Inputs{Config: map[string]string{"i": "None"}}, false, "cannot be None"},
	}
	for _, test := range tests {
		c, _, err := define(t, everything)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Build(t.Context(), test.in)
		var usage *UsageError
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", test.name, err, test.want)
		}
		if errors.As(err, &usage) != test.usage {
			t.Errorf("%s: error %v, usage error: want %v", test.name, err, test.usage)
		}
	}
}

func TestUnknownConfigWarns(t *testing.T) {
	t.Parallel()
	c, run, err := define(t, everything)
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Build(t.Context(), Inputs{Args: []string{"--i=1"}, Config: map[string]string{"fll": "2"}})
	if err != nil || run.called == "" {
		t.Fatal(err)
	}
	if len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "Did you mean fl?") {
		t.Errorf("got warnings %q, want a hint to fl", result.Warnings)
	}
}

func TestMissingListsAll(t *testing.T) {
	t.Parallel()
	c, _, err := define(t, "def f(x1, *, y): pass\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Build(t.Context(), Inputs{}); err == nil || !strings.Contains(err.Error(), "missing required arguments --x1, -y") {
		t.Errorf("got error %v, want missing --x1, -y", err)
	}
}

// TestEmptyText checks that an empty text is an empty list or dict from every source, and None only if
// the component accepts None.
func TestEmptyText(t *testing.T) {
	t.Parallel()
	const source = `
def f(need, l = [1.5], t = ("a",), d = {"k": 1}, none = None, opt = ["x"], *rest):
    """F.

    Args:
        need (list[int]): numbers
        none (list[int]): numbers
        opt (list[str]?): texts
    """
    return [need, l, t, d, none, opt, rest]
`
	const want = "[[], [], [], {}, None, None, ()]"
	all := map[string]string{"need": "", "l": " ", "t": "", "d": "", "none": "", "opt": "", "rest": ""}
	decoded := map[string]any{}
	for name, text := range all {
		decoded[name] = text
	}
	for name, in := range map[string]Inputs{
		"typed": {Args: []string{"--need=", "-l", " ", "-t=", "-d", "", "--none=", "--opt", ""}}, "JSON": {JSON: decoded}, "config": {Config: all},
	} {
		c, run, err := define(t, source)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Build(t.Context(), in); err != nil || run.called != want {
			t.Errorf("%s: called with %s, %v, want %s", name, run.called, err, want)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	c, _, err := define(t, `
def f(req, n = 2, s = None, l = [1.5], t = (), e = {}, b = True, *words, k = "", z):
    """F.

    Args:
        words (int): numbers
        e (dict[str, float]): floats
        n (float, optional): a number
        z (bool): keyword only
    """
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"req str required", "n float optional =2", "s str optional =none", "l list[float] =1.5", "t list[str] =",
		"e dict[str, float] =", "b bool =true", "k str =", "z bool required", "words int variadic",
	}
	var got []string
	for _, p := range c.Params {
		text := p.Name + " " + p.Type.String()
		if p.Type.Optional {
			text += " optional"
		}
		switch {
		case p.Required:
			text += " required"
		case p.Variadic:
			text += " variadic"
		default:
			text += " =" + p.Default
		}
		got = append(got, text)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestParamsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"def f(**kw): pass\n", "c.star:1: component f: **kwargs cannot be given"},
		{"def f(a,\n      help = 1): pass\n", "c.star:2: component f: a parameter cannot be named help"},
		{"\ndef f(a):\n    \"\"\"F.\n\n    Args:\n      a (strng): x\n    \"\"\"\n", `c.star:6: component f: argument a: unknown type "strng"`},
		{"def f(a = len): pass\n", "c.star:1: component f: argument a: its default is a builtin_function_or_method"},
		{"def f(*a):\n    \"\"\"F.\n\n    Args:\n      a (dict): x\n    \"\"\"\n", "cannot be a dict"},
	}
	for _, test := range tests {
		_, _, err := define(t, test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.text, err, test.want)
		}
	}
}
