package explain_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"torchx/components"
	"torchx/starlark/explain"
	"torchx/starlark/interp"
)

// explained maps texts to their explained errors; "…" matches anything.
var explained = map[string]string{
	// Line ends and indentation.
	"def c()\n    pass\n":                       "1:8 a ':' is missing at the end of the line",
	"def c()  # why\n    pass\n":                "1:8 a ':' is missing at the end of the line",
	"def c(\n    a,\n    b)\n    pass\n":        "3:7 a ':' is missing at the end of the line",
	"if x\r\n    pass\r\n":                      "1:5 a ':' is missing at the end of the line",
	"if x:\n    pass\nelif y\n    pass\n":       "3:7 a ':' is missing",
	"if x:\n    pass\nelse\n    pass\n":         "3:5 a ':' is missing",
	"for x in y\n    pass\n":                    "1:11 a ':' is missing",
	"if x pass\n":                               "1:5 got pass, want ':'",
	"def c():\n\ndef d():\n    pass\n":          "3:1 got def, want indent (the body of line 1 is missing",
	"x = 1\n  y = 2\n":                          "2:3 got indent, want primary expression (the line is indented deeper",
	"def c():\n    x = 1\n\ty = 2\n":            "tabs and spaces are mixed",
	"def c():\n\tif x:\n        y = 1\n":        "tabs and spaces are mixed",
	"def c():\n    if x:\n        y\n      z\n": "4:7 unindent does not match any outer indentation level (indent",
	"x = 1 +\ny = 2\n":                          "1:8 got newline, want primary expression (an expression continues",
	"x++\n":                                     "1:2 got newline, want primary expression (write x += 1)",
	"x = lambda a:\n":                           "a lambda is one expression",

	// Brackets.
	"def c():\n    x = [1,\n\n\n":                                     "2:9 '[' is never closed: got end of file, want ']'",
	"def c():\n    x = [1,\n        2\n    return x\n":                "2:9 '[' is never closed: got return, want ']' in line 4",
	"def c():\n    x = [1,\n    y = 2\n":                              "2:9 '[' is never closed: got '=', want ']' in line 3",
	"X = {\"a\": 1,\n\ndef c():\n    pass\n":                          "1:5 '{' is never closed: got def",
	"def c():\n    return f(\n        a = 1,\n\ndef d():\n    pass\n": "2:13 '(' is never closed: got def",
	"x = f(a = 1\ny = 2\n":                                            "1:6 '(' is never closed: got identifier, want ',' in line 2",
	"if (x == 1:\n    pass\n":                                         "1:4 '(' is never closed: got ':', want ')'",
	"def c(a, b:\n    pass\n":                                         "1:6 '(' is never closed",
	"x = [(1]\n":                                                      "1:8 got ']', want ')': the '(' in line 1, column 6 is not closed",
	"x = f(\n    [1, 2,\n)\n":                                         "3:1 got ')', want ']': the '[' in line 2, column 5 is not closed",
	"x = [1]]\n":                                                      "1:8 unexpected ']' (no bracket is open here)",
	"x = [\n    1\n    2\n]\n":                                        "2:6 got int literal, want ']' (is a comma missing here?)",
	"x = f(\n    a = 1\n    b = 2,\n)\n":                              "2:10 got identifier, want ',' (is a comma missing here?)",
	"x = [\"a\"\n     \"b\"]\n":                                       "2:6 got string literal, want ']' (strings are joined with +",
	"x = (1":                                                          "1:5 '(' is never closed: got end of file, want ')'",

	// Strings and characters.
	"x = f(\"a\", f\"é {x}\")\n":                  "1:12 got string literal, want … (Starlark has no f-strings",
	"x = {\"k\": f'''a\nb'''}\n":                  "1:11 got string literal, want … (Starlark has no f-strings",
	"x = \"é\" + F\"{x[\"a\"]}\"\n":               "1:11 got string literal, want … (Starlark has no f-strings",
	"x = rf'a'\n":                                 "1:5 got string literal, want … (Starlark has no f-strings",
	"x = u'a'\n":                                  "1:5 got string literal, want … (strings have no prefix u",
	"x = R'a'\n":                                  "1:5 got string literal, want … (the prefix of a string is a lower-case r or b: write r",
	"x = 'it's'\n":                                "1:9 got identifier, want newline (the string before it ends here",
	"def c():\n    x = \"abc\n    pass\n":         "2:9 unexpected newline in string (the string is not closed on its line",
	"def c():\n    \"\"\"C.\n    pass\n":          "2:5 unexpected EOF in string (the string that begins here is never closed)",
	"x = \"\"\"a\n\ndef c():\n    \"\"\"C.\"\"\"": "1:5 got identifier, want newline (the string that begins in line 1 ends right before \"C\"",
	"x = “a”\n":                                   "1:5 unexpected input character '“' (a typographic quote: write \")",
	"x =\u00a01\n":                                "1:4 unexpected input character '\\u00a0' (a special space",
	"x = 1\u200b\n":                               "an invisible character, U+200B",
	"x = （1)\n":                                   "a full-width character: write (",
	"\uFEFFx = = 1\n":                             "1:5 got '='",
	"x = \"\\d\"\n":                               "1:5 invalid escape sequence \\d (write \\\\",
	"x = 1_000\n":                                 "1:5 got identifier, want newline (numbers cannot contain _",
	"x = 10s\n":                                   "1:5 got identifier, want newline (a number cannot be followed by letters",

	// Words and operators.
	"x = 2 ** 3\n":                        "1:7 got '**', want newline (Starlark has no power operator: write math.pow(x, y))",
	"x **= 3\n":                           "1:3 got '**', want newline (Starlark has no power operator",
	"x = {**a}\n":                         "1:6 got '**', want primary expression (** unpacks in calls only",
	"x = [*a, 1]\n":                       "1:6 got '*', want primary expression (* unpacks in calls only",
	"import os\n":                         "1:1 got import, want primary expression (Starlark has no imports",
	"async def c():\n    pass\n":          "1:1 got async",
	"def c():\n    assert x\n":            "2:5 got identifier, want newline (write if not …: fail(…))",
	"print x\n":                           "1:1 got identifier, want newline (print is a function",
	"print \"x\"\n":                       "1:1 got string literal, want newline (print is a function",
	"if x:\n    pass\nelse if y:\n":       "3:1 got if, want ':' (write elif)",
	"if x:\n    pass\nelsif y:\n":         "3:1 got identifier, want newline (write elif)",
	"if x = 1:\n    pass\n":               "1:6 got '=', want ':' (write == to compare)",
	"if x = 1\n    pass\n":                "1:6 got '=', want ':' (write == to compare)",
	"x = 1 if y = 2 else 3\n":             "(write == to compare)",
	"x = 1 if y\n":                        "1:7 conditional expression without else clause (write A if CONDITION else B)",
	"x = y is None\n":                     "1:7 got is, want newline (write == None)",
	"x = y is not None\n":                 "1:7 got is, want newline (write !=)",
	"x = y <> 1\n":                        "1:7 got '>', want primary expression (write !=)",
	"x = a && b\n":                        "1:7 got '&', want primary expression (write and)",
	"x = a || b\n":                        "1:7 got '|', want primary expression (write or)",
	"x = !a\n":                            "(write not)",
	"x = 1 < y < 3\n":                     "1:11 < does not associate with < (write a < b and b < c)",
	"def c:\n    pass\n":                  "1:6 got ':', want '(' (write def NAME(PARAMETERS):)",
	"def (a):\n    pass\n":                "1:5 not an identifier (the function has no name",
	"def c(a: int = 3):\n    pass\n":      "1:8 got ':', want ')' (Starlark has no annotations",
	"def c(\n    a: int,\n):\n    pass\n": "2:6 got ':', want ')' (Starlark has no annotations",
	"def c() -> int:\n    pass\n":         "1:9 got '-', want ':' (Starlark has no annotations",
	"x: int = 3\n":                        "1:2 got ':', want newline (Starlark has no annotations",
	"if (n := 1):\n    pass\n":            "1:7 got ':', want ')' (Starlark has no :=",
	"@task\ndef c():\n    pass\n":         "1:1 unexpected input character '@' (Starlark has no decorators",
	"x = {1, 2}\n":                        "1:7 got ',', want ':' ({…} is a dict: write set([…]))",
	"x = {\"a\" = 1}\n":                   "1:10 got '=', want ':' (write : between key and value)",
	"x = f(a: 1)\n":                       "1:8 got ':', want ',' (write = between",
	"x = f(y for y in z)\n":               "1:9 got for, want ',' (Starlark has no generators",
	"x = lambda y: return y\n":            "1:15 got return, want primary expression (return begins a statement",
	"a = b = 1\n":                         "1:7 got '=', want newline (assign one name per statement)",
	"def c() {\n":                         "1:9 got '{', want ':' (write : and indent the body)",
	"// why\n":                            "1:1 got '//', want primary expression (a comment begins with #)",
}

