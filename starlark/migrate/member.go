package migrate

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
		return primary("self_"+n.Attr, p.scope.types["self_"+n.Attr]), true
	}
	t := p.peek(n.Value)
	c := p.classOf(t)
	if c == nil || t.class == aStr && n.Attr != "value" && n.Attr != "name" {
		return value{}, false
	}
	if broken := p.globals[c.name].broken; broken != "" {
		return p.fail(n, "%s could not be ported (%s)", c.name, broken), true
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
	case !is(n.Func, "Attribute") || p.scope != nil && p.scope.self != "" && nameOf(n.Func.Value) == p.scope.self:
		return value{}, false
	}
	t = p.peek(n.Func.Value)
	c = p.classOf(t)
	if c == nil || c.methods[n.Func.Attr] == nil {
		return value{}, false
	}
	m := c.methods[n.Func.Attr]
	args := p.arguments(n)
	if t.class == anObject && !has(m, "staticmethod") && !has(m, "classmethod") {
		comma := ", "
		if args == "()" {
			comma = ""
		}
		args = "(" + p.expr(n.Func.Value).text + comma + args[1:]
	}
	return primary("_"+c.name+"_"+m.Name+args, p.result(m)), true
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
