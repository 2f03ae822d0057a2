package explain

import (
	"strings"

	"torchx/starlark/token"
)

// keywords maps words of Python that Starlark reserves to their replacement.
var keywords = map[string]string{
	"as":       "Starlark has no import and no with",
	"assert":   "write if not …: fail(…)",
	"async":    "nothing runs in the background: write def",
	"await":    "nothing runs in the background: call the function",
	"class":    "Starlark has no classes: write functions, or struct(…)",
	"del":      "write x.pop(key)",
	"except":   "Starlark cannot catch errors: check beforehand",
	"finally":  "Starlark cannot catch errors: check beforehand",
	"from":     "Starlark has no imports: specs and torchx are predeclared, load() loads other files",
	"global":   "the global values of a file are constant once it is loaded",
	"import":   "Starlark has no imports: specs and torchx are predeclared, load() loads other files",
	"is":       "write == None",
	"nonlocal": "a function can only assign its own variables: return the value",
	"raise":    "write fail(…)",
	"try":      "Starlark cannot catch errors: check beforehand",
	"while":    "Starlark has no while: write for … in range(…) and break",
	"with":     "a component cannot open files",
	"yield":    "Starlark has no generators: build a list",
}

const noTypes = "Starlark has no type declarations: write only the name, x = 1"

// firstWords maps names that begin a line, before another name or string, to the advice.
var firstWords = map[string]string{
	"assert": keywords["assert"], "print": "print is a function: write print(…)", "fail": "fail is a function: write fail(…)",
	"elseif": "write elif", "elsif": "write elif", "function": "write def", "func": "write def", "fn": "write def",
	"match": "Starlark has no match: write if and elif", "switch": "Starlark has no switch: write if and elif", "case": "Starlark has no match: write if and elif",
	"var": noTypes, "let": noTypes, "const": noTypes, "type": noTypes,
	"int": noTypes, "str": noTypes, "string": noTypes, "float": noTypes, "bool": noTypes, "list": noTypes, "dict": noTypes,
	"unless": "write if not", "until": keywords["while"], "exec": "Starlark cannot evaluate strings", "raise": keywords["raise"],
}

// word explains keywords of other languages.
func (r *report) word() bool {
	got := r.textOf(r.at)
	first := r.textOf(r.head)
	switch {
	case got == "if" && r.textOf(r.at-1) == "else":
		r.point(r.at - 1)
		return r.advise("write elif")
	case got == "return" && r.want == "primary expression":
		return r.advise("return begins a statement: a lambda is one expression")
	case got == "as" && first == "load":
		return r.advise(`write load("FILE", name = "original name")`)
	case got == "is" && r.textOf(r.at+1) == "not":
		return r.advise("write !=")
	case r.want == "in":
		return r.advise("write for NAME in VALUES")
	case r.got == got && keywords[got] != "":
		return r.advise(keywords[got])
	case r.at == r.head+1 && r.want == "newline" && firstWords[first] != "":
		r.point(r.head)
		return r.advise(firstWords[first])
	case r.want == "'('" && first == "def":
		return r.advise("write def NAME(PARAMETERS):")
	case r.msg == "not an identifier" && first == "def" && r.at == r.head+1:
		r.point(r.at)
		return r.advise("the function has no name: write def NAME(PARAMETERS):")
	case r.msg == "not an identifier" && got == "/":
		return r.advise("Starlark has no positional-only parameters")
	case strings.HasPrefix(r.msg, "conditional expression without else"):
		if r.hasAssignment(r.lineLast(r.at)) && r.hasLaterAssignment() {
			return r.advise("write == to compare")
		}
		return r.advise("write A if CONDITION else B")
	case strings.Contains(r.msg, "does not associate"):
		r.point(r.at)
		r.msg = strings.TrimSuffix(r.msg, " (use parens)")
		return r.advise("write a < b and b < c")
	}
	return false
}

// lineLast returns the last token on the line of the i-th token.
func (r *report) lineLast(i int) int {
	for i+1 < len(r.tokens) && !r.isKind(i+1, token.Newline) {
		i++
	}
	return i
}

// hasLaterAssignment reports whether a = follows on the line of the error.
func (r *report) hasLaterAssignment() bool {
	for i := r.at; i <= r.lineLast(r.at); i++ {
		if r.textOf(i) == "=" {
			return true
		}
	}
	return false
}

// annotations is the advice about types in code.
const annotations = "Starlark has no annotations: declare types in the docstring, NAME (TYPE): …"

