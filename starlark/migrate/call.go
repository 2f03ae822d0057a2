package migrate

import (
	"slices"
	"strings"
)

// callExpr ports a call.
func (p *porter) callExpr(n *pyCall) value {
	if full := p.full(n.Func); full != "" {
		return p.importedCall(n, full)
	}
	name := nameOf(n.Func)
	if name != "" && p.isFree(name) {
		return p.builtinCall(n, name)
	}
	if fn, ok := n.Func.(*pyAttribute); ok {
		return p.methodCall(n, fn)
	}
	v := p.expr(n.Func)
	if v.typ.class == anEnum {
		return p.fail(n, "looking a member of an Enum up by value cannot be ported: write a dict")
	}
	t := typ{}
	if g := p.global(name); g != nil && g.def != nil {
		if !p.unproved[g.def.Name] {
			t = p.annotated(g.def.Returns)
		}
		p.checkGiven(n, g.def)
	}
	return v.with(t, p.arguments(n))
}

// arguments ports what is in the parentheses of a call: Starlark wants *args and
// **kwargs last.
func (p *porter) arguments(n *pyCall) *doc {
	var list, last []*doc
	star := slices.IndexFunc(n.Args, isStarred)
	if star < 0 {
		star = len(n.Args)
	}
	for _, a := range n.Args[:star] {
		list = append(list, p.expr(a).doc)
	}
	switch rest := n.Args[star:]; len(rest) {
	case 0:
	case 1:
		last = append(last, cat("*", p.iterable(rest[0].(*pyStarred).Value).at(precOr)))
	default:
		last = append(last, cat("*", bracketed(p.spread(rest))))
	}
	for _, k := range n.Keywords {
		if v := p.expr(k.Value); k.Arg != "" {
			list = append(list, cat(k.Arg+" = ", v))
		} else {
			last = append(last, cat("**", v.at(precOr)))
		}
	}
	return bracket("(", append(list, last...), ")")
}

// spread joins arguments of which some are starred.
func (p *porter) spread(args []node) *doc {
	var list []*doc
	for _, a := range args {
		if s, ok := a.(*pyStarred); ok {
			list = append(list, p.call("list", p.iterable(s.Value)))
		} else {
			list = append(list, bracket("[", []*doc{p.expr(a).doc}, "]"))
		}
	}
	return separated(list, " + ")
}

// isSole reports whether a call has one plain argument.
func isSole(n *pyCall) bool {
	return len(n.Args) == 1 && len(n.Keywords) == 0 && !isStarred(n.Args[0])
}

// builtinCall ports a call of one of Python's own functions.
func (p *porter) builtinCall(n *pyCall, name string) value {
	given := len(n.Args) + len(n.Keywords)
	switch {
	case name == "str" && given == 0:
		return primary(text(`""`), of(aStr))
	case name == "str" && isSole(n):
		if x := p.pathOf(n.Args[0]); x != nil {
			return p.callOf(of(aStr), "path.normpath", p.expr(x))
		}
		return p.str(n, p.expr(n.Args[0]))
	case name == "repr" && isSole(n):
		return p.callOf(of(aStr), "torchx.py.repr", p.expr(n.Args[0]))
	case name == "format" && len(n.Args) == 2 && given == 2:
		return p.callOf(of(aStr), "torchx.py.format", p.expr(n.Args[0]), p.expr(n.Args[1]))
	case name == "isinstance":
		return p.isinstance(n)
	case name == "sum" && len(n.Args) > 0:
		p.out.prelude["_sum"] = true
		t := p.peek(n.Args[0]).elemType()
		if given > 1 {
			t = typ{}
		}
		return primary(cat("_sum", p.arguments(n)), t)
	case name == "map" || name == "filter":
		return p.mapped(n, name)
	case name == "enumerate" && len(n.Args) == 1 && len(n.Keywords) == 1:
		over := p.iterable(n.Args[0])
		return p.callOf(numbered(over.typ), "enumerate", over, p.expr(n.Keywords[0].Value))
	}
	for i, k := range n.Keywords {
		switch {
		case name == "print" && i == 0:
			return p.fail(n, "print takes no %s= here", k.Arg)
		case name == "zip" || name == "hasattr" || name == "getattr":
			return p.fail(n, "%s takes no %s= in Starlark", name, k.Arg)
		case (name == "min" || name == "max") && k.Arg == "default":
			return p.fail(n, "%s has no default= in Starlark: test for emptiness first", name)
		}
	}
	if e, ok := builtins()[name]; ok {
		return p.plainCall(n, name, e.typ)
	}
	if advice, ok := adviceOn[name]; ok || strings.Contains(foreign, " "+name+" ") {
		return p.fail(n, "%s(…) has no counterpart%s", name, advice)
	}
	return p.fail(n, "%s is not known here", name)
}

