package migrate

import "strings"

// refusals say what cannot be ported and what to do instead: by the class of a node in Python's
// ast module, by the name of a builtin function with (), of a method with a dot, of a module or
// something in it, or by a word of ours. Text in () is an example.
var refusals = map[string]string{
	"NamedExpr": "`:=` has no counterpart: assign first", "Await": "`await` has no counterpart", "Yield": "`yield` has no counterpart: build a list",
	"YieldFrom": "`yield` has no counterpart: build a list", "Starred": "`*` is not supported here: join the lists with +",
	"Try": "`try` has no counterpart: Starlark cannot catch errors, so test before", "TryStar": "`try` has no counterpart: test before",
	"With": "`with` has no counterpart: a component opens nothing; take the value as an argument", "While": "`while` has no counterpart: write `for … in range(…)` and break",
	"ClassDef": "a class within a function has no counterpart: define it at the top of the file", "Match": "`match` has no counterpart: write if and elif",
	"Global":   "`global` has no counterpart: a file's values never change once it is loaded",
	"Nonlocal": "`nonlocal` has no counterpart: return the value", "AsyncFunctionDef": "`async` has no counterpart: write a plain function",
	"AsyncFor": "`async` has no counterpart", "AsyncWith": "`async` has no counterpart", "Pow": "** has no counterpart: write the product, or math.pow(…) for floats",

	"round()": "round(…) with digits has no counterpart: write an f-string such as f\"{x:.2f}\"", "type()": "type(…) has no counterpart: write isinstance",
	"open()": "open(…) has no counterpart: a component reads no files; take the value as an argument", "input()": "input(…) has no counterpart: take an argument",
	"super()": "super(…) has no counterpart: classes are not derived from others here", "pow()": "pow(…) has no counterpart: write the product",
	"next()": "next(…) has no counterpart: write [… for …][0]", "divmod()": "divmod(…) has no counterpart: write // and %",
	"vars()": "vars(…) has no counterpart: name the values", "setattr()": "setattr(…) has no counterpart: write specs.replace",

	".sort": "lists have no sort in Starlark: write x = sorted(x)", ".reverse": "lists have no reverse in Starlark: write x = reversed(x)",
	".format":     "the method .format of a text that is not written out here has no counterpart: write an f-string",
	".zfill":      "the method .zfill has no counterpart in Starlark: write an f-string such as f\"{x:03d}\"",
	".encode":     "the method .encode has no counterpart in Starlark: there are no bytes",
	".splitlines": "the method .splitlines has no counterpart in Starlark, for lines end at more characters in Python: write .split(\"\\n\")",

	"os":       "a component reads nothing but its arguments and os.environ; take the value as an argument",
	"random":   "a component gives the same app each time; take the value as an argument, or use specs.macros.app_id, which is unique",
	"re":       "there are no regular expressions but whole ones of digits such as ^\\d+x\\d+$: write split, startswith or partition",
	"own file": "port that file too, and load() it",
	"other":    "it is no part of TorchX; write what it does here, or take the value as an argument",

	"surrogate":      "the text has a half of a surrogate pair, which no Starlark string can have",
	"deep":           "this is nested deeper than 400 levels: split it",
	"__file__":       "__file__ is the path of the Python file, which a component does not know here: take the folder as an argument",
	"is":             "`is` compares identities, which Starlark has not: write == if you mean that",
	"chain":          "a chain of comparisons around a computed value: give the value a name first",
	"lambda":         "a lambda with more than plain parameters: write a function",
	"set order":      "the order of a set is Python's own: write sorted(…)",
	"enum text":      "the text of an Enum's member differs between versions of Python: write .value",
	"object":         "an object of a class of the file never changes here: make a new one",
	"not alone":      "only a variable that was assigned a specs value in this function can be changed: specs values are copies, use specs.replace",
	"environ":        "a component cannot set variables of its own environment: set env of the role",
	"starred target": "a starred target has no counterpart here: take a slice",
	"slice target":   "a slice cannot be assigned to in Starlark: build the list anew with +",
	"base":           "a class derived from another has no counterpart, unless that is str, Enum, StrEnum or NamedTuple: write one class, or functions",
	"class body":     "a class here can have constants, annotated fields and methods only",
	"format":         "this format() cannot be ported: write an f-string",
	"percent dict":   "% with a dict cannot be ported: write an f-string",
	"percent":        "% on what may be a string: whether Python and Starlark format it alike is not known; write an f-string",
	"decorator":      "decorators have no counterpart: call the function",
	"exception":      "an exception with several values: write one text",
	"message":        "a message with arguments of its own: write an f-string",
}

// refuse notes a place that cannot be ported by its entry in refusals.
func (p *porter) refuse(n *node, key string) value { return p.fail(n, "%s", refusals[key]) }

// unsupported refuses a construct that is not ported at all.
func (p *porter) unsupported(n *node) value {
	if s, ok := refusals[n.Kind]; ok {
		return p.fail(n, "%s", s)
	}
	return p.fail(n, "%s has no counterpart in Starlark", n.Kind)
}

// refuseName refuses something imported.
func (p *porter) refuseName(n *node, full string) value {
	root, _, _ := strings.Cut(full, ".")
	key := "other"
	switch {
	case strings.HasPrefix(full, "."):
		key = "own file"
	case strings.Contains(" os pathlib subprocess shutil socket platform sys tempfile glob yaml configparser inspect importlib ", " "+root+" "):
		key = "os"
	case strings.Contains(" random time datetime uuid secrets ", " "+root+" "):
		key = "random"
	case root == "re":
		key = "re"
	case strings.Contains(" typing math json string shlex copy dataclasses enum collections itertools functools ", " "+root+" "):
		return p.fail(n, "%s has no counterpart in a component file: write what it does", full)
	case root == "torchx":
		return p.fail(n, "%s has no counterpart in a component file", full)
	}
	return p.fail(n, "%s has no counterpart in a component file: %s", full, refusals[key])
}
