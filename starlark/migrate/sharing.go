package migrate

import (
	"maps"
	"slices"
	"strconv"
)

// Python's lists, dicts and roles are shared by whatever refers to them, and a change is
// seen by all. Starlark's specs values are copies that never change. This file ports
// changes of roles and apps as assignments of changed copies, and refuses what would be
// seen elsewhere in Python.

func itoa(i int) string { return strconv.Itoa(i) }

// fieldRef is role.env["X"], role.args or role: the variable that holds the specs value, the
// field, and the index if there is one.
type fieldRef struct {
	name, field string
	index       node
}

func (l fieldRef) String() string { return l.name + "." + l.field }

// fieldRefOf returns the field that n refers to; false if no local variable holds the value.
func (p *porter) fieldRefOf(n node) (fieldRef, bool) {
	l := fieldRef{}
	if s, ok := n.(*pySubscript); ok {
		n, l.index = s.Value, s.Slice
	}
	a, ok := n.(*pyAttribute)
	if !ok {
		return l, false
	}
	l.name, l.field = nameOf(a.Value), a.Attr
	return l, p.isOwnRecord(l.name)
}

// isOwnRecord reports whether a name is a variable of this function that holds a specs value.
func (p *porter) isOwnRecord(name string) bool {
	s := p.local(name)
	return s != nil && s == p.scope && s.types[name].class == aSpec
}

// classAt is the class of the field that l refers to.
func (p *porter) classAt(l fieldRef) class {
	return fields()[p.scope.types[l.name].spec+"."+l.field].typ.class
}

// changeRecord ports role.field = value and role.field[key] = value.
func (p *porter) changeRecord(w *writer, n, target, source node) {
	l, ok := p.fieldRefOf(target)
	if !ok {
		p.fail(n, "only a variable that was assigned a specs value in this function can be changed: specs values are copies, use specs.replace")
		return
	}
	changed := l.field
	if l.index == nil {
		changed = "" // the field gets another value
	}
	if !p.isAlone(n, l.name, changed) {
		return
	}
	v := p.expr(source)
	switch {
	case l.index == nil:
		p.replace(w, l, v)
	case p.classAt(l) != aDict:
		p.expr(l.index)
		p.fail(n, "an item of %s is assigned: build the list before", l)
	default:
		p.replace(w, l, l.String()+" | ", pairs(p.expr(l.index), v))
	}
}

// pairs writes {key: value}.
func pairs(key, v value) *doc { return bracket("{", []*doc{cat(key, ": ", v)}, "}") }

// augmentRecord ports role.args += […] and role.num_replicas += 1.
func (p *porter) augmentRecord(w *writer, n *pyAugAssign, op string) {
	l, ok := p.fieldRefOf(n.Target)
	if !ok || l.index != nil {
		p.fail(n, "only a field of a variable that was assigned a specs value in this function can be changed")
		return
	}
	if !p.isAlone(n, l.name, l.field) {
		return
	}
	v := p.expr(n.Value)
	d := v.at(precUnary)
	if p.classAt(l) == aList && v.typ.class != aList {
		d = p.call("list", v)
	}
	p.replace(w, l, l.String()+" "+op+" ", d)
}

// replace writes the assignment of a copy with another field.
func (p *porter) replace(w *writer, l fieldRef, parts ...any) {
	w.statement(l.name+" = ", p.call("specs.replace", l.name, cat(l.field+" = ", cat(parts...))), "")
}

// changeByCall ports a call that changes a specs value; false if n is another call.
func (p *porter) changeByCall(w *writer, n *pyCall) bool {
	if p.full(n.Func) == setOverlay {
		p.setOverlay(w, n)
		return true
	}
	fn, ok := n.Func.(*pyAttribute)
	if !ok || fn.Value.at().Kind != "Attribute" {
		return false
	}
	l, ok := p.fieldRefOf(fn.Value)
	if !ok {
		return false
	}
	if !p.isAlone(n, l.name, l.field) {
		return true
	}
	arg := func(i int) value { return p.expr(n.Args[i]) }
	switch form := string(p.classAt(l)) + "." + fn.Attr + "/" + itoa(len(n.Args)); {
	case form == "list.append/1":
		p.replace(w, l, l.String()+" + ", bracket("[", []*doc{arg(0).doc}, "]"))
	case form == "list.extend/1":
		v := p.iterable(n.Args[0])
		d := v.at(precProduct)
		if v.typ.class != aList {
			d = p.call("list", v)
		}
		p.replace(w, l, l.String()+" + ", d)
	case form == "dict.update/1" && len(n.Keywords) == 0:
		p.replace(w, l, l.String()+" | ", arg(0).at(precBitXor))
	case form == "dict.update/0":
		p.replace(w, l, l.String()+" | ", p.predeclared("dict"), p.arguments(n))
	case form == "dict.setdefault/2":
		p.replace(w, l, pairs(arg(0), arg(1)), " | "+l.String())
	default:
		p.fail(n, "%s.%s(…) changes a specs value, which is a copy: build the value before", l, fn.Attr)
	}
	return true
}

