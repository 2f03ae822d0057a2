package interp

import (
	"strings"

	"go.starlark.net/syntax"
)

// pythonWords are keywords of Python that Starlark reserves and does not have, with
// what is written instead. People who port components meet them first.
var pythonWords = map[string]string{
	"import": "there are no imports here: specs and torchx are there, load() brings in other files",
	"from":   "there are no imports here: specs and torchx are there, load() brings in other files",
	"class":  "Starlark has no classes: write functions, or struct(…)",
	"try":    "Starlark cannot catch errors: test before",
	"except": "Starlark cannot catch errors: test before",
	"raise":  "write fail(…)",
	"assert": "write if not …: fail(…)",
	"is":     "write == None",
	"with":   "a component opens nothing",
	"while":  "Starlark has no while: write for … in range(…) and break",
	"yield":  "Starlark has no generators: build a list",
	"del":    "write x.pop(key)",
	"global": "a file's values never change once it is loaded",
}

// pythonHint says what Starlark has in the place of what a syntax error is about, if
// that is Python; "" if not. line is the one that the parser points at.
func pythonHint(pos syntax.Position, msg, line string) string {
	got, _, _ := strings.Cut(strings.TrimPrefix(msg, "got "), ",")
	// The parser points behind what it got.
	before := strings.TrimRight(line[:min(max(int(pos.Col)-1, 0), len(line))], " :")
	head := strings.HasPrefix(strings.TrimSpace(line), "def ")
	switch {
	case pythonWords[got] != "":
		return " (" + pythonWords[got] + ")"
	case head && got == "':'" && strings.Contains(before, "(") && !strings.HasSuffix(before, "("),
		head && got == "'-'", head && got == "'->'":
		return " (Starlark has no annotations: types stand in the docstring, NAME (TYPE): …)"
	case got == "string literal" && (strings.Contains(line, `f"`) || strings.Contains(line, "f'")):
		return " (Starlark has no f-strings: write \"…{}…\".format(…))"
	}
	return ""
}
