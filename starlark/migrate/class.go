package migrate

import (
	"slices"
	"strings"
)

// classDef ports a class.
func (p *porter) classDef(w *writer, n *node) {
	g := p.globals[n.Name]
	c := g.class
	if g.broken != "" {
		p.fail(n, "%s: %s", n.Name, g.broken)
		return
	}
	var members []string
	for _, name := range c.order {
		text := p.expr(c.constants[name]).text
		if c.isEnum && !c.isText {
			text = p.call("struct", "name = "+quote(name, false), "value = "+text)
		}
		members = append(members, name+" = "+text)
	}
	if c.isWrapper {
		w.line("def " + g.name + "(text):")
		w.line("    return " + p.call("struct", n.Name+" = text"))
		p.commentsUpTo(n.End)
		return
	}
	if len(members) > 0 || c.isEnum {
		w.line(g.name + " = " + p.predeclared("struct") + bracket("(", members, ")", true))
	}
	for _, s := range n.Body {
		if s.Kind == "FunctionDef" && s.Name != "__init__" {
			p.method(w, c, s)
		}
	}
	if !c.isEnum && p.called[n.Name] {
		p.constructor(w, c)
	}
	p.commentsUpTo(n.End)
}

// method ports a method as a function of the object.
func (p *porter) method(w *writer, c *classInfo, s *node) {
	plain := *s
	plain.DecoratorList = slices.DeleteFunc(slices.Clone(s.DecoratorList), func(d *node) bool {
		return slices.Contains([]string{"property", "staticmethod", "classmethod"}, nameOf(d)) ||
			p.full(d) == "functools.cached_property"
	})
	types := map[string]typ{}
	if len(s.Args) > 0 && !has(s, "staticmethod") {
		types[s.Args[0].Arg] = c.instance()
		if has(s, "classmethod") {
			types[s.Args[0].Arg] = p.globals[c.name].typ
			plain.Args = s.Args[1:]
		}
	}
	p.scope = &scope{def: &plain, types: types, places: map[string][]*node{}}
	p.define(w, &plain, "_"+c.name+"_"+s.Name, false)
	p.scope = nil
	w.line("")
}

// constructor ports __init__, or the constructor of annotated fields.
func (p *porter) constructor(w *writer, c *classInfo) {
	init := c.methods["__init__"]
	if init == nil {
		init = &node{Kind: "FunctionDef", Name: "__init__", Args: c.fields}
	}
	args := init.Args
	plain := *init
	self := ""
	if len(c.fields) == 0 && len(args) > 0 {
		self, plain.Args = args[0].Arg, args[1:]
	}
	p.scope = &scope{def: &plain, types: map[string]typ{}, self: self, owner: c, places: map[string][]*node{}}
	var lines, fields []string
	if self == "" {
		plain.Args = slices.Clone(c.fields)
		for i := range plain.Args {
			own := *plain.Args[i] // which field changes
			f := &own
			plain.Args[i] = f
			line, field := p.field(f)
			fields = append(fields, f.Arg+" = "+field)
			if line != "" {
				lines = append(lines, line)
				f.Default = &node{Kind: "Constant", Type: "NoneType", Text: "None", Line: f.Line}
			}
		}
	}
	walk(&plain, func(n *node) bool {
		for _, t := range n.Targets {
			if is(t, "Attribute") && self != "" && nameOf(t.Value) == self &&
				!slices.Contains(fields, t.Attr+" = self_"+t.Attr) {
				fields = append(fields, t.Attr+" = self_"+t.Attr)
			}
		}
		return true
	})
	p.define(w, &plain, "_new_"+c.name, false)
	for _, l := range lines {
		w.line("    " + l)
	}
	made := p.call("struct") // no fields
	if len(fields) > 0 {
		made = p.predeclared("struct") + bracket("(", fields, ")", false)
	}
	if c.methods["__post_init__"] != nil {
		w.line("    self = " + made)
		w.line("    _" + c.name + "___post_init__(self)")
		made = "self"
	}
	w.line("    return " + made)
	p.scope = nil
}

// soFar returns the object as __init__ has built it before a call of one of its methods.
func (p *porter) soFar(call *node) string {
	var fields []string
	walk(p.scope.def, func(n *node) bool {
		for _, t := range n.Targets {
			if field := t.Attr + " = self_" + t.Attr; p.isOwnField(t) && before(n, call) && !call.isWithin(n) && !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
		return true
	})
	return p.predeclared("struct") + bracket("(", fields, ")", false)
}

// field returns the value of a field of a dataclass in its constructor. With a default factory it
// also returns a statement, and the parameter is None by default.
func (p *porter) field(f *node) (line, text string) {
	call := f.Default
	if !is(call, "Call") || p.full(call.Func) != "dataclasses.field" {
		return "", f.Arg
	}
	factory := call.keyword("default_factory")
	if f.Default = call.keyword("default"); factory == nil {
		return "", f.Arg
	}
	var made string
	if is(factory, "Lambda") {
		made = p.expr(factory.Body[0]).text
	} else {
		made = p.expr(&node{Kind: "Call", Line: call.Line, Func: factory}).text
	}
	return f.Arg + " = " + made + " if " + f.Arg + " == None else " + f.Arg, f.Arg
}

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
