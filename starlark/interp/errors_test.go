package interp

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorLine(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"x = (1":                            "@torchx//x.star:1:5: '(' is never closed: got end of file, want ')'",
		"x = 'a\n":                          "@torchx//x.star:1:5: unexpected newline in string",
		"x = nope\ny = nada\n":              "@torchx//x.star:1:5: undefined: nope (and 1 more)",
		"x = 1\nx = 2":                      "@torchx//x.star:2:1: cannot reassign global x declared at @torchx//x.star:1:1",
		"while True: pass":                  "@torchx//x.star:1:1: this Starlark dialect does not support while loops",
		"def f(): f()\nf()":                 "@torchx//x.star:1:10: function f called recursively",
		"fail('a\\nb\\x1b[1m')":             "@torchx//x.star:1:5: fail: a b\ufffd[1m",
		"def f():\n  fail('x')\nf()":        "@torchx//x.star:2:7: fail: x",
		"x = abs('a')":                      "@torchx//x.star:1:8: abs: got string, want int or float",
		"x = '%dx' % 'a'":                   "@torchx//x.star:1:11: %d format requires integer: cannot convert string to int",
		"load('./x.star')":                  "@torchx//x.star:1:5: load statement must import at least 1 symbol",
		"x = 1 +":                           "@torchx//x.star:1:8: got end of file, want primary expression",
		"\tx = 1":                           "@torchx//x.star:1:2: got indent, want primary expression",
		"x = `ls`":                          "@torchx//x.star:1:5: unexpected input character '`'",
		"x = " + strings.Repeat("(", 1e5):   "@torchx//x.star:1:",
		"x = 1" + strings.Repeat("+a", 1e5): "@torchx//x.star:1:",
		"x = 0x" + strings.Repeat("f", 3e5): "@torchx//x.star:1:5: the number has 1200000 bits, over the limit of 1048576",
		"if 1: pass\n" + strings.Repeat("elif 1: pass\n", 5e4): "@torchx//x.star:4000:1: nested deeper than 4000 levels; split it",
	} {
		t.Run(source[:min(len(source), 20)], func(t *testing.T) {
			t.Parallel()
			_, err := eval(t, source)
			wantError(t, err, want)
		})
	}
}

func TestDetail(t *testing.T) {
	t.Parallel()
	_, err := eval(t, "def outer(v):\n\tif v:\n\t\treturn inner(v * 2)\n\ndef inner(v):\n    return  v + 'ä' + 1\n\nx = outer('q')\n")
	want := `  @torchx//x.star:6:21: in inner
    return  v + 'ä' + 1
                    ^
  @torchx//x.star:3:15: in outer
    return inner(v * 2)
                ^
  @torchx//x.star:8:10: at the top level
    x = outer('q')
             ^
`
	if got := detail(err); got != want {
		t.Errorf("detail\n%s\nwant\n%s", got, want)
	}
}

func TestDetailOfSourceProblems(t *testing.T) {
	t.Parallel()
	_, err := eval(t, "x = nope\r\ny = [nada]\rz = 1")
	want := `  @torchx//x.star:1:5
    x = nope
        ^
  @torchx//x.star:2:6: undefined: nada
    y = [nada]
         ^
`
	if got := detail(err); got != want {
		t.Errorf("detail\n%s\nwant\n%s", got, want)
	}
	_, err = eval(t, strings.Repeat(" ", 0)+"x = '"+strings.Repeat("a", 500)+"' + nope + '"+strings.Repeat("b", 500)+"'")
	lines := strings.Split(detail(err), "\n")
	if len(lines[1]) > maxExcerpt+4 || lines[1][len(lines[2])-1:][:4] != "nope" {
		t.Errorf("excerpt of a long line:\n%s", detail(err))
	}
}

func TestDetailThroughLoad(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"a.star": "load('./b.star', 'x')", "b.star": "\nload('./c.star', 'x')", "c.star": "x = 1 + ''",
		"d.star": "load('./e.star', 'x')", "e.star": "x = )",
	})
	_, err := load(t, Config{Dir: dir}, "a.star")
	wantError(t, err, "c.star:1:7: unknown binary op: int + string")
	for _, part := range []string{"c.star:1:7: at the top level\n    x = 1 + ''\n          ^\n", "b.star:2:1: ", "a.star:1:1: "} {
		if !strings.Contains(detail(err), part) {
			t.Errorf("detail lacks %q:\n%s", part, detail(err))
		}
	}
	_, err = load(t, Config{Dir: dir}, "d.star")
	wantError(t, err, "e.star:1:5: ")
	if want := "  e.star:1:5\n    x = )\n        ^\n  d.star:1:1: at the top level\n"; !strings.HasPrefix(detail(err), want) {
		t.Errorf("detail\n%s\nwant first\n%s", detail(err), want)
	}
}

