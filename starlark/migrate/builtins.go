package migrate

import (
	"slices"
)

// builtinCall ports a call of one of Python's own functions.
func (p *porter) builtinCall(n *node, name string) value {
	args, named := n.list("args"), n.list("keywords")
	one := len(args) == 1 && len(named) == 0 && !args[0].is("Starred")
	switch name {
	case "str":
		switch {
		case len(args)+len(named) == 0:
			return primary(text(`""`), of(aStr))
		case one:
			return p.stringOf(n, args[0])
		}
	case "repr":
		if one {
			return primary(call("torchx.py.repr", p, p.expr(args[0]).doc), of(aStr))
		}
	case "format":
		if len(args) == 2 && len(named) == 0 {
			return primary(call("torchx.py.format", p, p.expr(args[0]).doc, p.expr(args[1]).doc), of(aStr))
		}
	case "isinstance":
		return p.isinstance(n)
	case "sum":
		if len(args) > 0 {
			p.prelude["_sum"] = true
			t := p.peek(args[0]).elemType()
			if len(args)+len(named) > 1 {
				t = typ{}
			}
			return primary(join(text("_sum"), p.arguments(n)), t)
		}
	case "map", "filter":
		return p.mapped(n, name)
	case "print":
		if len(named) > 0 {
			return p.fail(n, "print takes no %s= here", named[0].text("arg"))
		}
	case "min", "max":
		if slices.ContainsFunc(named, func(k *node) bool { return k.text("arg") == "default" }) {
			return p.fail(n, "%s has no default= in Starlark: test for emptiness first", name)
		}
	case "zip", "hasattr", "getattr":
		if len(named) > 0 {
			return p.fail(n, "%s takes no %s= in Starlark", name, named[0].text("arg"))
		}
	case "enumerate":
		if len(named) == 1 && len(args) == 1 {
			over := p.iterable(args[0])
			return primary(call("enumerate", p, over.doc, p.expr(named[0].node("value")).doc), numbered(over.typ))
		}
	}
	if !plainFunctions[name] {
		if advice, python := adviceOn[name]; python {
			return p.fail(n, "%s(…) has no counterpart%s", name, advice)
		}
		return p.fail(n, "%s is not known here", name)
	}
	return p.plainCall(n, name)
}

// plainCall ports a call of a function that both languages have.
func (p *porter) plainCall(n *node, name string) value {
	t := results[name]
	walks := len(n.list("args")) > 0 && slices.Contains([]string{"list", "tuple", "set", "sorted", "reversed", "enumerate", "zip", "any", "all", "min", "max"}, name)
	if !walks || slices.ContainsFunc(n.list("args"), func(a *node) bool { return a.is("Starred") }) {
		switch given := len(n.list("args")) + len(n.list("keywords")); {
		case name == "abs" && given == 1:
			t = p.peek(n.list("args")[0])
		case name == "dict" && given == 1 && len(n.list("args")) == 1 && p.peek(n.list("args")[0]).class == aDict:
			t = p.peek(n.list("args")[0])
			t.null = false
		case given > 0 && slices.Contains([]class{aList, aDict, aTuple, aSet}, t.class):
			t = anyOf(t.class)
		}
		return primary(join(text(p.predeclared(name)), p.arguments(n)), t)
	}
	orderless := slices.Contains([]string{"set", "sorted", "any", "all", "min", "max"}, name)
	p.unordered = orderless && n.list("args")[0].isComprehension()
	v := p.peek(n.list("args")[0])
	if v.class == aSet && !orderless {
		return p.fail(n, "the order of a set is Python's own: write sorted(…)")
	}
	switch name {
	case "list", "tuple", "set", "sorted", "reversed":
		elem := v.elemType()
		t.elem = &elem
	case "enumerate":
		t = numbered(v)
	case "min", "max":
		if t = v; len(n.list("args")) == 1 {
			t = v.elemType()
		}
		for _, a := range n.list("args")[1:] {
			t = t.join(p.peek(a))
		}
	}
	p.unordered = orderless && n.list("args")[0].isComprehension()
	args := p.arguments(n)
	p.unordered = false
	for i, a := range n.list("args") {
		if p.peek(a).class == aStr && (len(n.list("args")) == 1 || name == "zip" || name == "enumerate" && i == 0) {
			args.items[i] = p.iterable(a).doc
		}
	}
	return primary(join(text(p.predeclared(name)), args), t)
}

// stringOf ports str(x), which is nothing for a path that is text here.
func (p *porter) stringOf(n, x *node) value {
	if x.is("Call") && p.full(x.node("func")) == "pathlib.Path" && len(x.list("args")) == 1 {
		return primary(call("path.normpath", p, p.expr(x.list("args")[0]).doc), of(aStr))
	}
	return p.str(n, p.expr(x))
}

// numbered is the type of enumerate(x).
func numbered(t typ) typ {
	elem := t.elemType()
	return listOf(typ{class: aTuple, key: &typ{class: anInt}, elem: &elem, spec: "item"})
}

func (p *porter) isinstance(n *node) value {
	args := n.list("args")
	if len(args) != 2 {
		return p.fail(n, "isinstance wants a value and a type")
	}
	types := []*node{args[1]}
	if args[1].is("Tuple") {
		types = args[1].list("elts")
	}
	var names []*doc
	for _, t := range types {
		list, ok := starlarkTypes[t.text("id")]
		if !t.is("Name") || !ok {
			return p.fail(n, "isinstance of a type that Starlark has not")
		}
		for _, s := range list {
			names = append(names, text(`"`+s+`"`))
		}
	}
	left := call("type", p, p.expr(args[0]).doc)
	if len(names) == 1 {
		return value{doc: join(left, text(" == "), names[0]), prec: precCompare, typ: of(aBool)}
	}
	return value{doc: join(left, text(" in "), bracket("[", names, "]")), prec: precCompare, typ: of(aBool)}
}

// mapped ports map(f, xs) and filter(f, xs) as comprehensions.
func (p *porter) mapped(n *node, name string) value {
	args := n.list("args")
	if len(args) != 2 || args[0].is("Starred") || args[1].is("Starred") {
		return p.fail(n, "%s with more than one list cannot be ported: write a comprehension", name)
	}
	over := p.iterable(args[1])
	x := "x"
	for p.bound[x] {
		x += "_"
	}
	loop := join(text("for "+x+" in "), over.at(precOr))
	if name == "filter" {
		cond := text(x)
		if !args[0].isNone() {
			cond = p.apply(n, args[0], x, over.typ.elemType()).doc
		}
		return primary(&doc{open: "[", items: []*doc{text(x)}, close: "]", clauses: []*doc{loop, join(text("if "), cond)}}, over.typ)
	}
	v := p.apply(n, args[0], x, over.typ.elemType())
	return primary(&doc{open: "[", items: []*doc{v.doc}, close: "]", clauses: []*doc{loop}}, listOf(v.typ))
}

// apply ports f(x) for a variable x of the given type.
func (p *porter) apply(n, f *node, x string, t typ) value {
	v := primary(text(x), t)
	if f.isName("str") && p.local("str") == nil && p.globals["str"] == nil {
		return p.str(n, v)
	}
	if full := p.full(f); full != "" {
		fn := p.imported(f, full)
		return primary(join(fn.doc, bracket("(", []*doc{v.doc}, ")")), p.resultOf(f, full))
	}
	fn := p.expr(f)
	return primary(join(fn.at(precPrimary), bracket("(", []*doc{v.doc}, ")")), results[f.text("id")])
}
