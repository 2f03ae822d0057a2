package migrate

import (
	"slices"
	"strings"
)

// classInfo is a class of the file. Its constants become a struct with the name of the class,
// objects become structs, the constructor becomes _new_CLASS and a method _CLASS_METHOD.
type classInfo struct {
	name      string
	constants map[string]*node
	order     []string // of the constants
	fields    []*node  // annotated, as parameters
	methods   map[string]*node
	isEnum    bool
	isText    bool // an Enum whose members are their values, of type str
	isLoose   bool // isText, and str() of a member differs between Python versions
	isWrapper bool // derived from str, without members
}

// instance returns the type of an object of the class.
func (c *classInfo) instance() typ {
	switch {
	case c.isWrapper:
		return typ{class: aWrapped, spec: c.name}
	case c.isText:
		return typ{class: aStr, spec: c.name, loose: c.isLoose}
	case c.isEnum:
		return typ{class: aMember, spec: c.name}
	}
	return typ{class: anObject, spec: c.name}
}

// choices returns the type of an argument whose values are the members of an Enum of texts.
func (c *classInfo) choices() string {
	var values []string
	for _, name := range c.order {
		values = append(values, quote(c.constants[name].Text, false))
	}
	return "enum(" + strings.Join(values, ", ") + ")"
}

// collectClass notes a class of the file.
func (p *porter) collectClass(n *node) {
	g := p.globals[n.Name]
	c := &classInfo{name: n.Name, constants: map[string]*node{}, methods: map[string]*node{}}
	g.class, g.typ = c, typ{class: aClass, spec: n.Name}
	isText, isRecord := false, false
	for _, b := range n.Bases {
		switch full := p.full(b); {
		case full == "enum.Enum" || full == "enum.IntEnum":
			c.isEnum = true
		case full == "enum.StrEnum":
			c.isEnum, c.isText = true, true
		case full == "typing.NamedTuple" || full == "typing.Protocol" || nameOf(b) == "object":
			isRecord = full == "typing.NamedTuple"
		case nameOf(b) == "str":
			isText = true
		default:
			g.broken = refusals()["base"]
		}
	}
	if isText && c.isEnum {
		c.isText, c.isLoose = true, true
	}
	for _, d := range n.DecoratorList {
		if is(d, "Call") {
			d = d.Func
		}
		if full := p.full(d); full != "dataclasses.dataclass" && full != "enum.unique" {
			g.broken = refusals()["decorator"]
		} else {
			isRecord = isRecord || full == "dataclasses.dataclass"
		}
	}
	for i, s := range n.Body {
		p.collectMember(c, g, s, i, isRecord)
	}
	c.isWrapper = isText && !c.isEnum && len(c.order)+len(c.fields)+len(c.methods) == 0
	if isText && !c.isEnum && !c.isWrapper || c.isEnum && len(c.methods) > 0 {
		g.broken = refusals()["base"]
	}
}

func (p *porter) collectMember(c *classInfo, g *global, s *node, i int, isRecord bool) {
	name := ""
	if len(s.Targets) == 1 {
		name = nameOf(s.Targets[0])
	}
	switch {
	case is(s, "Pass"), i == 0 && is(s, "Expr"), is(s, "Expr") && is(s.Value, "Constant"):
	case is(s, "AnnAssign") && name != "" && isRecord && p.generic(s.Annotation) != "classvar":
		c.fields = append(c.fields, &node{Kind: "arg", Line: s.Line, End: s.End, Arg: name, Annotation: s.Annotation, Default: s.Value})
	case is(s, "Assign", "AnnAssign") && name != "" && s.Value != nil:
		if c.constants[name] = s.Value; c.isEnum && !is(s.Value, "Constant") && g.broken == "" {
			g.broken = "an Enum can have only constants"
		}
		c.order = append(c.order, name)
	case is(s, "FunctionDef"):
		c.methods[s.Name] = s
	case g.broken == "":
		g.broken = refusals()["class body"]
	}
}

// has reports whether a method is decorated with a name such as "property".
func has(method *node, decorator string) bool {
	return method != nil && slices.ContainsFunc(method.DecoratorList, func(d *node) bool { return nameOf(d) == decorator })
}
