package migrate

import (
	"maps"
	"slices"
	"strconv"
)

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
		if t := p.scope.types[c.name]; c.node.Kind == "AugAssign" && is(c.node.Target, "Name") &&
			t.class != unknown && !t.class.isMutable() {
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
			held.same(b.Value)
		}
	}
	for other := range held {
		if g := p.global(other); g != nil && g.def == nil {
			return "which is " + other + ", ", true
		}
	}
	return "", false
}

// store writes target = new. If target is a part of a specs value, it stores a changed copy of
// the value, recursively. from is the variable whose change led here.
func (p *porter) store(w *writer, target *node, replacement, from string) {
	if name := nameOf(target); name != "" {
		w.line(name + " = " + replacement)
		p.writeBack(w, name, from)
		return
	}
	if !p.isInRecord(target) {
		w.line(p.expr(target).text + " = " + replacement)
		p.writeBack(w, rootOf(target), from)
		return
	}
	base := p.expr(target.Value)
	switch {
	case target.Kind == "Attribute":
		p.store(w, target.Value, p.call("specs.replace", base, target.Attr+" = "+replacement), from)
	case p.peek(target.Value.Value).isSpec("AppDef") && target.Value.Attr == "roles":
		app := target.Value.Value
		p.store(w, app, p.call("_with_role", p.expr(app), p.expr(target.Slice), replacement), from)
	case base.typ.class == aList:
		p.store(w, target.Value, p.call("_with_item", base, p.expr(target.Slice), replacement), from)
	default:
		p.store(w, target.Value, base.at(precBitOr)+" | {"+p.expr(target.Slice).text+": "+replacement+"}", from)
	}
}

// writeBack stores a changed variable in all places that hold its value, and updates variables
// that hold a part of it.
func (p *porter) writeBack(w *writer, name, from string) {
	for _, place := range p.scope.places[name] {
		if root := rootOf(place); root != from && p.isReadLater(root) {
			p.store(w, place, name, name)
		}
	}
	for _, other := range slices.Sorted(maps.Keys(p.scope.places)) {
		for _, place := range p.scope.places[other] {
			if rootOf(place) != name || other == from || !slices.ContainsFunc(p.related(other), func(x string) bool { return x != name && p.isReadLater(x) }) {
				continue
			}
			v := p.expr(place)
			if v.typ.class.isMutable() {
				v.text = p.call(string(v.typ.class), v)
			}
			w.line(other + " = " + v.text)
			p.writeBack(w, other, name)
		}
	}
}

// isReadLater reports whether a variable is read after the statement that is being ported.
func (p *porter) isReadLater(name string) bool {
	u := p.usage(p.scope.def)
	return name == p.scope.result || slices.ContainsFunc(u.reads[name], func(r read) bool {
		return before(p.at, r.use) && !r.use.isWithin(p.at) || u.sharesLoop(name, p.at, r.use)
	})
}

// track notes other places that hold the value of an assigned variable: after
// role = app.roles[0] or app = AppDef(roles = [role]) the role is a part of the app. It returns
// the text of the value.
func (p *porter) track(target, source *node, v value) value {
	name, u := nameOf(target), p.usage(p.scope.def)
	if name == "" {
		return v
	}
	delete(p.scope.places, name)
	isPath := rootOf(source) != "" && (p.isInRecord(source) || is(source, "Subscript") && v.typ.class == aSpec)
	switch {
	case isPath && (u.roots[name] || u.roots[rootOf(source)]) &&
		(v.typ.class == aSpec || v.typ.class.isMutable()):
		p.scope.places[name] = []*node{source}
		if v.typ.class.isMutable() {
			return primary(p.call(string(v.typ.class), v), v.typ)
		}
	case is(source, "Call") && p.full(source.Func) == "torchx.specs.AppDef":
		roles := source.argument(1, "roles")
		if !is(roles, "List") {
			break
		}
		for i, e := range roles.Elts {
			if role := nameOf(e); role != "" && u.roots[role] {
				list := &node{Kind: "Attribute", Value: target, Attr: "roles"}
				at := &node{Kind: "Subscript", Value: list, Slice: &node{Kind: "Constant", Type: "int", Text: strconv.Itoa(i)}}
				p.scope.places[role] = append(p.scope.places[role], at)
				u.tracked[e] = true
			}
		}
	}
	return v
}

// loopOver ports the head of a loop. If the loop changes its variable, the item of the list
// changes, too.
func (p *porter) loopOver(n *node, over value) (target, iter string) {
	target, list, item, index := p.target(n.Target), n.Iter, n.Target, ""
	if is(n.Target, "Tuple") && len(n.Target.Elts) == 2 && is(n.Iter, "Call") &&
		nameOf(n.Iter.Func) == "enumerate" && isSole(n.Iter) {
		list, item, index = n.Iter.Args[0], n.Target.Elts[1], nameOf(n.Target.Elts[0])
	}
	name := nameOf(item)
	if name == "" || !p.usage(p.scope.def).roots[name] || p.scope.types[name].class != aSpec ||
		!is(list, "Attribute", "Name") {
		return target, over.at(precOr)
	}
	if index == "" {
		index = p.unbound("i")
		p.bound[index] = true
		p.scope.types[index] = of(anInt)
		target, over = index+", "+target, p.callOf(typ{}, "enumerate", over)
	}
	p.scope.places[name] = []*node{{Kind: "Subscript", Line: n.Line, Value: list, Slice: &node{Kind: "Name", ID: index}}}
	return target, over.at(precOr)
}