// TestLoadFailsInOneLine checks that the error says what could not be loaded and the chain of loads.
func TestLoadFailsInOneLine(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"a.star": "load('./b.star', 'x')", "b.star": "\nload('./none.star', 'x')", "c.star": "load('./d.star', 'y')", "d.star": "x = 1",
		"e.star": "load('./f.star', 'x')", "f.star": "load('./e.star', 'x')", "g.star": "def g():\n    fail('load failed')\ng()",
	})
	for file, want := range map[string]string{
		"b.star": "b.star:2:1: cannot load ./none.star: no such file (" + filepath.Join(dir, "none.star") + "); check the name",
		"a.star": "b.star:2:1: cannot load ./none.star: no such file (" + filepath.Join(dir, "none.star") + "); check the name (loaded by a.star:1:1)",
		"c.star": "c.star:1:1: load: name y not found in module ./d.star",
		"e.star": "f.star:1:1: cannot load ./e.star: load cycle: //e.star -> //f.star -> //e.star; move the shared code to a separate file (loaded by e.star:1:1)",
	} {
		_, err := load(t, Config{Dir: dir}, file)
		if err == nil || err.Error() != want || detail(err) != "" {
			t.Errorf("%s: error\n%v\n%s\nwant this line only\n%s", file, err, detail(err), want)
		}
	}
	if _, err := load(t, Config{Dir: dir}, "g.star"); !strings.Contains(detail(err), "in g\n") {
		t.Errorf("no backtrace: %v\n%s", err, detail(err))
	}
}

// TestPythonIsExplained checks hints for Python syntax, which authors who port components by hand type.
func TestPythonIsExplained(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"import os":                        "got import, want primary expression (Starlark has no imports",
		"class A:\n    pass":               "(Starlark has no classes",
		"def f():\n    raise ValueError()": "(write fail(…))",
		"def f(x):\n    return x is None":  "(write == None)",
		"def f(a: int):\n    pass":         "got ':', want ')' (Starlark has no annotations",
		"def f(a) -> int:\n    pass":       "(Starlark has no annotations",
		"x = f\"{y}\"":                     "(Starlark has no f-strings",
		"while True:\n    pass":            "while",
	} {
		_, err := eval(t, source)
		wantError(t, err, want)
	}
	for _, source := range []string{"def f(:", "x = )", "def f()\n    pass", "{1: 2, 3}"} {
		if _, err := eval(t, source); err == nil || strings.Contains(err.Error(), "Starlark has") {
			t.Errorf("%q: got error %v, want one without a Starlark hint", source, err)
		}
	}
}

func TestDetailOfLongMessage(t *testing.T) {
	t.Parallel()
	_, err := eval(t, "fail('two\\nlines')")
	if got := detail(err); !strings.HasPrefix(got, "  fail: two \n  lines\n") && !strings.HasPrefix(got, "  fail: two\n  lines\n") {
		t.Errorf("got detail %q, want both lines of the message", got)
	}
	_, err = eval(t, "fail('x' * (1 << 24))")
	if n := len(err.Error()); n > 5000 {
		t.Errorf("the line has %d bytes", n)
	}
}

// TestDetailOfManyCalls checks that only the frames shown get an excerpt, since finding a line walks
// through the file.
func TestDetailOfManyCalls(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("def f0(): fail('x')\n")
	for n := range 1000 {
		fmt.Fprintf(&b, "def f%d(): f%d()\n", n+1, n)
	}
	_, err := eval(t, b.String()+"f1000()")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	excerpts := 0
	for _, f := range e.frames {
		if f.excerpt.line != "" {
			excerpts++
		}
	}
	if excerpts != maxFrames {
		t.Errorf("got %d excerpts, want %d", excerpts, maxFrames)
	}
	if text := e.Detail(); !strings.HasSuffix(text, "^\n  … 982 more calls\n") {
		t.Errorf("got detail\n%s\nwant the number of omitted calls", text)
	}
}

func TestDetailBoundsLines(t *testing.T) {
	t.Parallel()
	_, err := eval(t, "fail('line\\n' * 1000000)")
	if text := detail(err); strings.Count(text, "line\n") != maxLines || !strings.Contains(text, "\n  … 999900 more lines\n") {
		t.Errorf("got %d bytes, want %d lines and the number of omitted lines", len(text), maxLines)
	}
}
