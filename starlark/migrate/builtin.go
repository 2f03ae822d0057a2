package migrate

import (
	"slices"
	"strings"
)

// builtinCall ports a call of a Python builtin.
func (p *porter) builtinCall(n *node, name string) value {
	given := len(n.Args) + len(n.Keywords)
	switch {
	case name == "str" && given == 0:
		return primary(`""`, of(aStr))
	case name == "str" && isSole(n):
		return p.str(n, p.expr(n.Args[0]))
	case name == "int" && isSole(n) && p.peek(n.Args[0]).class == aMember:
		return p.expr(n.Args[0]).with(of(anInt), ".value")
	case name == "int" && isSole(n) && p.peek(n.Args[0]).class == anInt && !p.peek(n.Args[0]).null:
		return p.expr(n.Args[0])
	case name == "repr" && isSole(n):
		return p.callOf(of(aStr), "torchx.py.repr", p.expr(n.Args[0]))
	case name == "format" && len(n.Args) == 2 && given == 2:
		return p.callOf(of(aStr), "torchx.py.format", p.expr(n.Args[0]), p.expr(n.Args[1]))
	case name == "hex" || name == "bin" || name == "oct":
		return p.callOf(of(aStr), "torchx.py.format", p.expr(n.Args[0]),
			`"#`+strings.ReplaceAll(name, "hex", "x")[:1]+`"`)
	case name == "round" && isSole(n):
		return p.callOf(of(anInt), "_round", p.expr(n.Args[0]))
	case name == "round" && given == 2 && len(n.Args) == 2 && p.peek(n.Args[0]).class == aFloat && is(n.Args[1], "Constant"):
		return p.callOf(of(aFloat), "float", p.call("torchx.py.format", p.expr(n.Args[0]), quote("."+n.Args[1].Text+"f", false)))
	case name == "isinstance":
		return p.isinstance(n)
	case name == "sum" && len(n.Args) > 0:
		t := p.number(value{typ: p.peek(n.Args[0]).elemType()}).typ
		if given > 1 {
			t = typ{}
		}
		return primary(p.predeclared("_sum")+p.arguments(n), t)
	case name == "next" && len(n.Args) == 2 && is(n.Args[0], "GeneratorExp"):
		found, other := p.expr(n.Args[0]), p.expr(n.Args[1])
		return primary("("+found.text+" or ["+other.text+"])[0]",
			found.typ.elemType().join(other.typ))
	case name == "enumerate" && len(n.Args) == 1 && len(n.Keywords) == 1:
		over := p.iterable(n.Args[0])
		return p.callOf(listOf(item(of(anInt), over.typ.elemType())), "enumerate", over,
			p.expr(n.Keywords[0].Value))
	case name == "print":
		plain := *n
		plain.Keywords = slices.DeleteFunc(slices.Clone(n.Keywords), func(k *node) bool { return k.Arg == "file" || k.Arg == "flush" })
		n = &plain
		p.shows = true
		defer func() { p.shows = false }()
	}
	for _, k := range n.Keywords {
		switch {
		case name == "print" && k.Arg != "sep":
			return p.fail(n, "print has no argument %s= in Starlark", k.Arg)
		case name == "zip" || name == "hasattr" || name == "getattr":
			return p.fail(n, "%s has no argument %s= in Starlark", name, k.Arg)
		case (name == "min" || name == "max") && k.Arg == "default":
			return p.fail(n, "%s has no argument default= in Starlark: test for emptiness first", name)
		}
	}
	if e, ok := builtins()[name]; ok {
		return p.plainCall(n, e.starlark, e.typ)
	}
	if advice, ok := refusals()[name+"()"]; ok {
		return p.fail(n, "%s", advice)
	}
	if p.bound[name] || !strings.Contains(foreign, " "+name+" ") {
		return p.fail(n, "%s is not defined", name)
	}
	return p.fail(n, "%s(…) has no counterpart", name)
}

const (
	// walkers iterate their arguments.
	walkers = " list tuple set sorted reversed enumerate zip any all min max "
	// orderless are the walkers whose result does not depend on the order of the items.
	orderless = " set sorted any all min max "
	// foreign are Python builtins without a counterpart and without advice.
	foreign = " iter eval exec bytes callable classmethod compile complex dir globals hash help id issubclass locals object repr str sum format " +
		"property slice staticmethod delattr ascii bytearray memoryview "
)