const (
	// walkers iterate their arguments.
	walkers = " list tuple set sorted reversed enumerate zip any all min max "
	// orderless are the walkers whose result does not show the order of the items.
	orderless = " set sorted any all min max "
)

// plainCall ports a call of a function that both languages have, with a result of type t.
func (p *porter) plainCall(n *pyCall, name string, t typ) value {
	if len(n.Args) == 0 || !strings.Contains(walkers, " "+name+" ") || slices.ContainsFunc(n.Args, isStarred) {
		return p.callWith(n, name, p.resultOfGiven(n, name, t))
	}
	isOrderless := strings.Contains(orderless, " "+name+" ")
	comp, isComp := n.Args[0].(*pyComp)
	isUnordered := isOrderless && isComp && comp.Kind != "DictComp"
	var given []typ
	for _, a := range n.Args {
		p.unordered = isUnordered && a == n.Args[0]
		given = append(given, p.peek(a))
	}
	elem := given[0].elemType()
	switch {
	case given[0].class == aSet && !isOrderless:
		return p.fail(n, "the order of a set is Python's own: write sorted(…)")
	case name == "enumerate":
		t = numbered(given[0])
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
	p.unordered = isUnordered
	args := p.arguments(n)
	p.unordered = false
	for i, a := range n.Args {
		if given[i].class == aStr && (len(n.Args) == 1 || name == "zip" || name == "enumerate" && i == 0) {
			args.items[i] = p.iterable(a).doc
		}
	}
	return primary(cat(p.predeclared(name), args), t)
}

// callWith calls a predeclared function with the arguments of n.
func (p *porter) callWith(n *pyCall, full string, t typ) value {
	return primary(cat(p.predeclared(full), p.arguments(n)), t)
}

// resultOfGiven is the type of what a function returns that does not iterate what it is
// given; t is that of other functions.
func (p *porter) resultOfGiven(n *pyCall, name string, t typ) typ {
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
	case (t.class.isMutable() || t.class == aTuple) && len(n.Args)+len(n.Keywords) > 0:
		return anyOf(t.class)
	}
	return t
}

func (p *porter) isinstance(n *pyCall) value {
	if len(n.Args) != 2 {
		return p.fail(n, "isinstance wants a value and a type")
	}
	list, isTuple := elements(n.Args[1], "Tuple")
	if !isTuple {
		list = n.Args[1:]
	}
	var names []*doc
	for _, t := range list {
		starlark := starlarkTypes[nameOf(t)]
		if starlark == nil {
			return p.fail(n, "isinstance of a type that Starlark has not")
		}
		for _, s := range starlark {
			names = append(names, text(`"`+s+`"`))
		}
	}
	of, op := bracket("[", names, "]"), " in "
	if len(names) == 1 {
		of, op = names[0], " == "
	}
	return value{doc: cat(p.call("type", p.expr(n.Args[0])), op, of), prec: precCompare, typ: typ{class: aBool}}
}

// mapped ports map(f, xs) and filter(f, xs) as comprehensions.
func (p *porter) mapped(n *pyCall, name string) value {
	if len(n.Args) != 2 || slices.ContainsFunc(n.Args, isStarred) {
		return p.fail(n, "%s with more than one list cannot be ported: write a comprehension", name)
	}
	over := p.iterable(n.Args[1])
	x := primary(text(p.unbound("x")), over.typ.elemType())
	d := &doc{open: "[", close: "]", items: []*doc{x.doc}, clauses: []*doc{cat("for ", x, " in ", over.at(precOr))}}
	if name == "map" {
		v := p.apply(n, n.Args[0], x)
		d.items[0] = v.doc
		return primary(d, listOf(v.typ))
	}
	cond := x
	if !isNone(n.Args[0]) {
		cond = p.apply(n, n.Args[0], x)
	}
	d.clauses = append(d.clauses, cat("if ", cond))
	return primary(d, over.typ)
}

// apply ports f(x) for a variable x.
func (p *porter) apply(n, f node, x value) value {
	args := bracket("(", []*doc{x.doc}, ")")
	name := nameOf(f)
	if name == "str" && p.isFree(name) {
		return p.str(n, x)
	}
	if full := p.full(f); full != "" {
		return primary(cat(p.imported(f, full), args), resultOf(full))
	}
	return p.expr(f).with(builtins()[name].typ, args)
}

