package migrate

import (
	"slices"
	"strings"
)

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
	if is(of1, "Call") && nameOf(of1.Func) == "str" && isSole(of1) && name == "zfill" &&
		isSole(n) && p.peek(of1.Args[0]).class == anInt {
		width := p.str(n, p.expr(n.Args[0]))
		return p.callOf(of(aStr), "torchx.py.format", p.expr(of1.Args[0]),
			value{`"0" + ` + width.at(precProduct) + ` + "d"`, precSum, typ{}})
	}
	v := p.expr(of1)
	form := name
	if isSole(n) {
		form += "/1"
	}
	switch {
	case v.typ.class == aProblem:
		return v
	case v.typ.class == aPath:
		return p.pathMethod(n, v)
	case v.typ.class == aMatch:
		return p.matchMethod(n, v)
	case name == "copy" && len(n.Args)+len(n.Keywords) == 0:
		return p.copyOf(n, of1, false)
	case form == "join/1":
		return v.with(of(aStr), ".join("+p.iterable(n.Args[0]).text+")")
	case form == "ljust/1" || form == "rjust/1" || form == "center/1":
		return p.padded(n, v, "")
	case len(n.Args) == 2 && len(n.Keywords) == 0 && (name == "ljust" || name == "rjust"):
		fill, _ := constantOf(n.Args[1], "str")
		return p.padded(n, v, fill)
	case name == "splitlines" && isLiteral &&
		!strings.ContainsAny(literal, "\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"):
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
		return p.fail(n, ".%s has no argument %s= in Starlark: give the value without its name",
			name, n.Keywords[0].Arg)
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

// padded ports .ljust(width, fill) and .rjust.
func (p *porter) padded(n *node, v value, fill string) value {
	align := map[string]string{"ljust": "<", "rjust": ">"}[n.Func.Attr]
	width, ok := constantOf(n.Args[0], "int")
	if !ok || align == "" {
		return p.fail(n, ".%s can be ported only with a number", n.Func.Attr)
	}
	return p.callOf(of(aStr), "torchx.py.format", v, quote(fill+align+width, false))
}

// matchMethod ports a method of a match of a regular expression.
func (p *porter) matchMethod(n *node, v value) value {
	switch name := n.Func.Attr; {
	case name == "group" && len(n.Args) == 0:
		return v.with(of(aStr), "[0]")
	case name == "group" && isSole(n):
		return v.with(of(aStr).orNone(), "["+p.expr(n.Args[0]).text+"]")
	case name == "groups" && len(n.Args) == 0:
		return primary("tuple(["+v.text+"[i + 1] for i in range(len(["+"None for k in "+v.text+" if type(k) == \"int\"]) - 1)])", typ{class: aTuple})
	case name == "groupdict" && len(n.Args) == 0:
		return primary("{k: x for k, x in "+v.text+".items() if type(k) == \"string\"}", of(aDict).opened())
	}
	return p.fail(n, "the method .%s of a match has no counterpart: write .group(…)", n.Func.Attr)
}

// classOf returns the class of the file that a type belongs to, nil for other types.
func (p *porter) classOf(t typ) *classInfo {
	if g := p.globals[t.spec]; g != nil && t.spec != "" {
		return g.class
	}
	return nil
}

// member ports a member of a class or of an object: Mode.FAST, self.field, x.property.
func (p *porter) member(n *node) (value, bool) {
	if p.scope != nil && p.scope.self != "" && nameOf(n.Value) == p.scope.self {
		if c := p.scope.owner; c.constants[n.Attr] != nil && !strings.Contains(p.soFar(n), n.Attr+" = self_"+n.Attr) {
			return primary(p.globals[c.name].name+"."+n.Attr, p.peek(c.constants[n.Attr])), true
		}
		return primary("self_"+n.Attr, p.scope.types["self_"+n.Attr]), true
	}
	t, c := p.owner(n)
	if c == nil || t.class == aStr && n.Attr != "value" && n.Attr != "name" {
		return value{}, false
	}
	if broken := p.globals[c.name].broken; broken != "" {
		return p.fail(n, "%s could not be ported (%s)", c.name, broken), true
	}
	if n.Attr == "_fields" {
		return c.fieldNames(), true
	}
	_, isConstant := c.constants[n.Attr]
	switch v := p.expr(n.Value); {
	case isConstant && (t.class == aClass || t.class == anObject):
		result := c.instance()
		if !c.isEnum {
			result = p.peek(c.constants[n.Attr])
		}
		return primary(p.globals[c.name].name+"."+n.Attr, result), true
	case t.class == aMember && n.Attr == "name":
		return v.with(of(aStr), ".name"), true
	case t.class == aMember && n.Attr == "value":
		value := of(aNone)
		for _, x := range c.constants {
			value = value.join(p.peek(x))
		}
		return v.with(value, ".value"), true
	case t.class == aStr && n.Attr == "value":
		v.typ = of(aStr)
		return v, true
	case t.class == aStr && is(n.Value, "Attribute"):
		return primary(quote(n.Value.Attr, false), of(aStr)), true
	case t.class == aStr:
		return value{}, false
	case t.class == anObject && (has(c.methods[n.Attr], "property") || has(c.methods[n.Attr], "cached_property")):
		return primary("_"+c.name+"_"+n.Attr+"("+v.text+")", p.result(c.methods[n.Attr])), true
	case t.class == anObject && c.methods[n.Attr] == nil:
		for _, f := range c.fields {
			if f.Arg == n.Attr {
				loose := p.annotated(f.Annotation)
				loose.loose = true
				return v.with(loose, "."+n.Attr), true
			}
		}
		return v.with(typ{}, "."+n.Attr), true
	case c.isEnum:
		return p.fail(n, "%s has no member %s", c.name, n.Attr), true
	}
	return p.fail(n, "method %s of %s cannot be used as a value: call it", n.Attr, c.name), true
}

// owner returns the type of the object of a member, and its class: nil for other types.
func (p *porter) owner(n *node) (typ, *classInfo) {
	t := p.peek(n.Value)
	c := p.classOf(t)
	if c == nil && t.class == unknown {
		if c = p.onlyClass(n.Attr); c != nil && has(c.methods[n.Attr], "property") {
			return typ{class: anObject, spec: c.name}, c
		}
		return t, nil
	}
	return t, c
}

// fieldNames returns a tuple of the names of all fields.
func (c *classInfo) fieldNames() value {
	var names []string
	for _, f := range c.fields {
		names = append(names, quote(f.Arg, false))
	}
	return primary(bracket("(", append(names, ""), ")", false), typ{class: aTuple})
}

// onlyClass returns the class of the file with a method that no other class and no builtin type
// has: an object with this method must be of the class. It returns nil if there is none.
func (p *porter) onlyClass(method string) *classInfo {
	var found *classInfo
	for name := range methods() {
		if strings.HasSuffix(name, "."+method) {
			return nil
		}
	}
	for _, g := range p.globals {
		switch c := g.class; {
		case c == nil || c.methods[method] == nil && c.constants[method] == nil && !slices.ContainsFunc(c.fields, func(f *node) bool { return f.Arg == method }):
		case found != nil || c.methods[method] == nil || g.broken != "":
			return nil
		default:
			found = c
		}
	}
	return found
}

// members lists the members of an Enum.
func (p *porter) members(c *classInfo) []string {
	var out []string
	for _, name := range c.order {
		out = append(out, p.globals[c.name].name+"."+name)
	}
	return out
}

// lookup ports Mode("fast") and Mode["FAST"].
func (p *porter) lookup(c *classInfo, by value, isName bool) value {
	var entries []string
	for i, m := range p.members(c) {
		key := quote(c.order[i], false)
		if !isName {
			key = p.expr(c.constants[c.order[i]]).text
		}
		entries = append(entries, key+": "+m)
	}
	return primary(bracket("{", entries, "}", false)+"["+by.text+"]", c.instance())
}

// make ports a call of a class of the file or of its method; it returns false for other calls.
func (p *porter) make(n *node) (value, bool) {
	t := p.peek(n.Func)
	c := p.classOf(t)
	switch {
	case c != nil && t.class == aClass && c.isEnum && isSole(n):
		return p.lookup(c, p.expr(n.Args[0]), false), true
	case c != nil && t.class == aClass && c.isWrapper:
		return primary(p.globals[c.name].name+p.arguments(n), c.instance()), true
	case c != nil && t.class == aClass:
		p.expr(n.Func)
		return primary("_new_"+c.name+p.arguments(n), c.instance()), true
	case is(n.Func, "Attribute") && p.scope != nil && p.scope.self != "" && nameOf(n.Func.Value) == p.scope.self && p.scope.owner.methods[n.Func.Attr] != nil:
		m := p.scope.owner.methods[n.Func.Attr]
		return primary("_"+p.scope.owner.name+"_"+m.Name+withFirst(p.soFar(n), p.arguments(n)), p.result(m)), true
	case !is(n.Func, "Attribute") || p.scope != nil && p.scope.self != "" &&
		nameOf(n.Func.Value) == p.scope.self:
		return value{}, false
	}
	t = p.peek(n.Func.Value)
	if c = p.classOf(t); c == nil && t.class == unknown {
		c = p.onlyClass(n.Func.Attr)
		t.class = anObject
	}
	switch isNamed := c != nil && t.class == anObject && len(c.fields) > 0; {
	case isNamed && n.Func.Attr == "_asdict":
		return p.fieldsOf(n, p.expr(n.Func.Value)), true
	case isNamed && n.Func.Attr == "_replace":
		return p.replaced(n, n.Func.Value, c), true
	case c == nil || c.methods[n.Func.Attr] == nil:
		return value{}, false
	}
	m := c.methods[n.Func.Attr]
	args := p.arguments(n)
	if t.class == anObject && !has(m, "staticmethod") && !has(m, "classmethod") {
		args = withFirst(p.expr(n.Func.Value).text, args)
	}
	return primary("_"+c.name+"_"+m.Name+args, p.result(m)), true
}

// withFirst adds an argument in front of "(…)".
func withFirst(first, args string) string {
	if args == "()" {
		return "(" + first + ")"
	}
	return "(" + first + ", " + args[1:]
}

// result returns the result type of a function of the file, by its annotation.
func (p *porter) result(def *node) typ {
	t := p.annotated(def.Returns)
	t.loose = true
	if i := p.changedParam(def); i >= 0 && t.class != aSpec {
		t = p.annotated(def.Args[i].Annotation)
	}
	return t
}