// plainCall ports a call of a function that both languages have. t is the type of its result.
func (p *porter) plainCall(n *node, name string, t typ) value {
	if len(n.Args) == 0 || !strings.Contains(walkers, " "+name+" ") ||
		slices.ContainsFunc(n.Args, isStarred) {
		return primary(p.predeclared(name)+p.arguments(n), p.resultOfGiven(n, name, t))
	}
	isOrderless := strings.Contains(orderless, " "+name+" ")
	isUnordered := isOrderless && is(n.Args[0], "ListComp", "SetComp", "GeneratorExp")
	var given []typ
	for i, a := range n.Args {
		p.unordered = isUnordered && i == 0
		given = append(given, p.peek(a))
	}
	elem := given[0].elemType()
	switch {
	case given[0].class == aSet && !isOrderless:
		p.unordered = false
		return p.refuse(n, "set order")
	case name == "enumerate":
		t = listOf(item(of(anInt), elem))
	case name == "min" || name == "max":
		if t = given[0]; len(given) == 1 {
			t = elem
		}
		for _, other := range given[1:] {
			t = t.join(other)
		}
	case t.class != aBool && name != "zip":
		t.elem = &elem
	}
	walked := *n
	walked.Args = slices.Clone(n.Args)
	for i, a := range n.Args {
		isText := given[i].class == aStr || given[i].class == aClass
		if isText && (len(n.Args) == 1 || name == "zip" || name == "enumerate" && i == 0) {
			walked.Args[i] = &node{Kind: "iterable", Line: a.Line, Value: a}
		}
	}
	p.unordered = isUnordered
	args := p.arguments(&walked)
	p.unordered = false
	return primary(p.predeclared(name)+args, t)
}

// resultOfGiven returns the result type of a function that does not iterate its arguments: t,
// unless it depends on them.
func (p *porter) resultOfGiven(n *node, name string, t typ) typ {
	given := typ{}
	if isSole(n) && (name == "abs" || name == "dict") {
		given = p.peek(n.Args[0])
	}
	switch {
	case name == "abs":
		return given
	case name == "dict" && given.class == aDict:
		given.null = false
		return given
	case (t.class.isMutable() || t.class == aTuple) && t.elem == nil &&
		len(n.Args)+len(n.Keywords) > 0:
		return t.opened()
	}
	return t
}

func (p *porter) isinstance(n *node) value {
	if len(n.Args) != 2 {
		return p.fail(n, "isinstance needs a value and a type")
	}
	list := n.Args[1:]
	if is(n.Args[1], "Tuple") {
		list = n.Args[1].Elts
	}
	if field := p.wrapper(n.Args[1]); field != "" {
		return p.callOf(of(aBool), "hasattr", p.expr(n.Args[0]), quote(field, false))
	}
	var names []string
	for _, t := range list {
		starlark := starlarkTypes[nameOf(t)]
		if starlark == nil {
			return p.fail(n, "isinstance of this type has no counterpart: test a field of the value with hasattr")
		}
		for _, s := range starlark {
			names = append(names, quote(s, false))
		}
	}
	test := " in [" + strings.Join(names, ", ") + "]"
	if len(names) == 1 {
		test = " == " + names[0]
	}
	return value{p.call("type", p.expr(n.Args[0])) + test, precCompare, of(aBool)}
}

// pathPart ports an attribute of a pathlib path.
func (p *porter) pathPart(n *node, v value) value {
	t := of(aStr)
	switch n.Attr {
	case "name":
		return p.callOf(t, "path.basename", v)
	case "stem":
		return p.callOf(t, "path.stem", v)
	case "suffix":
		return p.callOf(t, "path.splitext", v).with(t, "[1]")
	case "parents":
		v.typ = of(aParents)
		return v
	case "parts":
		return p.callOf(listOf(t), "_parts", v)
	case "parent":
		return p.callOf(of(aPath), "_pure_path", p.call("path.dirname", v))
	}
	return p.fail(n, ".%s of a path has no counterpart: a component cannot read files", n.Attr)
}

// pathMethod ports a method of a pathlib path.
func (p *porter) pathMethod(n *node, v value) value {
	name := n.Func.Attr
	arg := func() value { return p.expr(n.Args[0]) }
	stem := p.call("path.splitext", v) + "[0]"
	switch {
	case name == "absolute":
		return p.callOf(of(aPath), "path.abspath", v)
	case name == "resolve":
		p.noteLinks(n)
		return p.callOf(of(aPath), "path.abspath", v)
	case name == "expanduser":
		return p.callOf(of(aPath), "_expanduser", v)
	case name == "as_posix" || name == "__str__":
		v.typ = of(aStr)
		return v
	case name == "joinpath":
		return primary(p.predeclared("_pure_path")+"("+v.text+", "+p.arguments(n)[1:], of(aPath))
	case name == "is_absolute":
		return p.callOf(of(aBool), "path.isabs", v)
	case name == "with_suffix" && isSole(n):
		return p.callOf(of(aPath), "_pure_path", stem+" + "+arg().at(precProduct))
	case name == "with_name" && isSole(n):
		return p.callOf(of(aPath), "_pure_path", p.call("path.dirname", v), arg())
	case name == "with_stem" && isSole(n):
		return p.callOf(of(aPath), "_pure_path", p.call("path.dirname", v),
			arg().at(precProduct)+" + "+p.call("path.splitext", v)+"[1]")
	}
	return p.fail(n, ".%s() of a path has no counterpart: a component cannot read files; take the value as an argument", name)
}
