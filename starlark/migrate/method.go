package migrate

import "strings"

// copyOf ports a copy of x.
func (p *porter) copyOf(n, x *node, isDeep bool) value {
	v := p.expr(x)
	c := v.typ.class
	isFlat := v.typ.elem != nil && (v.typ.elem.isPlain() || v.typ.elem.class == aFloat)
	switch {
	case c == aSpec || v.typ.isPlain() || c == aFloat:
		return v // these values never change
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
