package migrate

import (
	"slices"
	"strings"
)

// callExpr ports a call.
func (p *porter) callExpr(n *node) value {
	if full := p.full(n.Func); full != "" {
		return p.importedCall(n, full)
	}
	name := nameOf(n.Func)
	if name != "" && p.isFree(name) {
		return p.builtinCall(n, name)
	}
	if v, ok := p.make(n); ok {
		return v
	}
	if is(n.Func, "Attribute") {
		return p.methodCall(n)
	}
	v := p.expr(n.Func)
	t := typ{}
	if g := p.global(name); g != nil && g.def != nil {
		t = p.result(g.def)
		p.checkGiven(n, g.def)
		if i := p.changedParam(g.def); i >= 0 && i < len(n.Args) {
			p.checkChanged(n, n.Args[i])
		}
	}
	return v.with(t, p.arguments(n))
}

// checkChanged finds a variable that a function of the file changes and that is used afterwards,
// which does not see the change here.
func (p *porter) checkChanged(n, arg *node) {
	name := nameOf(arg)
	if name == "" || p.scope == nil {
		return
	}
	u := p.usage(p.scope.def)
	for _, r := range u.reads[name] {
		isRenewed := slices.ContainsFunc(u.bindings[name], func(b *node) bool { return n.isWithin(b) && is(b, "Assign") })
		if before(n, r.use) && !r.use.isWithin(n) && !isRenewed && !u.alone[n] {
			p.fail(n, "%s is used in line %d after %s changed it, and does not see the change: write %s = %s(…)", name, r.use.Line, nameOf(n.Func), name, nameOf(n.Func))
			return
		}
	}
}

// arguments ports what is in the parentheses of a call: Starlark wants *args and
// **kwargs last.
func (p *porter) arguments(n *node) string {
	var list, last []string
	star := slices.IndexFunc(n.Args, isStarred)
	if star < 0 {
		star = len(n.Args)
	}
	for _, a := range n.Args[:star] {
		list = append(list, p.expr(a).text)
	}
	switch rest := n.Args[star:]; len(rest) {
	case 0:
	case 1:
		last = append(last, "*"+p.iterable(rest[0].Value).at(precPrimary))
	default:
		last = append(last, "*("+p.display(&node{Kind: "List", Line: n.Line, End: n.Line, Elts: rest}).text+")")
	}
	for _, k := range n.Keywords {
		if v := p.expr(k.Value); k.Arg != "" {
			list = append(list, k.Arg+" = "+v.text)
		} else {
			last = append(last, "**"+v.at(precPrimary))
		}
	}
	return bracket("(", append(list, last...), ")", n.End > n.Line && len(n.Args)+len(n.Keywords) > 1)
}

// isSole reports whether a call has one plain argument.
func isSole(n *node) bool { return len(n.Args) == 1 && len(n.Keywords) == 0 && !isStarred(n.Args[0]) }

