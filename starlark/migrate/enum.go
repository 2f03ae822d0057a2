package migrate

import "strings"

// enum is a class of enumerated values: its members are constants.
type enum struct {
	values map[string]node
	order  []string
	isText bool // a member is its value (enum.StrEnum)
}

// collectEnum notes a class that is an Enum of constants.
func (p *porter) collectEnum(class *pyClassDef) {
	g := p.globals[class.Name]
	e := &enum{values: map[string]node{}}
	isEnum := false
	for _, b := range class.Bases {
		full, name := p.full(b), nameOf(b)
		switch {
		case full == "enum.Enum" || full == "enum.StrEnum":
			isEnum, e.isText = true, e.isText || full == "enum.StrEnum"
		case name == "str" || name == "int":
			g.broken = "a member of an Enum that is a " + name + " too has another text in each version of Python: use StrEnum or Enum"
		default:
			g.broken = unsupported(class)
		}
	}
	if !isEnum && g.broken == "" {
		g.broken = unsupported(class)
	}
	for i, s := range class.Body {
		name, c := memberOf(s)
		switch x, _ := s.(*pyExpr); {
		case s.at().Kind == "Pass", i == 0 && x != nil && x.Value.at().Kind == "Constant":
		case name != "":
			e.values[name] = c
			e.order = append(e.order, name)
		case g.broken == "":
			g.broken = "an Enum can have constants only: " + unsupported(class)
		}
	}
	if g.broken == "" {
		g.enum, g.typ = e, typ{class: anEnum, spec: class.Name}
	}
}

// memberOf returns the name and value of a member that a statement of a class defines.
func memberOf(s node) (string, *pyConstant) {
	if a, ok := s.(*pyAssign); ok && a.Kind == "Assign" && len(a.Targets) == 1 {
		if c, ok := a.Value.(*pyConstant); ok {
			return nameOf(a.Targets[0]), c
		}
	}
	return "", nil
}

// enumClass ports an Enum as a struct of its members.
func (p *porter) enumClass(w *writer, class *pyClassDef) {
	g := p.globals[class.Name]
	if g.broken != "" {
		p.fail(class, "%s", g.broken)
		return
	}
	var members []*doc
	for _, name := range g.enum.order {
		d := p.expr(g.enum.values[name]).doc
		if !g.enum.isText {
			d = p.call("struct", "name = "+quote(name, false), cat("value = ", d))
		}
		members = append(members, cat(name+" = ", d))
	}
	p.commentsUpTo(class.End)
	w.statement(g.name+" = ", cat(p.predeclared("struct"), bracket("(", members, ")")), "")
}

// member ports Mode.FAST.
func (p *porter) member(n node) (value, bool) {
	a, ok := n.(*pyAttribute)
	if !ok {
		return value{}, false
	}
	g := p.global(nameOf(a.Value))
	if g == nil || g.enum == nil {
		return value{}, false
	}
	c := g.enum.values[a.Attr]
	if c == nil {
		return p.fail(n, "%s has no member %s%s", g.name, a.Attr, map[bool]string{true: " that can be ported"}[strings.HasPrefix(a.Attr, "__")]), true
	}
	t := typ{class: aMember, spec: nameOf(a.Value)}
	if g.enum.isText {
		t = p.expr(c).typ
	}
	return primary(text(g.name+"."+a.Attr), t), true
}

// memberPart ports .value and .name of a member.
func (p *porter) memberPart(n node, v value, name string) value {
	t := of(aStr)
	switch name {
	case "name":
	case "value":
		t = of(aNone)
		for _, c := range p.globals[v.typ.spec].enum.values {
			t = t.join(p.peek(c))
		}
	default:
		return p.fail(n, "an Enum's member has only .name and .value")
	}
	return primary(cat(v.at(precPrimary), "."+name), t)
}
