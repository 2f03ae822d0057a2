package migrate

import "slices"

// makesRecord reports whether a call builds a specs value from its arguments, directly or through
// functions of the file.
func (p *porter) makesRecord(n *node, seen map[*node]bool) bool {
	switch full := p.full(n.Func); full {
	case "torchx.specs.AppDef", "torchx.specs.Role", "torchx.specs.Resource", "torchx.specs.Workspace", "dataclasses.replace", setOverlay:
		return true
	}
	g := p.globals[nameOf(n.Func)]
	if g == nil || g.def == nil || seen[g.def] {
		return false
	}
	seen[g.def] = true
	return slices.ContainsFunc(p.usage(g.def).calls, func(c *node) bool { return p.makesRecord(c, seen) })
}

// checkShared refuses changes of lists and dicts after they were passed to a specs value: in
// Python the specs value would change, too.
func (p *porter) checkShared(def *node) {
	u, given := p.usage(def), passed{}
	for _, c := range u.calls {
		if p.makesRecord(c, map[*node]bool{}) {
			given.add(c.Args...)
			given.add(c.Keywords...)
		}
	}
	for _, c := range u.changes {
		if t := p.scope.types[c.name]; c.node.Kind == "AugAssign" && is(c.node.Target, "Name") && t.class != unknown && !t.class.isMutable() {
			continue // it gets a new value
		}
		if what, isFrozen := p.frozen(u, c, def); isFrozen {
			p.fail(c.node, "%s changes, %sbut values at the top of a file cannot change in Starlark: make a copy with dict(x) or list(x)", c.name, what)
			continue
		}
		for other, uses := range given {
			if u.root(other) != u.root(c.name) {
				continue
			}
			if i := slices.IndexFunc(uses, func(use *node) bool { return u.isSeen(c.name, c.node, use) && !u.tracked[use] }); i >= 0 {
				p.fail(c.node, "%s changes after line %d passed it to a specs value, which keeps a copy: change it before that line, or pass a copy", c.name, uses[i].Line)
			}
		}
	}
}

// isFrozen reports whether a variable holds a value from the top of the file: a constant or the
// default of a parameter.
func (p *porter) isFrozen(def *node, name string) bool {
	if p.local(name) == nil {
		return p.globals[name] != nil
	}
	return len(p.usage(def).bindings[name]) <= 1 && slices.ContainsFunc(def.Args, func(x *node) bool {
		return x.Arg == name && is(x.Default, "List", "Dict", "Name", "Call")
	})
}

// frozen reports whether c changes a value from the top of the file, possibly through an earlier
// assignment of the variable; what names that value.
func (p *porter) frozen(u *usage, c change, def *node) (what string, isFrozen bool) {
	if p.isFrozen(def, c.name) {
		return "", true
	}
	held := passed{}
	for _, b := range u.bindings[c.name] {
		if is(b, "Assign", "AnnAssign") && b.Value != nil && before(b, c.node) {
			held = passed{}
			if is(b.Value, "Name", "IfExp", "BoolOp") {
				held.add(b.Value)
			}
		}
	}
	for other := range held {
		if g := p.global(other); g != nil && g.def == nil {
			return "which is " + other + ", ", true
		}
	}
	return "", false
}
