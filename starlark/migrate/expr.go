package migrate

import (
	"strings"
)

// value is a ported expression.
type value struct {
	doc  *doc
	prec int
	typ  typ
}

// Precedences of Starlark's operators, which are Python's.
const (
	precTest = iota // if-else, lambda
	precOr
	precAnd
	precNot
	precCompare
	precBitOr
	precBitXor
	precBitAnd
	precShift
	precSum
	precProduct
	precUnary
	precPrimary
)

// maxNesting bounds the depth of expressions; Starlark itself allows less than Python.
const maxNesting = 400

type operator struct {
	text string
	prec int
}

var operators = map[string]operator{
	"Add": {"+", precSum}, "Sub": {"-", precSum}, "Mult": {"*", precProduct}, "Div": {"/", precProduct},
	"FloorDiv": {"//", precProduct}, "Mod": {"%", precProduct}, "BitOr": {"|", precBitOr}, "BitXor": {"^", precBitXor},
	"BitAnd": {"&", precBitAnd}, "LShift": {"<<", precShift}, "RShift": {">>", precShift},
	"Eq": {"==", precCompare}, "NotEq": {"!=", precCompare}, "Lt": {"<", precCompare}, "LtE": {"<=", precCompare},
	"Gt": {">", precCompare}, "GtE": {">=", precCompare}, "In": {"in", precCompare}, "NotIn": {"not in", precCompare},
}

// at returns v's text, in parentheses where it would bind less than prec.
func (v value) at(prec int) *doc {
	if v.prec >= prec {
		return v.doc
	}
	return bracketed(v.doc)
}

func bracketed(d *doc) *doc { return join(text("("), d, text(")")) }

func primary(d *doc, t typ) value { return value{doc: d, prec: precPrimary, typ: t} }

// expr ports an expression.
func (p *porter) expr(n *node) value {
	if p.depth++; p.depth > maxNesting {
		p.depth--
		return p.fail(n, "this is nested deeper than %d levels: split it", maxNesting)
	}
	defer func() { p.depth-- }()
	switch n.kind {
	case "Constant":
		return p.constant(n)
	case "Name":
		return p.variable(n)
	case "Attribute":
		return p.attribute(n)
	case "Call":
		return p.call(n)
	case "JoinedStr":
		return p.fstring(n)
	case "List", "Tuple", "Set":
		return p.sequence(n)
	case "Dict":
		return p.dict(n)
	case "BinOp":
		return p.binary(n)
	case "BoolOp":
		return p.boolean(n)
	case "UnaryOp":
		return p.unary(n)
	case "Compare":
		return p.compare(n)
	case "IfExp":
		return p.conditional(n)
	case "Subscript":
		return p.subscript(n)
	case "ListComp", "GeneratorExp", "SetComp", "DictComp":
		return p.comprehension(n)
	case "Lambda":
		return p.lambda(n)
	}
	return p.fail(n, "%s", unsupported(n))
}

// unsupported names a construct that has no counterpart.
func unsupported(n *node) string {
	names := map[string]string{
		"NamedExpr": "`:=` has no counterpart: assign first", "Await": "`await` has no counterpart", "Yield": "`yield` has no counterpart: build a list",
		"YieldFrom": "`yield` has no counterpart: build a list", "Starred": "`*` is not supported here: join the lists with +",
		"Try": "`try` has no counterpart: Starlark cannot catch errors, so test before", "TryStar": "`try` has no counterpart",
		"With": "`with` has no counterpart: a component opens nothing", "While": "`while` has no counterpart: write `for … in range(…)` and break",
		"ClassDef": "a class has no counterpart, unless it is an Enum of constants: write functions, or struct(…)",
		"Match":    "`match` has no counterpart: write if and elif", "Global": "`global` has no counterpart: a file's values never change once it is loaded",
		"Nonlocal":         "`nonlocal` has no counterpart: return the value",
		"AsyncFunctionDef": "`async` has no counterpart", "AsyncFor": "`async` has no counterpart", "AsyncWith": "`async` has no counterpart",
		"TypeAlias": "type aliases are not supported: write the type out",
	}
	if s, ok := names[n.kind]; ok {
		return s
	}
	return n.kind + " has no counterpart in Starlark"
}

// variable ports a name.
func (p *porter) variable(n *node) value {
	id := n.text("id")
	if s := p.local(id); s != nil {
		return primary(text(id), s.types[id])
	}
	if g := p.globals[id]; g != nil {
		if g.broken != "" {
			return p.fail(n, "%s is used, which could not be ported (%s)", id, g.broken)
		}
		return primary(text(g.name), g.typ)
	}
	if full := p.imports[id]; full != "" {
		return p.imported(n, full)
	}
	switch {
	case id == "str", id == "repr": // passed on as a value, as in key = str
		return primary(text(p.predeclared("torchx.py."+id)), typ{})
	case plainFunctions[id]:
		return primary(text(p.predeclared(id)), typ{})
	case id == "__file__":
		return p.fail(n, "__file__ is the path of the Python file, which components do not get to know here")
	}
	return p.fail(n, "%s is not known here", id)
}