// builtinCall ports a call of one of Python's own functions.
func (p *porter) builtinCall(n *node, name string) value {
	given := len(n.Args) + len(n.Keywords)
	switch {
	case name == "str" && given == 0:
		return primary(`""`, of(aStr))
	case name == "str" && isSole(n):
		return p.str(n, p.expr(n.Args[0]))
	case name == "repr" && isSole(n):
		return p.callOf(of(aStr), "torchx.py.repr", p.expr(n.Args[0]))
	case name == "format" && len(n.Args) == 2 && given == 2:
		return p.callOf(of(aStr), "torchx.py.format", p.expr(n.Args[0]), p.expr(n.Args[1]))
	case name == "hex" || name == "bin" || name == "oct":
		return p.callOf(of(aStr), "torchx.py.format", p.expr(n.Args[0]), `"#`+strings.ReplaceAll(name, "hex", "x")[:1]+`"`)
	case name == "round" && isSole(n):
		return p.callOf(of(anInt), "_round", p.expr(n.Args[0]))
	case name == "isinstance":
		return p.isinstance(n)
	case name == "sum" && len(n.Args) > 0:
		t := p.number(value{typ: p.peek(n.Args[0]).elemType()}).typ
		if given > 1 {
			t = typ{}
		}
		return primary(p.predeclared("_sum")+p.arguments(n), t)
	case name == "map" || name == "filter":
		return p.mapped(n, name)
	case name == "next" && len(n.Args) == 2 && is(n.Args[0], "GeneratorExp"):
		found, other := p.expr(n.Args[0]), p.expr(n.Args[1])
		return primary("("+found.text+" or ["+other.text+"])[0]", found.typ.elemType().join(other.typ))
	case name == "enumerate" && len(n.Args) == 1 && len(n.Keywords) == 1:
		over := p.iterable(n.Args[0])
		return p.callOf(listOf(item(of(anInt), over.typ.elemType())), "enumerate", over, p.expr(n.Keywords[0].Value))
	case name == "print":
		plain := *n
		plain.Keywords = slices.DeleteFunc(slices.Clone(n.Keywords), func(k *node) bool { return k.Arg == "file" || k.Arg == "flush" })
		n = &plain
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
	// orderless are the walkers whose result does not show the order of the items.
	orderless = " set sorted any all min max "
	// foreign are functions of Python's own without advice.
	foreign = " iter eval exec bytes callable classmethod compile complex dir globals hash help id issubclass locals object repr str sum format " +
		"property slice staticmethod delattr ascii bytearray memoryview "
)

// plainCall ports a call of a function that both languages have, with a result of type t.
func (p *porter) plainCall(n *node, name string, t typ) value {
	if len(n.Args) == 0 || !strings.Contains(walkers, " "+name+" ") || slices.ContainsFunc(n.Args, isStarred) {
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

// resultOfGiven is the type of what a function returns that does not iterate what it is
// given; t is that of other functions.
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
	case (t.class.isMutable() || t.class == aTuple) && t.elem == nil && len(n.Args)+len(n.Keywords) > 0:
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

// mapped ports map(f, xs) and filter(f, xs) as comprehensions.
func (p *porter) mapped(n *node, name string) value {
	if len(n.Args) != 2 || slices.ContainsFunc(n.Args, isStarred) {
		return p.fail(n, "%s with several lists cannot be ported: write a comprehension", name)
	}
	over := p.iterable(n.Args[1])
	x := &node{Kind: "Name", Line: n.Line, ID: p.unbound("x")}
	if f := n.Args[0]; is(f, "Lambda") && len(f.Args) == 1 {
		x.ID = f.Args[0].Arg
	}
	text, t := "", over.typ.elemType()
	p.within(map[string]typ{x.ID: t}, func() {
		v := p.expr(x)
		if !isNone(n.Args[0]) {
			v = p.apply(n, n.Args[0], x)
		}
		loop := " for " + x.ID + " in " + over.at(precOr)
		if name == "map" {
			text, t = "["+v.text+loop+"]", v.typ
		} else {
			text = "[" + x.ID + loop + " if " + v.at(precOr) + "]"
		}
	})
	return primary(text, listOf(t))
}

// apply ports f(x) for a variable x.
func (p *porter) apply(n, f, x *node) value {
	if is(f, "Lambda") && len(f.Args) == 1 {
		return p.expr(f.Body[0])
	}
	return p.expr(&node{Kind: "Call", Line: n.Line, End: n.Line, Func: f, Args: []*node{x}})
}

// importedCall ports a call of something imported, by its full name.
func (p *porter) importedCall(n *node, full string) value {
	args, hasNames := n.Args, len(n.Keywords) > 0
	t := functions()[full].typ
	switch full {
	case "os.environ.get", "os.getenv":
		if !hasNames && (len(args) == 1 || len(args) == 2) {
			return p.getenv(args)
		}
	case "shlex.split", "math.log":
		if len(args) != 1 || hasNames {
			return p.fail(n, "%s can be ported only with one argument", full)
		}
	case "copy.copy", "copy.deepcopy":
		if len(args) != 1 {
			return p.fail(n, "%s needs one argument", full)
		}
		return p.copyOf(n, args[0], full == "copy.deepcopy")
	case "torchx.specs.RetryPolicy":
		if isSole(n) {
			return p.expr(args[0])
		}
	case "re.match", "re.fullmatch":
		if parts := patternParts(n); parts != nil {
			return p.callOf(of(aBool), "_matches", bracket("[", parts, "]", false), p.expr(args[1]))
		}
	case "os.path.expanduser":
		if path, ok := constantOf(args[0], "str"); ok && (path == "~" || strings.HasPrefix(path, "~/")) {
			return p.atHome(path[1:])
		}
	case "os.getcwd":
		p.note(n.Line, "os.getcwd() becomes the environment variable PWD")
	case "typing.cast":
		if len(args) == 2 {
			return p.expr(args[1])
		}
	case "dataclasses.replace", "torchx.specs.replace":
		if len(args) > 0 {
			t = p.peek(args[0])
		}
	case "os.path.join":
		for _, a := range args {
			if p.peek(a).class == aPath {
				t = of(aStr)
			}
		}
	case "itertools.chain":
		return p.display(&node{Kind: "List", Line: n.Line, End: n.End, Elts: starredAll(args)})
	case "itertools.chain.from_iterable":
		return p.flattened(args[0])
	}
	v := p.imported(n.Func, full)
	p.checkNames(n, full)
	if full == "torchx.components.dist._noquote" {
		t = typ{class: aWrapped, spec: "noquote"}
	}
	return primary(v.text+p.arguments(n), t)
}

// getenv ports os.environ.get(name) and os.environ.get(name, default).
func (p *porter) getenv(args []*node) value {
	name := p.expr(args[0])
	if len(args) == 1 {
		return p.callOf(of(aStr).orNone(), "torchx.getenv", name)
	}
	v := p.expr(args[1])
	return p.callOf(of(aStr).join(v.typ), "torchx.getenv", name, v)
}

// flattened ports itertools.chain.from_iterable.
func (p *porter) flattened(n *node) value {
	x, list := p.unbound("x"), p.unbound("xs")
	return primary("["+x+" for "+list+" in "+p.iterable(n).at(precOr)+" for "+x+" in "+list+"]", of(aList).opened())
}

// atHome is a path below the user's home.
func (p *porter) atHome(rest string) value {
	parts := []string{p.call("_require_env", `"HOME"`)}
	if rest != "" {
		parts = append(parts, quote(rest, false))
	}
	return sum("Add", parts, of(aStr))
}

// patternParts takes a whole pattern of digits and plain characters apart, such as ^\d+x\d+$; nil
// for another one.
func patternParts(n *node) []string {
	pattern, ok := constantOf(n.argument(0, "pattern"), "str")
	if !ok || len(n.Args) != 2 || !strings.HasSuffix(pattern, "$") {
		return nil
	}
	var parts []string
	pattern = strings.TrimPrefix(strings.TrimSuffix(pattern, "$"), "^")
	for i, plain := range strings.Split(strings.ReplaceAll(pattern, "[0-9]+", `\d+`), `\d+`) {
		if i > 0 {
			parts = append(parts, "None")
		}
		if plain != "" && (i == 0 || !strings.Contains("0123456789", plain[:1])) && !strings.ContainsAny(plain, `\.+*?()[]{}|^$`) {
			parts = append(parts, quote(plain, false))
		} else if plain != "" || i > 0 && len(parts) > 1 && parts[len(parts)-2] == "None" {
			return nil
		}
	}
	return parts
}

// starredAll writes a star before each of the values.
func starredAll(list []*node) []*node {
	var out []*node
	for _, n := range list {
		out = append(out, &node{Kind: "Starred", Line: n.Line, End: n.End, Value: n})
	}
	return out
}

// checkNames finds arguments that a function of specs does not take here.
func (p *porter) checkNames(n *node, full string) {
	name, ok := strings.CutPrefix(full, "torchx.specs.")
	signature := p.known["specs."+name]
	if !ok || strings.Contains(signature, "**") {
		return
	}
	for _, k := range n.Keywords {
		if k.Arg != "" && !takes(signature, k.Arg) {
			p.fail(n, "specs.%s has no argument %s", name, k.Arg)
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
func (p *porter) copyOf(n, x *node, isDeep bool) value {
	v := p.expr(x)
	c := v.typ.class
	isFlat := v.typ.elem != nil && (v.typ.elem.isPlain() || v.typ.elem.class == aFloat)
	switch {
	case c == aSpec || v.typ.isPlain() || c == aFloat:
		return v // such values never change
	case (c == aDict || c == aList) && (!isDeep || isFlat), c == aSet && !isDeep:
		return p.callOf(v.typ, string(c), v)
	}
	return p.fail(n, "the type of the copied value is unknown: write dict(x) or list(x)")
}

// methodCall ports x.method(…).
func (p *porter) methodCall(n *node) value {
	name, of1 := n.Func.Attr, n.Func.Value
	literal, isLiteral := constantOf(of1, "str")
	if name == "format" && n.Func.Form != nil && (isLiteral || p.global(nameOf(of1)) != nil) {
		return p.formatMethod(n, n.Func.Form)
	}
	if is(of1, "Call") && nameOf(of1.Func) == "str" && isSole(of1) && name == "zfill" && isSole(n) && p.peek(of1.Args[0]).class == anInt {
		width := p.str(n, p.expr(n.Args[0]))
		return p.callOf(of(aStr), "torchx.py.format", p.expr(of1.Args[0]), value{`"0" + ` + width.at(precProduct) + ` + "d"`, precSum, typ{}})
	}
	v := p.expr(of1)
	form := name
	if isSole(n) {
		form += "/1"
	}
	switch {
	case v.typ.class == aPath:
		return p.pathMethod(n, v)
	case name == "copy" && len(n.Args)+len(n.Keywords) == 0:
		return p.copyOf(n, of1, false)
	case form == "join/1":
		return v.with(of(aStr), ".join("+p.iterable(n.Args[0]).text+")")
	case form == "ljust/1" || form == "rjust/1" || form == "center/1":
		align := map[string]string{"l": "<", "r": ">", "c": "^"}[name[:1]]
		if width, ok := constantOf(n.Args[0], "int"); ok && name != "center" {
			return p.callOf(of(aStr), "torchx.py.format", v, quote(align+width, false))
		}
	case name == "splitlines" && isLiteral && !strings.ContainsAny(literal, "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"):
		return v.with(listOf(of(aStr)), ".splitlines"+p.arguments(n))
	case name == "sort" || name == "reverse":
		return p.refuse(n, "."+name)
	}
	m, ok := method(v.typ, name)
	if !ok {
		if advice := refusals()["."+name]; advice != "" {
			return p.fail(n, "%s", advice)
		}
		return p.fail(n, "the method .%s has no counterpart in Starlark", name)
	}
	if _, ofText := methods()["str."+name]; ofText && len(n.Keywords) > 0 {
		return p.fail(n, ".%s has no argument %s= in Starlark: give the value without its name", name, n.Keywords[0].Arg)
	}
	t := m.typ
	if v.typ.class == aDict && name == "get" {
		t = t.orNone()
		if len(n.Args) == 2 {
			t = v.typ.valueType().join(p.peek(n.Args[1]))
		}
	}
	_, starlark, _ := strings.Cut("."+m.starlark, ".")
	if i := strings.LastIndexByte(starlark, '.'); i >= 0 {
		starlark = starlark[i+1:]
	}
	return v.with(t, "."+starlark+p.arguments(n))
}