// importedCall ports a call of something imported, by its full name.
func (p *porter) importedCall(n *pyCall, full string) value {
	args, hasNames := n.Args, len(n.Keywords) > 0
	t := resultOf(full)
	switch full {
	case "os.environ.get", "os.getenv":
		if len(args) == 1 && !hasNames {
			return p.callOf(of(aStr).orNone(), "torchx.getenv", p.expr(args[0]))
		}
		if len(args) == 2 && !hasNames {
			name, v := p.expr(args[0]), p.expr(args[1])
			return p.callOf(of(aStr).join(v.typ), "torchx.getenv", name, v)
		}
	case "json.dumps":
		return p.callWith(n, "torchx.py.dumps", of(aStr))
	case "shlex.split":
		if len(args) != 1 || hasNames {
			return p.fail(n, "shlex.split takes only the text here")
		}
	case "math.log":
		if len(args) != 1 {
			return p.fail(n, "math.log takes one number here")
		}
	case "copy.copy", "copy.deepcopy":
		if len(args) != 1 {
			return p.fail(n, "%s wants one value", full)
		}
		return p.copyOf(n, args[0], full == "copy.deepcopy")
	case "torchx.specs.RetryPolicy":
		if len(args) == 1 && !hasNames {
			return p.expr(args[0])
		}
	case "logging.getLogger":
		return p.fail(n, "a logger is used as a value")
	case "os.path.join":
		if hasNames {
			return p.fail(n, "os.path.join takes no names")
		}
	case "typing.cast":
		if len(args) == 2 {
			return p.expr(args[1])
		}
	case "dataclasses.replace", "torchx.specs.replace":
		if len(args) > 0 {
			t = p.peek(args[0])
		}
	}
	v := p.imported(n.Func, full)
	p.checkNames(n, full)
	return primary(cat(v, p.arguments(n)), t)
}

// checkNames finds arguments that a function of specs does not take here.
func (p *porter) checkNames(n *pyCall, full string) {
	name, ok := strings.CutPrefix(full, "torchx.specs.")
	signature := p.known["specs."+name]
	if !ok || strings.Contains(signature, "**") {
		return
	}
	for _, k := range n.Keywords {
		if k.Arg != "" && !takes(signature, k.Arg) {
			p.fail(n, "specs.%s takes no %s here", name, k.Arg)
		}
	}
}

// takes reports whether a signature such as f(a, b = 1) has a parameter.
func takes(signature, name string) bool {
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	return slices.ContainsFunc(strings.Split(list, ","), func(part string) bool {
		part, _, _ = strings.Cut(part, "=")
		return strings.TrimSpace(part) == name
	})
}

// copyOf ports a copy of x.
func (p *porter) copyOf(n, x node, isDeep bool) value {
	v := p.expr(x)
	c := v.typ.class
	isFlat := v.typ.elem != nil && v.typ.elem.isPlain()
	switch {
	case c == aSpec || v.typ.isPlain() || c == aFloat:
		return v // such values never change
	case (c == aDict || c == aList) && (!isDeep || isFlat), c == aSet && !isDeep:
		return p.callOf(v.typ, string(c), v)
	}
	return p.fail(n, "what is copied here is not known: write dict(x) or list(x)")
}

// methodCall ports x.method(…).
func (p *porter) methodCall(n *pyCall, fn *pyAttribute) value {
	name := fn.Attr
	literal, isLiteral := constantOf(fn.Value, "str")
	if isLiteral && name == "format" {
		return p.formatMethod(n, fn.Form)
	}
	v := p.expr(fn.Value)
	switch {
	case name == "copy" && len(n.Args)+len(n.Keywords) == 0:
		return p.copyOf(n, fn.Value, false)
	case name == "join" && len(n.Args) == 1 && !isStarred(n.Args[0]):
		return v.with(of(aStr), ".join", bracket("(", []*doc{p.iterable(n.Args[0]).doc}, ")"))
	case name == "splitlines" && isLiteral && !strings.ContainsAny(literal, "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"):
		return v.with(listOf(of(aStr)), ".splitlines", p.arguments(n))
	case name == "sort" || name == "reverse":
		return p.fail(n, "lists have no %s in Starlark: write x = sorted(x) or x = reversed(x)", name)
	}
	t, ok := method(v.typ, name)
	if !ok {
		return p.fail(n, "the method .%s has no counterpart in Starlark%s", name, adviceOnMethods[name])
	}
	if _, ofText := methods()["str."+name]; ofText && len(n.Keywords) > 0 {
		return p.fail(n, ".%s takes no %s= in Starlark: give the value without its name", name, n.Keywords[0].Arg)
	}
	if v.typ.class == aDict && name == "get" {
		t = t.orNone()
		if len(n.Args) == 2 {
			t = v.typ.valueType().join(p.peek(n.Args[1]))
		}
	}
	return v.with(t, "."+name, p.arguments(n))
}
