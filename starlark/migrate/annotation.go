package migrate

import (
	"slices"
	"strings"
)

// typeAlias returns the type behind a type alias of the file.
func (p *porter) typeAlias(n *node) *node {
	for range 10 {
		g := p.global(nameOf(n))
		if g == nil || g.value == nil {
			break
		}
		n = g.value
	}
	return n
}

// annotated returns the type of an annotation, unknown if the port does not need it.
func (p *porter) annotated(n *node) typ {
	n = p.typeAlias(n)
	switch full := p.full(n); {
	case isNone(n):
		return of(aNone)
	case is(n, "BinOp") && n.Op == "BitOr":
		return p.annotated(n.Left).join(p.annotated(n.Right))
	case is(n, "Subscript"):
		return p.annotatedGeneric(n)
	case functions()[full].typ.class == aPath:
		return of(aPath)
	case p.known["specs."+strings.TrimPrefix(full, "torchx.specs.")] != "" &&
		strings.HasPrefix(full, "torchx."):
		return specOf(strings.TrimPrefix(full, "torchx.specs."))
	case is(n, "Name"):
		if g := p.global(n.ID); g != nil && g.class != nil {
			return g.class.instance()
		}
		if c := class(p.generic(n)); c.isPrimitive() {
			return of(c)
		} else if c == aList || c == aDict {
			return of(c).opened()
		}
	}
	return typ{}
}

func (p *porter) annotatedGeneric(n *node) typ {
	args := typeArguments(n)
	var parts []typ
	for _, x := range args {
		parts = append(parts, p.annotated(x))
	}
	switch kind := p.generic(n.Value); {
	case kind == "list" && len(parts) == 1:
		return listOf(parts[0])
	case kind == "dict" && len(parts) == 2:
		return dictOf(parts[0], parts[1])
	case kind == "optional" && len(parts) == 1:
		return parts[0].orNone()
	case (kind == "final" || kind == "annotated" || kind == "classvar") && len(parts) > 0:
		return parts[0]
	case kind == "union":
		t := of(aNone)
		for _, x := range parts {
			t = t.join(x)
		}
		return t
	}
	return typ{}
}

// generic returns the lower-case name of a generic type: "list", "dict", "optional".
func (p *porter) generic(n *node) string {
	name := strings.TrimPrefix(p.full(n), "typing.")
	if name == "" {
		name = nameOf(n)
	}
	return strings.ToLower(name)
}

// isType reports whether an expression is a type that an annotation may use.
func (p *porter) isType(n *node) bool {
	return is(n, "Subscript") && (strings.HasPrefix(p.full(n.Value), "typing.") || starlarkTypes[nameOf(n.Value)] != nil && p.isFree(nameOf(n.Value))) ||
		is(n, "Call") && strings.HasPrefix(p.full(n.Func), "typing.") &&
			p.full(n.Func) != "typing.cast"
}

func typeArguments(n *node) []*node {
	if is(n.Slice, "Tuple") {
		return n.Slice.Elts
	}
	return []*node{n.Slice}
}

// command is the annotation of a component's argument by TorchX's rules.
type command struct {
	text    string // the type in a torchx docstring, "" if it has none
	refused string // why TorchX refuses the component, "" if it accepts it
	short   string // the short option
}

// command reads the annotation of a component's argument.
func (p *porter) command(n *node) command {
	if n == nil {
		return command{refused: "it has no type annotation"}
	}
	if n = p.typeAlias(n); is(n, "BinOp") && n.Op == "BitOr" {
		return p.optionalType(n.Left, n.Right)
	}
	if is(n, "Subscript") {
		return p.genericType(n)
	}
	switch kind := p.generic(n); kind {
	case "list", "sequence", "iterable":
		return command{text: "list[str]"}
	case "dict", "mapping":
		return command{text: "dict[str, str]"}
	default:
		if g := p.global(nameOf(n)); g != nil && g.class != nil && g.class.isText {
			return command{text: g.class.choices()}
		}
		return command{text: primitive(kind)}
	}
}

// primitive returns the name of a type that a command line can give, "" for others. For object and
// Any that is str.
func primitive(kind string) string {
	switch {
	case class(kind).isPrimitive():
		return kind
	case kind == "object" || kind == "any":
		return string(aStr)
	}
	return ""
}

func (p *porter) optionalType(a, b *node) command {
	if isNone(a) {
		a, b = b, a
	}
	if !isNone(b) {
		return command{refused: "its type is a union of several"}
	}
	c := p.command(a)
	c.text = optional(c.text)
	return c
}

// optional writes the type of an argument that may be None.
func optional(text string) string {
	if text == "" || strings.HasPrefix(text, "optional[") {
		return text
	}
	return "optional[" + text + "]"
}

func (p *porter) genericType(n *node) command {
	args := typeArguments(n)
	var names, choices []string
	for _, a := range args {
		if name := primitive(p.generic(a)); name != "" {
			names = append(names, name)
		}
		if s, ok := constantOf(a, "str"); ok {
			choices = append(choices, quote(s, false))
		}
	}
	isSimple := len(names) == len(args)
	switch kind := p.generic(n.Value); {
	case kind == "annotated":
		c := p.command(args[0])
		for _, a := range args[1:] {
			if s, ok := constantOf(a, "str"); ok && strings.HasPrefix(s, "-") {
				c.short = s
			}
		}
		return c
	case kind == "optional" && len(args) == 1:
		return p.optionalType(args[0], &node{Kind: "Constant", Type: "NoneType"})
	case kind == "union" && len(args) == 2:
		return p.optionalType(args[0], args[1])
	case kind == "literal" && len(choices) == len(args):
		return command{text: "enum(" + strings.Join(choices, ", ") + ")"}
	case (kind == "list" || kind == "sequence" || kind == "iterable") && len(args) == 1 && isSimple:
		return command{text: "list[" + names[0] + "]"}
	case (kind == "dict" || kind == "mapping") && len(args) == 2 && isSimple:
		return command{text: "dict[" + names[0] + ", " + names[1] + "]"}
	case slices.ContainsFunc(args, func(a *node) bool { return a.Kind != "Name" }) && (kind == "list" || kind == "dict"):
		return command{refused: "only str, int, float and bool can be in a list or dict on a command line"}
	case kind == "tuple" || kind == "list" || kind == "dict":
		return command{} // TorchX accepts the component, but no value of the argument
	}
	return command{refused: "a command line cannot give a value of its type"}
}