// setOverlay is the function that changes a role's overlays.
const setOverlay = "torchx.specs.overlays.set_overlay"

// setOverlay ports overlays.set_overlay(role, backend, kind, overlay).
func (p *porter) setOverlay(w *writer, n *pyCall) {
	name := ""
	if len(n.Args) > 0 {
		name = nameOf(n.Args[0])
	}
	switch {
	case name == "":
		p.fail(n, "set_overlay of what is no variable: give the role a name first")
	case !p.isOwnRecord(name) || p.scope.types[name].spec != "Role":
		p.fail(n, "set_overlay of %s, which was not assigned a specs.Role in this function", name)
	case p.isAlone(n, name, ""):
		w.statement(name+" = ", cat(p.predeclared("specs.overlays.with_overlay"), p.arguments(n)), "")
	}
}

// isAlone reports whether nothing else refers to the specs value in a variable, or to the
// list or dict in its field, when n changes it. If something may, that is a problem.
func (p *porter) isAlone(n node, name, field string) bool {
	u := p.usage(p.scope.def)
	ok := p.ownsField(n, name, field)
	for _, r := range u.reads[name] {
		if !ok || r.parent.at().Kind == "Attribute" || p.isSetOverlay(r) {
			continue
		}
		if u.isSeen(name, n, r.use) {
			p.fail(n, "%s is changed although line %d has given it to something else already: change it before", name, r.use.Line)
			ok = false
		}
	}
	for _, b := range u.bindings[name] {
		a, isAssign := b.(*pyAssign)
		if !isAssign {
			p.fail(n, "%s is changed, and comes from a loop: build a new list with specs.replace", name)
			return false
		}
		if _, isCall := a.Value.(*pyCall); !isCall {
			p.fail(n, "%s is changed, and line %d takes it from elsewhere: make a copy with specs.replace there", name, a.Line)
			return false
		}
	}
	if len(u.bindings[name]) == 0 && ok {
		p.fail(n, "%s is changed, and belongs to the caller: return a changed copy", name)
		return false
	}
	return ok
}

func (p *porter) isSetOverlay(r read) bool {
	c, ok := r.parent.(*pyCall)
	return ok && p.full(c.Func) == setOverlay && len(c.Args) > 0 && c.Args[0] == node(r.use)
}

// ownsField reports whether the list or dict that n changes within a specs value is
// that value's alone. If a variable holds it too, Python would change it there.
func (p *porter) ownsField(n node, name, field string) bool {
	def := p.scope.def
	for _, b := range p.usage(def).bindings[name] {
		given := passed{}
		if a, ok := b.(*pyAssign); ok {
			if c, ok := a.Value.(*pyCall); ok {
				given.addAll(keywordArguments(c, field))
			}
		}
		for _, other := range given.names() {
			if why := p.heldBy(def, other, given[other][0], n); why != "" {
				p.fail(n, "%s.%s is changed, which is also %s (%s): give the role a copy, dict(x) or list(x)", name, field, other, why)
				return false
			}
		}
	}
	return true
}

// keywordArguments are the values that a call gives to a name.
func keywordArguments(n *pyCall, name string) []node {
	var out []node
	for _, k := range n.Keywords {
		if k.Arg == name && name != "" {
			out = append(out, k.Value)
		}
	}
	return out
}

// heldBy returns what else uses a variable's list or dict after n has changed it, "" if
// nothing does.
func (p *porter) heldBy(def *pyFunctionDef, name string, given, n node) string {
	if p.isFrozen(def, name) {
		return "a value of the file"
	}
	u := p.usage(def)
	if !p.isComponent(def) && slices.ContainsFunc(u.bindings[name], func(b node) bool { return b.at().Kind == "arg" }) {
		return "the caller's"
	}
	why := ""
	for _, r := range u.reads[name] {
		if node(r.use) != given && (before(n, r.use) || u.sharesLoop(name, n, r.use)) {
			why = "used in line " + itoa(r.use.Line)
		}
	}
	if why == "" && u.sharesLoop(name, n, given) {
		why = "used again in the loop"
	}
	return why
}

// passed are the variables that something gets as they are, with the places.
type passed map[string][]node

func (h passed) names() []string { return slices.Sorted(maps.Keys(h)) }