// attribute ports a.b that is not called.
func (p *porter) attribute(n *node) value {
	if full := p.full(n); full != "" {
		return p.imported(n, full)
	}
	base, name := n.node("value"), n.text("attr")
	if m, ok := p.member(n); ok {
		return m
	}
	if v, ok := p.pathAttribute(base, name); ok {
		return v
	}
	if id := base.text("id"); base.is("Name") && p.local(id) == nil && p.globals[id] == nil && starlarkTypes[id] != nil {
		return p.fail(n, "%s.%s is used as a value: write a lambda that calls it", id, name)
	}
	v := p.expr(base)
	if _, member := p.member(base); member && name == "value" && v.typ.class != aMember {
		return v // of a StrEnum
	}
	switch {
	case v.typ.class == aMember:
		return p.memberPart(n, v, name)
	case v.typ.spec == retryPolicy && v.typ.class == unknown:
		return primary(join(v.at(precPrimary), text("."+name)), typ{class: aStr, spec: retryPolicy})
	case v.typ.spec == retryPolicy && name == "value":
		return value{doc: v.doc, prec: v.prec, typ: of(aStr)}
	case v.typ.class == aSpec && p.known["specs."+v.typ.spec] != "":
		return primary(join(v.at(precPrimary), text("."+name)), p.fieldType(v.typ.spec, name))
	case v.typ.class != unknown:
		return p.fail(n, ".%s is used as a value; only its call can be ported", name)
	}
	return primary(join(v.at(precPrimary), text("."+name)), typ{})
}

// fieldType is the type of a field of a specs value.
func (p *porter) fieldType(spec, field string) typ {
	str := of(aStr)
	switch spec + "." + field {
	case "Role.env":
		return typ{class: aDict, key: &str, elem: &str}
	case "Role.args":
		return listOf(str)
	case "AppDef.roles":
		return listOf(typ{class: aSpec, spec: "Role"})
	case "Role.name", "Role.image", "Role.entrypoint", "AppDef.name":
		return str
	case "Role.num_replicas", "Role.max_retries", "Resource.gpu", "Resource.memMB":
		return of(anInt)
	case "Role.resource":
		return typ{class: aSpec, spec: "Resource"}
	case "Role.mounts":
		return anyOf(aList)
	case "Role.metadata", "AppDef.metadata", "Role.port_map", "Resource.capabilities", "Resource.devices", "Resource.tags":
		return anyOf(aDict)
	}
	return typ{}
}

// pathAttribute ports Path(x).name, .stem and .suffix.
func (p *porter) pathAttribute(base *node, name string) (value, bool) {
	if !base.is("Call") || p.full(base.node("func")) != "pathlib.Path" || len(base.list("args")) != 1 || len(base.list("keywords")) > 0 {
		return value{}, false
	}
	arg := base.list("args")[0]
	switch name {
	case "stem":
		return primary(call("path.stem", p, p.expr(arg).doc), of(aStr)), true
	case "suffix":
		return primary(join(call("path.splitext", p, p.expr(arg).doc), text("[1]")), of(aStr)), true
	}
	return value{}, false
}

// call writes a call of something predeclared.
func call(full string, p *porter, args ...*doc) *doc {
	return join(text(p.predeclared(full)), bracket("(", args, ")"))
}

func (p *porter) lambda(n *node) value {
	args := n.node("args")
	if len(args.list("kwonlyargs"))+len(args.list("posonlyargs"))+len(args.list("defaults")) > 0 || args.node("vararg") != nil || args.node("kwarg") != nil {
		return p.fail(n, "a lambda with more than plain parameters: write a function")
	}
	inner := &scope{parent: p.scope, types: map[string]typ{}}
	if p.scope != nil {
		inner.def = p.scope.def
	}
	var names []string
	for _, a := range args.list("args") {
		inner.types[a.text("arg")] = typ{}
		names = append(names, a.text("arg"))
	}
	outer := p.scope
	p.scope = inner
	body := p.expr(n.node("body"))
	p.scope = outer
	if inner.failed && outer != nil {
		outer.failed = true
	}
	head := "lambda"
	if len(names) > 0 {
		head += " " + strings.Join(names, ", ")
	}
	return value{doc: join(text(head+": "), body.doc), prec: precTest}
}