// TestSyntax checks that errors are at the mistake and say what to write.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for text, want := range explained {
		_, err := interp.Parse("x", []byte(text))
		var at *interp.Error
		if !errors.As(err, &at) {
			t.Errorf("%q: got %v, want a syntax error", text, err)
			continue
		}
		before, after, _ := strings.Cut(want, " … ")
		if got := fmt.Sprintf("%d:%d %s", at.Line, at.Col, at.Msg); !strings.Contains(got, before) || !strings.Contains(got, after) {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestCutFiles checks that wherever a file is cut or loses a character, the error is within its text
// and the advice fits the parser's error.
func TestCutFiles(t *testing.T) {
	t.Parallel()
	source, err := components.FS.ReadFile("dist.star")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(source); i += 97 {
		for _, text := range []string{string(source[:i]), string(source[:i]) + string(source[i+1:]), string(source[i:])} {
			_, err := interp.Parse("x", []byte(text))
			if at, ok := errors.AsType[*interp.Error](err); ok && (at.Line < 1 || at.Line > strings.Count(text, "\n")+1 || at.Col < 1 || strings.Contains(at.Msg, "\n")) {
				t.Errorf("cut at %d: got %d:%d %s, want a position in the text and one line", i, at.Line, at.Col, at.Msg)
			}
		}
	}
}

// FuzzSyntax checks that every parser error is explained within the text, in one line.
func FuzzSyntax(f *testing.F) {
	for text := range explained {
		f.Add(text)
	}
	f.Add("def ")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := interp.Parse("x", []byte(text))
		if at, ok := errors.AsType[*interp.Error](err); ok && at.Line > 0 && (at.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+1 || at.Col < 1) {
			t.Errorf("%q: got %d:%d %s, want a position in the text", text, at.Line, at.Col, at.Msg)
		}
	})
}

func TestName(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		"undefined: null": "undefined: null (write None)", "undefined: isinstance (did you mean x?)": `undefined: isinstance (write type(x) == "string")`,
		"undefined: stps (did you mean steps?)":              "undefined: stps (did you mean steps?)",
		"this Starlark dialect does not support while loops": "this Starlark dialect does not support while loops (write for … in range(…) and break)",
	} {
		if got := explain.Name(msg); got != want {
			t.Errorf("%s: got %q, want %q", msg, got, want)
		}
	}
}