// add collects the variables that an argument hands over as they are.
func (h passed) add(n node) {
	switch x := n.(type) {
	case *pyName:
		h[x.ID] = append(h[x.ID], n)
	case *pyIfExp:
		h.add(x.Body)
		h.add(x.Orelse)
	case *pyDisplay:
		if x.Kind != "Set" {
			h.addAll(x.kids)
		}
	case *pyDict, *pyBoolOp, *pyKeyword:
		h.addAll(x.at().kids)
	}
}

func (h passed) addAll(list []node) {
	for _, n := range list {
		h.add(n)
	}
}

// addCall collects the variables that a call puts into a specs value, which it may make
// itself or have a function of the file make.
func (p *porter) addCall(h passed, n *pyCall) {
	if p.makesRecord(n) {
		h.addAll(n.Args)
		for _, k := range n.Keywords {
			h.add(k)
		}
		return
	}
	g := p.globals[nameOf(n.Func)]
	if g == nil || g.def == nil {
		return
	}
	keeps := p.keeps(g)
	for i, x := range g.def.Args {
		if !keeps[x.Arg] {
			continue
		}
		if i < len(n.Args) {
			h.add(n.Args[i])
		}
		h.addAll(keywordArguments(n, x.Arg))
	}
}

// makesRecord reports whether a call makes a specs value.
func (p *porter) makesRecord(n *pyCall) bool {
	switch p.full(n.Func) {
	case "torchx.specs.AppDef", "torchx.specs.Role", "torchx.specs.Resource", "torchx.specs.Workspace", "dataclasses.replace", setOverlay:
		return true
	}
	return false
}

// keeps returns the parameters of a function that it puts into specs values, itself or
// by a function that it calls.
func (p *porter) keeps(g *global) map[string]bool {
	if g.keeps != nil {
		return g.keeps
	}
	g.keeps = map[string]bool{} // for functions that call each other
	given := passed{}
	outer := p.scope
	p.scope = nil
	u := p.usage(g.def)
	for _, c := range u.calls {
		p.addCall(given, c)
	}
	p.scope = outer
	for name := range given {
		for _, x := range g.def.Args {
			if u.root(x.Arg) == u.root(name) {
				g.keeps[x.Arg] = true
			}
		}
	}
	return g.keeps
}

// checkShared finds lists and dicts of a function that are given to a specs value and
// changed afterwards, which Python's value would show.
func (p *porter) checkShared(def *pyFunctionDef) {
	u := p.usage(def)
	given := passed{}
	for _, c := range u.calls {
		p.addCall(given, c)
	}
	for _, c := range u.changes {
		what, isFrozen := p.frozen(u, c, def)
		switch {
		case c.node.at().Kind == "AugAssign" && p.isRebindable(c.name):
		case isFrozen:
			p.fail(c.node, "%s is changed, %sand values that a file defines never change in Starlark: make a copy with dict(x) or list(x)", c.name, what)
		default:
			p.checkGivenBefore(u, c, given)
		}
	}
}

// checkGivenBefore finds a specs value that got what c changes afterwards.
func (p *porter) checkGivenBefore(u *usage, c change, given passed) {
	for _, other := range given.names() {
		if u.root(other) != u.root(c.name) {
			continue
		}
		for _, use := range given[other] {
			if u.isSeen(c.name, c.node, use) {
				p.fail(c.node, "%s is changed although line %d has given it to a specs value, which keeps a copy here: change it before, or give a copy of it", c.name, use.at().Line)
				break
			}
		}
	}
}

// isFrozen reports whether a variable holds something of the file itself: a constant, or
// the default of a parameter.
func (p *porter) isFrozen(def *pyFunctionDef, name string) bool {
	if p.local(name) == nil {
		return p.globals[name] != nil
	}
	for _, x := range def.Args {
		if x.Arg == name && x.Default != nil && len(p.usage(def).bindings[name]) <= 1 {
			return slices.Contains([]string{"List", "Dict", "Name", "Call"}, x.Default.at().Kind)
		}
	}
	return false
}

// frozen reports whether c changes something of the file itself, which the variable may
// have got by the assignment before; then what says of which.
func (p *porter) frozen(u *usage, c change, def *pyFunctionDef) (what string, isFrozen bool) {
	if p.isFrozen(def, c.name) {
		return "", true
	}
	var held []string
	for _, b := range u.bindings[c.name] {
		if a, ok := b.(*pyAssign); ok && before(b, c.node) {
			held = sameAs(a.Value)
		}
	}
	for _, other := range held {
		if g := p.global(other); g != nil && g.def == nil {
			return "which is " + other + ", ", true
		}
	}
	return "", false
}

// isRebindable reports whether += gives a variable a new value instead of changing it.
func (p *porter) isRebindable(name string) bool {
	s := p.local(name)
	if s == nil {
		return false
	}
	c := s.types[name].class
	return c != unknown && !c.isMutable()
}
