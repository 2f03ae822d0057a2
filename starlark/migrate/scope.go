package migrate

import "strings"

// global is a name that the file defines.
type global struct {
	name   string // in the port
	def    *node  // of a function
	class  *classInfo
	value  *node // what it is assigned
	typ    typ
	broken string // why it could not be ported
}

// scope is a function, or a lambda or comprehension in it, that is being ported.
type scope struct {
	def    *node
	parent *scope
	types  map[string]typ // of parameters and local variables
	self   string         // in __init__, the name of the object, whose fields are variables there
	places map[string][]*node
	result string // what a function returns that changes its parameter
}

// within ports what has variables of its own, such as a comprehension.
func (p *porter) within(types map[string]typ, port func()) {
	outer := p.scope
	p.scope = &scope{parent: outer, types: types}
	if outer != nil {
		p.scope.def, p.scope.self, p.scope.places, p.scope.result = outer.def, outer.self, outer.places, outer.result
	}
	port()
	p.scope = outer
}

// local returns the scope, from the innermost, whose variable the name is.
func (p *porter) local(name string) *scope {
	for s := p.scope; s != nil; s = s.parent {
		if _, ok := s.types[name]; ok {
			return s
		}
	}
	return nil
}

// global returns what a name means that the file defines, nil if it is a local variable
// or something else.
func (p *porter) global(name string) *global {
	if p.local(name) != nil {
		return nil
	}
	return p.globals[name]
}

// isFree reports whether the file does not define a name: it is Python's, or imported.
func (p *porter) isFree(name string) bool { return p.local(name) == nil && p.globals[name] == nil }

// full returns the full name in Python of what a name or a.b.c refers to if that
// was imported: "torchx.specs.AppDef". "" if it was not.
func (p *porter) full(n *node) string {
	switch {
	case is(n, "Name") && p.isFree(n.ID):
		return p.imports[n.ID]
	case is(n, "Attribute"):
		if base := p.full(n.Value); base != "" {
			return canonical(base + "." + n.Attr)
		}
	}
	return ""
}

// predeclared returns the name that a predeclared module or function, or a prelude, has in the
// port: another one if the file itself uses it for something else.
func (p *porter) predeclared(full string) string {
	if _, ok := preludes()[full]; ok {
		p.out.prelude[full] = true
		return p.unbound(full)
	}
	root, _, _ := strings.Cut(full, ".")
	if !p.bound[root] {
		return full
	}
	p.out.aliases[root] = true
	return "_" + full
}

// unbound returns a name that the file does not use, made from another.
func (p *porter) unbound(name string) string {
	for p.bound[name] {
		name += "_"
	}
	return name
}
