package migrate

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
		return p.callOf(of(aPath), "_pure_path", p.call("path.dirname", v), arg().at(precProduct)+" + "+p.call("path.splitext", v)+"[1]")
	}
	return p.fail(n, ".%s() of a path has no counterpart: a component cannot read files; take the value as an argument", name)
}
