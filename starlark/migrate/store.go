package migrate

import (
	"maps"
	"slices"
)

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
	isPath := p.isInRecord(source) || is(source, "Subscript") && v.typ.class == aSpec
	switch {
	case isPath && (u.roots[name] || u.roots[rootOf(source)]) && (v.typ.class == aSpec || v.typ.class.isMutable()):
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
				at := &node{Kind: "Subscript", Value: list, Slice: &node{Kind: "Constant", Type: "int", Text: itoa(i)}}
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
	if is(n.Target, "Tuple") && len(n.Target.Elts) == 2 && is(n.Iter, "Call") && nameOf(n.Iter.Func) == "enumerate" && isSole(n.Iter) {
		list, item, index = n.Iter.Args[0], n.Target.Elts[1], nameOf(n.Target.Elts[0])
	}
	name := nameOf(item)
	if name == "" || !p.usage(p.scope.def).roots[name] || p.scope.types[name].class != aSpec || !is(list, "Attribute", "Name") {
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
