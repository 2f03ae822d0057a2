package migrate

import (
	"slices"
	"strings"
)

// global is a name that the file defines.
type global struct {
	name   string // in the port
	def    *node  // of a function
	class  *classInfo
	value  *node // its assigned value
	typ    typ
	broken string // why it could not be ported

	isStub   bool  // the function could not be ported
	reported *node // the use that was reported
}

// scope is a function, or a lambda or comprehension in it, that is being ported.
type scope struct {
	def    *node
	parent *scope
	types  map[string]typ // of parameters and local variables
	self   string         // in __init__, the name of the object, whose fields are variables there
	owner  *classInfo     // of that object
	places map[string][]*node
	result string // the parameter that the function changes and returns
}

// within ports an expression with separate variables, such as a comprehension.
func (p *porter) within(types map[string]typ, port func()) {
	outer := p.scope
	p.scope = &scope{parent: outer, types: types}
	if outer != nil {
		p.scope.def, p.scope.self, p.scope.owner, p.scope.places, p.scope.result = outer.def, outer.self, outer.owner, outer.places, outer.result
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
	if text, ok := preludes()[full]; ok {
		if !p.out.prelude[full] {
			p.out.prelude[full] = true
			for other := range preludes() { // that it calls
				if other != full && strings.Contains(text, other+"(") {
					p.predeclared(other)
				}
			}
		}
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

// usage is how a function, or the file, uses its variables. One walk collects it.
type usage struct {
	bindings map[string][]*node // nodes that assign a variable, without +=
	reads    map[string][]read
	loops    []*node
	alone    map[*node]bool // calls that are statements
	calls    []*node
	changes  []change
	roots    map[string]bool   // variables that change, or of which a part changes
	tracked  map[*node]bool    // reads that pass a role to an app that changes with it
	aliases  map[string]string // variables to variables that may be the same object
}

// read is a place that reads a variable, with the node around it.
type read struct{ use, parent *node }

// change is a node that changes the list or dict of a variable.
type change struct {
	node *node
	name string
}

// usage returns the usage of a function.
func (p *porter) usage(def *node) *usage {
	u := p.usages[def]
	if u == nil {
		u = &usage{bindings: map[string][]*node{}, reads: map[string][]read{}, roots: map[string]bool{}, alone: map[*node]bool{}, tracked: map[*node]bool{}, aliases: map[string]string{}}
		u.visit(def)
		p.usages[def] = u
	}
	return u
}

func (u *usage) visit(n *node) {
	targets := n.Targets
	switch n.Kind {
	case "Call":
		u.calls = append(u.calls, n)
	case "For":
		u.loops = append(u.loops, n)
	case "Expr":
		u.alone[n.Value] = true
	case "Assign":
		for _, t := range targets {
			if from, to := nameOf(n.Value), nameOf(t); from != "" && to != "" {
				u.aliases[u.root(to)] = u.root(from)
			}
		}
	}
	if is(n, "For", "comprehension", "AugAssign", "NamedExpr") {
		targets = []*node{n.Target}
	}
	if n.Kind != "AugAssign" {
		for _, name := range n.Binds {
			u.bindings[name] = append(u.bindings[name], n)
		}
	}
	if isMutator(n) {
		u.changed(n, n.Func.Value)
	} else if is(n, "Assign", "AugAssign", "Delete") {
		for _, t := range targets {
			if n.Kind == "AugAssign" || is(t, "Subscript", "Attribute") {
				u.changed(n, t)
			}
		}
	}
	for _, k := range n.kids() {
		switch isTarget := slices.Contains(targets, k); {
		case isTarget && is(k, "Name", "Tuple", "List"):
			continue
		case k.Kind == "Name":
			u.reads[k.ID] = append(u.reads[k.ID], read{k, n})
		}
		u.visit(k)
	}
}

// changed notes that n changes the value at target.
func (u *usage) changed(n, target *node) {
	u.roots[rootOf(target)] = true
	for is(target, "Subscript") {
		target = target.Value
	}
	if name := nameOf(target); name != "" {
		u.changes = append(u.changes, change{n, name})
	}
}

// root returns the representative of all variables that may be the same object as name.
func (u *usage) root(name string) string {
	for i := 0; i <= len(u.aliases); i++ {
		next, ok := u.aliases[name]
		if !ok || next == name {
			break
		}
		name = next
	}
	return name
}

// isRebound reports whether the variable is assigned between a and b.
func (u *usage) isRebound(name string, a, b *node) bool {
	return slices.ContainsFunc(u.bindings[name], func(s *node) bool {
		return before(a, s) && before(s, b) && a.Line < s.Line
	})
}

// sharesLoop reports whether a use sees a change in the next iteration of a loop, because the
// variable was assigned before the loop.
func (u *usage) sharesLoop(name string, change, use *node) bool {
	return slices.ContainsFunc(u.loops, func(loop *node) bool {
		isFresh := func(b *node) bool { return b.isWithin(loop) && b != loop }
		return change != loop && change.isWithin(loop) && use.isWithin(loop) &&
			!slices.ContainsFunc(u.bindings[name], isFresh)
	})
}

// isSeen reports whether a value that use passes on sees a later change: the variable is not
// assigned in between, or both are in a loop.
func (u *usage) isSeen(name string, change, use *node) bool {
	return before(use, change) && !u.isRebound(name, use, change) || u.sharesLoop(name, change, use)
}

// isClosed reports whether nothing can add an item to the list, set or dict of a variable: it does
// not change, and nothing else refers to it.
func (p *porter) isClosed(u *usage, name string) bool {
	isChanged := func(c change) bool { return c.name == name }
	return !u.roots[name] && !slices.ContainsFunc(u.changes, isChanged) && !slices.ContainsFunc(u.reads[name], func(r read) bool { return !p.isLook(r) })
}

// isLook reports whether a read gets only items or properties of a list, set or dict.
func (p *porter) isLook(r read) bool {
	switch n := r.parent; n.Kind {
	case "For", "comprehension", "Subscript", "Attribute", "Compare", "UnaryOp", "BinOp", "If", "FormattedValue", "Starred", "Return":
		return true
	case "Call":
		name := nameOf(n.Func)
		return strings.HasPrefix(p.full(n.Func), "torchx.specs.") || p.full(n.Func) != "" ||
			name != "" && p.isFree(name) || is(n.Func, "Attribute") && !isMutator(n)
	}
	return false
}