// operator explains operators of other languages, and misplaced ones.
func (r *report) operator() bool {
	got, before, after := r.textOf(r.at), r.textOf(r.at-1), r.textOf(r.at+1)
	inside := ""
	if n := len(r.open); n > 0 {
		inside = r.textOf(r.open[n-1])
	}
	first := r.textOf(r.head)
	named := r.isKind(r.at-1, token.Name)
	switch {
	case got == "**" && r.isOperandEnd(r.before(r.at)):
		return r.advise("Starlark has no power operator: write math.pow(x, y)")
	case got == "**":
		return r.advise("** unpacks in calls only: write dict(a, **b)")
	case got == "*" && r.want == "primary expression":
		return r.advise("* unpacks in calls only: write [a] + list(b), or index the list")
	case got == ":" && after == "=":
		return r.advise("Starlark has no :=: assign in a separate statement")
	case got == ":" && named && first == "def" && len(r.open) == 1 && inside == "(":
		return r.advise(annotations)
	case got == "-" && after == ">", got == ":" && named &&
		r.want == "newline" && first != "lambda":
		return r.advise(annotations)
	case got == ":" && inside == "(":
		return r.advise("write = between the name of an argument and its value")
	case got == "=" && after == ">":
		return r.advise("write lambda x: …")
	case got == "=" && inside == "{":
		return r.advise("write : between key and value")
	case got == "=" && (r.want == "':'" || first == "return"):
		return r.advise("write == to compare")
	case got == "=" && r.want == "newline" && len(r.open) == 0:
		return r.advise("assign one name per statement")
	case got == ">" && before == "<":
		r.point(r.at - 1)
		return r.advise("write !=")
	case got == "&" && before == "&":
		r.point(r.at - 1)
		return r.advise("write and")
	case got == "|" && before == "|":
		r.point(r.at - 1)
		return r.advise("write or")
	case got == "//" || got == "/" && after == "*":
		return r.advise("a comment begins with #")
	case got == "." && after == ".":
		return r.advise("write pass")
	case got == "{" && r.want == "':'":
		return r.advise("write : and indent the body")
	case r.want == "':'" && inside == "{" && (got == "," || got == "}"):
		return r.advise("{…} is a dict: write set([…])")
	case got == "for" && inside == "(":
		return r.advise("Starlark has no generators: write [… for x in y]")
	}
	return false
}

// missing explains a missing comma or colon.
func (r *report) missing() bool {
	last := r.before(r.at)
	switch {
	case r.isKind(r.at, token.Number) && r.got == "identifier":
		if strings.Contains(r.textOf(r.at), "_") {
			return r.advise("numbers cannot contain _: write 1000")
		}
		return r.advise("a number cannot be followed by letters: write a string for units, \"10s\"")
	case len(r.open) > 0 && r.isOperandEnd(last) && r.startsOperand(r.at) &&
		r.got != r.textOf(r.at):
		r.offset = r.tokens[last].End
		return r.advise("is a comma missing here?")
	case r.want == "':'" && isCompound(r.textOf(r.head)) && r.startsOperand(r.at):
		r.offset = r.tokens[max(0, last)].End
		return r.advise("is the ':' missing here?")
	}
	return false
}

// isOperandEnd reports whether an expression can end with the i-th token.
func (r *report) isOperandEnd(i int) bool {
	return r.isKind(i, token.Name) || r.isKind(i, token.Number) ||
		r.isKind(i, token.String) || r.nesting(i) < 0
}

func (r *report) startsOperand(i int) bool {
	return r.isKind(i, token.Name) || r.isKind(i, token.Number) ||
		r.isKind(i, token.String) || r.nesting(i) > 0
}

// names maps names of Python and other languages to what to write instead.
var names = map[string]string{
	"true": "write True", "false": "write False", "null": "write None", "none": "write None", "nil": "write None", "undefined": "write None",
	"os": keywords["import"], "sys": keywords["import"], "re": keywords["import"], "argparse": keywords["import"], "subprocess": keywords["import"],
	"isinstance": `write type(x) == "string"`, "sum": "add in a loop", "map": "write [f(x) for x in y]", "filter": "write [x for x in y if f(x)]",
	"pow": "write math.pow(x, y)", "round": "write math.round(x)", "open": "a component cannot open files", "input": "a component cannot ask for input: take an argument",
	"exec": "Starlark cannot evaluate strings", "eval": "Starlark cannot evaluate strings", "object": keywords["class"], "super": keywords["class"],
	"Exception": keywords["raise"], "ValueError": keywords["raise"], "RuntimeError": keywords["raise"], "iter": "write for x in y", "next": "write for x in y",
}

// Name adds what to write instead to a message about an undefined name or a statement of Python.
func Name(msg string) string {
	advice := ""
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		name, _, _ = strings.Cut(name, " ")
		advice = names[name]
	} else if strings.Contains(msg, "does not support while loops") {
		advice = "write for … in range(…) and break"
	}
	if advice == "" {
		return msg
	}
	msg, _, _ = strings.Cut(msg, " (did you mean")
	return msg + " (" + advice + ")"
}
