package migrate

import "slices"

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
	return bracket("(", append(list, last...), ")", n.End > n.Line && len(n.Args)+len(n.Keywords) > 1)
}

// isSole reports whether a call has one plain argument.
func isSole(n *node) bool { return len(n.Args) == 1 && len(n.Keywords) == 0 && !isStarred(n.Args[0]) }
