package migrate

import (
	"strconv"
	"strings"
)

// enum is a class of enumerated values: its members are constants.
type enum struct {
	values map[string]*node
	order  []string
	// text: a member is its value (enum.StrEnum).
	text bool
}

func itoa(i int) string { return strconv.Itoa(i) }

// collectEnum notes a class that is an Enum of constants.
func (p *porter) collectEnum(class *node) {
	g := p.globals[class.text("name")]
	e := &enum{values: map[string]*node{}}
	is := false
	for _, b := range class.list("bases") {
		switch full := p.full(b); {
		case full == "enum.Enum":
			is = true
		case full == "enum.StrEnum":
			is, e.text = true, true
		case b.isName("str") || b.isName("int"):
			g.broken = "a member of an Enum that is a " + b.text("id") + " too has another text in each version of Python: use StrEnum or Enum"
		default:
			g.broken = unsupported(class)
		}
	}
	if !is && g.broken == "" {
		g.broken = unsupported(class)
	}
	for i, s := range class.list("body") {
		switch {
		case s.is("Pass"), i == 0 && s.is("Expr") && s.node("value").is("Constant"):
		case s.is("Assign") && len(s.list("targets")) == 1 && s.list("targets")[0].is("Name") && s.node("value").is("Constant"):
			name := s.list("targets")[0].text("id")
			e.values[name] = s.node("value")
			e.order = append(e.order, name)
		case g.broken == "":
			g.broken = "an Enum can have constants only: " + unsupported(class)
		}
	}
	if g.broken == "" {
		g.enum, g.typ = e, typ{class: anEnum, spec: class.text("name")}
	}
}

// enumClass ports an Enum as a struct of its members.
func (p *porter) enumClass(w *writer, class *node) {
	g := p.globals[class.text("name")]
	if g.broken != "" {
		p.fail(class, "%s", g.broken)
		return
	}
	var members []*doc
	for _, name := range g.enum.order {
		v := p.expr(g.enum.values[name])
		if !g.enum.text {
			v.doc = join(text(p.predeclared("struct")), bracket("(", []*doc{text("name = " + quote(name, false)), join(text("value = "), v.doc)}, ")"))
		}
		members = append(members, join(text(name+" = "), v.doc))
	}
	p.trailingOf(class)
	w.doc(g.name+" = ", join(text(p.predeclared("struct")), bracket("(", members, ")")), "")
}

// member ports Mode.FAST.
func (p *porter) member(n *node) (value, bool) {
	base := n.node("value")
	if !n.is("Attribute") || !base.is("Name") || p.local(base.text("id")) != nil {
		return value{}, false
	}
	g := p.globals[base.text("id")]
	if g == nil || g.enum == nil {
		return value{}, false
	}
	name := n.text("attr")
	c := g.enum.values[name]
	if c == nil {
		return p.fail(n, "%s has no member %s%s", g.name, name, map[bool]string{true: " that can be ported"}[strings.HasPrefix(name, "__")]), true
	}
	t := typ{class: aMember, spec: base.text("id")}
	if g.enum.text {
		t = p.expr(c).typ
	}
	return primary(text(g.name+"."+name), t), true
}

// memberPart ports .value and .name of a member.
func (p *porter) memberPart(n *node, v value, name string) value {
	g := p.globals[v.typ.spec]
	switch {
	case name == "name":
		return primary(join(v.at(precPrimary), text(".name")), of(aStr))
	case name != "value":
		return p.fail(n, "an Enum's member has only .name and .value")
	}
	t := of(aNone)
	for _, c := range g.enum.values {
		t = t.join(p.peek(c))
	}
	return primary(join(v.at(precPrimary), text(".value")), t)
}
