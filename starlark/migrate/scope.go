package migrate

import "strings"

// global is a name that the file defines.
type global struct {
	name   string // in the port
	def    *node  // of a function
	class  *classInfo
	value  *node // its assigned value
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
	result string // the parameter that the function changes and returns
}

// within ports an expression with separate variables, such as a comprehension.
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

// global returns a definition of the file, nil if the name is a local variable or not defined
// in the file.
func (p *porter) global(name string) *global {
	if p.local(name) != nil {
		return nil
	}
	return p.globals[name]
}

// isFree reports whether the file does not define a name: it is a builtin or imported.
func (p *porter) isFree(name string) bool { return p.local(name) == nil && p.globals[name] == nil }

// full returns the full Python name of an imported name or a.b.c, such as
// "torchx.specs.AppDef"; "" if it was not imported.
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

// predeclared returns the name of a predeclared module or function, or of a prelude, in the port.
// It differs if the file uses the name for something else.
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

// unbound returns name, with underscores added until the file does not use it.
func (p *porter) unbound(name string) string {
	for p.bound[name] {
		name += "_"
	}
	return name
}
