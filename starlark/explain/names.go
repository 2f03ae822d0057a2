package explain

import "strings"

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
