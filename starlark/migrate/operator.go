package migrate

import "slices"

// number converts a bool to an int, as Python's arithmetic does.
func (p *porter) number(v value) value {
	if v.typ.class == aBool {
		return p.callOf(of(anInt), "int", v)
	}
	return v
}

func (p *porter) binary(n *node) value {
	op, ok := operators[n.Op]
	switch {
	case n.Power != "":
		return primary(n.Power, of(anInt))
	case n.Op == "Pow" && p.peek(n.Left).isNumber() && p.peek(n.Right).class == anInt:
		return p.callOf(p.peek(n.Left), "_power", p.expr(n.Left), p.expr(n.Right))
	case n.Op == "Pow":
		return p.refuse(n, n.Op)
	case !ok:
		return p.fail(n, "the operator %s has no counterpart", n.Op)
	case n.Op == "Mod":
		if _, isText := constantOf(n.Left, "str"); isText {
			return p.refuse(n, "percent form")
		}
		if n.Left.Kind == "JoinedStr" {
			return p.fail(n, "%% after an f-string cannot be ported: put the values into the f-string")
		}
	}
	left, right := p.expr(n.Left), p.expr(n.Right)
	if n.Op == "Div" && (left.typ.class == aPath || right.typ.class == aPath) {
		return p.callOf(of(aPath), "_pure_path", left, right)
	}
	if op.prec >= precSum {
		left, right = p.number(left), p.number(right)
	}
	if n.Op == "Mod" && !left.typ.isNumber() {
		return p.refuse(n, "percent")
	}
	return value{left.at(op.prec) + " " + op.text + " " + right.at(op.prec+1), op.prec, arithmetic(op.text, left.typ, right.typ)}
}

func (p *porter) boolean(n *node) value {
	op := operators[n.Op]
	var parts []string
	var t typ
	for i, x := range n.Values {
		v := p.expr(x)
		if i == 0 {
			t = v.typ
		} else {
			t = t.join(v.typ)
			t.null = v.typ.null || n.Op == "And" && t.null // None is false, so `or` continues
		}
		parts = append(parts, v.at(op.prec+min(i, 1)))
	}
	return sum(n.Op, parts, t)
}

// compare ports a chain of comparisons. It writes the middle twice, so that must be simple.
func (p *porter) compare(n *node) value {
	left := n.Left
	var parts []string
	for i, op := range n.Ops {
		if i > 0 && !is(left, "Name", "Constant") {
			return p.refuse(left, "chain")
		}
		parts = append(parts, p.comparison(n, left, op, n.Comparators[i]))
		left = n.Comparators[i]
	}
	v := sum("And", parts, of(aBool))
	v.prec = min(v.prec, precCompare)
	return v
}

func (p *porter) comparison(n, left *node, kind string, right *node) string {
	_, isBool := constantOf(right, "bool")
	if (kind == "Is" || kind == "IsNot") && !isBool && !isNone(right) {
		return p.refuse(n, "is").text
	}
	if isNot := map[string]string{"In": " != None", "NotIn": " == None"}[kind]; isNot != "" &&
		p.full(right) == "os.environ" {
		return p.call("torchx.getenv", p.expr(left)) + isNot
	}
	op, a, b := operators[kind], p.expr(left), p.expr(right)
	if a.typ.isNumber() && kind != "Is" && kind != "IsNot" {
		b = p.number(b)
	} else if b.typ.isNumber() {
		a = p.number(a)
	}
	return a.at(op.prec+1) + " " + op.text + " " + b.at(op.prec+1)
}

// callExpr ports a call.
func (p *porter) callExpr(n *node) value {
	if full := p.full(n.Func); full != "" && constants()[p.baseOf(n.Func)].typ.class != aStr {
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

// checkChanged refuses a use of a variable after a function of the file changed it: in Starlark it
// would not see the change.
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

// arguments ports the arguments of a call. Starlark needs *args and **kwargs last.
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
	return bracket("(", append(list, last...), ")",
		n.End > n.Line && len(n.Args)+len(n.Keywords) > 1)
}

// isSole reports whether a call has one plain argument.
func isSole(n *node) bool { return len(n.Args) == 1 && len(n.Keywords) == 0 && !isStarred(n.Args[0]) }

// baseOf returns the full name of x in x.method, "" if it was not imported.
func (p *porter) baseOf(n *node) string {
	if n.Kind != "Attribute" {
		return ""
	}
	return p.full(n.Value)
}
