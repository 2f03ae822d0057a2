package migrate

import (
	"maps"
	"slices"
	"strings"
)

// Python's lists, dicts and roles are shared by whatever refers to them, and a change is
// seen by all. Starlark's specs values are copies that never change. This file ports
// changes of roles and apps as assignments of changed copies, and refuses what would be
// seen elsewhere in Python.

// isInRecord reports whether n is a part of a specs value.
func (p *porter) isInRecord(n *node) bool {
	for ; is(n, "Attribute", "Subscript"); n = n.Value {
		if n.Kind == "Attribute" && p.peek(n.Value).class == aSpec {
			return true
		}
	}
	return false
}

// changesField reports whether an assignment to n changes a field, perhaps an item in it.
func changesField(n *node) bool {
	for ; is(n, "Subscript"); n = n.Value {
	}
	return is(n, "Attribute")
}

// changeRecord ports target = new, where target is in a specs value.
func (p *porter) changeRecord(w *writer, stmt, target *node, replacement string) {
	switch {
	case p.peek(rootNode(target)).class == anObject:
		p.refuse(stmt, "object")
	case !p.isInRecord(target):
		p.refuse(stmt, "not alone")
	case p.isAlone(stmt, target):
		p.store(w, target, replacement, "")
	}
}

// rootNode is the expression that a.b[c].d begins with.
func rootNode(n *node) *node {
	for is(n, "Attribute", "Subscript") {
		n = n.Value
	}
	return n
}

// store writes target = new. A part of a specs value is changed by a changed copy of the value,
// which is stored in turn. from is the variable that this comes from.
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

// writeBack stores a variable that has changed wherever else its value is, and renews variables
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

// track notes where else the value of a variable is that a statement assigns: role = app.roles[0]
// and app = AppDef(roles = [role]) are each a part of the other. It returns the text of the value.
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

// loopOver ports the head of a loop. A variable that is changed in it is an item of a list, where
// it is changed too.
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

// changeByCall ports a call that changes a specs value; false if n is another call.
func (p *porter) changeByCall(w *writer, n *node) bool {
	if p.full(n.Func) == setOverlay {
		if len(n.Args) == 0 || !p.peek(n.Args[0]).isSpec("Role") {
			p.fail(n, "set_overlay can be ported only for a specs.Role of this function")
		} else if p.isAlone(n, n.Args[0]) {
			p.store(w, n.Args[0], p.predeclared("specs.overlays.with_overlay")+p.arguments(n), "")
		}
		return true
	}
	if g := p.global(nameOf(n.Func)); g != nil && g.def != nil {
		if i := p.changedParam(g.def); i >= 0 && i < len(n.Args) && p.isAlone(n, n.Args[i]) {
			p.store(w, n.Args[i], p.expr(n).text, "")
			return true
		}
	}
	if !isMutator(n) || !p.isInRecord(n.Func.Value) {
		return false
	}
	field := n.Func.Value
	if !p.isAlone(n, field) {
		return true
	}
	x := p.expr(field)
	arg := func(i int) value { return p.expr(n.Args[i]) }
	var changed string
	switch form := string(x.typ.class) + "." + n.Func.Attr + "/" + itoa(len(n.Args)); {
	case form == "list.append/1":
		changed = x.text + " + [" + arg(0).text + "]"
	case form == "list.extend/1":
		changed = x.text + " + " + p.asList(p.iterable(n.Args[0])).at(precProduct)
	case form == "list.insert/2" && arg(0).text == "0":
		changed = "[" + arg(1).text + "] + " + x.text
	case form == "list.insert/2":
		changed = x.text + "[:" + arg(0).text + "] + [" + arg(1).text + "] + " + x.text + "[" + arg(0).text + ":]"
	case form == "dict.update/1" && len(n.Keywords) == 0:
		changed = x.text + " | " + arg(0).at(precBitXor)
	case form == "dict.update/0":
		changed = x.text + " | " + p.predeclared("dict") + p.arguments(n)
	case form == "dict.setdefault/2":
		changed = "{" + arg(0).text + ": " + arg(1).text + "} | " + x.text
	case form == "dict.pop/2":
		changed = p.without(x, arg(0))
	case form == "dict.clear/0", form == "list.clear/0":
		changed = map[class]string{aDict: "{}", aList: "[]"}[x.typ.class]
	default:
		p.fail(n, ".%s(…) cannot change a part of a specs value, which is a copy: build the value first", n.Func.Attr)
		return true
	}
	p.store(w, field, changed, "")
	return true
}

// without is a dict without a key.
func (p *porter) without(dict, key value) string {
	k, v := p.unbound("k"), p.unbound("v")
	return "{" + k + ": " + v + " for " + k + ", " + v + " in " + dict.text + ".items() if " + k + " != " + key.at(precBitOr) + "}"
}

// asList is a value as a list.
func (p *porter) asList(v value) value {
	if v.typ.class == aList {
		return v
	}
	return p.callOf(listOf(v.typ.elemType()), "list", v)
}

// setOverlay is the function that changes a role's overlays.
const setOverlay = "torchx.specs.overlays.set_overlay"

// changedParam returns the index of the parameter of a function that the function changes and
// returns, if it returns anything; -1 if there is none.
func (p *porter) changedParam(def *node) int {
	u, found := p.usage(def), -1
	if p.isComponent(def) {
		return -1
	}
	for i, x := range def.Args {
		if outer := p.scope; u.roots[x.Arg] && x.Star == "" {
			p.scope = nil
			t := p.annotated(x.Annotation)
			p.scope = outer
			if t.class == aSpec {
				if found >= 0 {
					return -1
				}
				found = i
			}
		}
	}
	walk(def, func(n *node) bool {
		if found >= 0 && n.Kind == "Return" && n.Value != nil && nameOf(n.Value) != def.Args[found].Arg {
			found = -1
		}
		return true
	})
	return found
}

// isAlone reports whether nothing else refers to the specs value that target is, or is a part of,
// when stmt changes it. If something may, that is a problem.
func (p *porter) isAlone(stmt, target *node) bool {
	name := rootOf(target)
	if s := p.local(name); s == nil {
		p.refuse(stmt, "not alone")
		return false
	}
	u := p.usage(p.scope.def)
	for _, other := range p.related(name) {
		if line := p.givenAway(u, other, stmt); line > 0 {
			p.fail(stmt, "%s changes after line %d passed %s on, which keeps a copy: change it before that line", name, line, other)
			return false
		}
	}
	for _, b := range u.bindings[name] {
		isTracked := len(p.scope.places[name]) > 0
		switch {
		case is(b, "For") && !isTracked && p.scope.types[name].class == aSpec:
			p.fail(stmt, "%s changes but is a loop variable: build a new list with specs.replace", name)
		case is(b, "Assign", "AnnAssign") && p.scope.types[name].class == aSpec && !is(b.Value, "Call") && !isTracked:
			p.fail(stmt, "%s changes but shares its value since line %d: make a copy there with specs.replace", name, b.Line)
		case is(b, "arg") && name != p.scope.result:
			p.fail(stmt, "%s changes but belongs to the caller: return a changed copy", name)
		default:
			continue
		}
		return false
	}
	return p.ownsField(stmt, name, target)
}

// related lists the variables of which one holds the other or a part of it, beginning with name.
func (p *porter) related(name string) []string {
	names := []string{name}
	for i := 0; i < len(names); i++ {
		for _, other := range slices.Sorted(maps.Keys(p.scope.places)) {
			for _, place := range p.scope.places[other] {
				root := rootOf(place)
				if other == names[i] && !slices.Contains(names, root) {
					names = append(names, root)
				} else if root == names[i] && !slices.Contains(names, other) {
					names = append(names, other)
				}
			}
		}
	}
	return names
}

// givenAway returns the line where something that nothing is known of has got a variable before
// stmt, or where a list or dict has got a variable that is used after stmt; 0 if there is none.
func (p *porter) givenAway(u *usage, name string, stmt *node) int {
	for _, r := range u.reads[name] {
		isCall := r.parent.Kind == "Call" && (p.full(r.parent.Func) == setOverlay || p.global(nameOf(r.parent.Func)) != nil)
		isLook := is(r.parent, "Attribute", "Subscript", "Return", "For", "comprehension", "Compare", "If", "UnaryOp", "FormattedValue") ||
			is(r.parent, "Call") && strings.Contains(" len str repr isinstance bool print any all ", " "+nameOf(r.parent.Func)+" ")
		if !isLook && !isCall && !u.tracked[r.use] && u.isSeen(name, stmt, r.use) {
			return r.use.Line
		}
	}
	items := passed{}
	for _, b := range u.bindings[name] {
		if b.Value != nil {
			items.add(b.Value)
		}
	}
	for _, c := range u.changes {
		if c.name == name {
			items.add(c.node.Args...)
		}
	}
	for item, uses := range items {
		if t := p.scope.types[item]; p.scope.types[name].class.isMutable() && t.class == aSpec && p.isReadLater(item) && !u.isRebound(item, uses[0], stmt) {
			return uses[0].Line
		}
	}
	return 0
}

// ownsField reports whether the list or dict that stmt changes within a specs value is that
// value's alone. If a variable holds it too, Python would change it there.
func (p *porter) ownsField(stmt *node, name string, target *node) bool {
	field := ""
	for n := target; is(n, "Attribute", "Subscript"); n = n.Value {
		if n.Kind == "Attribute" && nameOf(n.Value) == name && (n != target || !is(stmt, "Assign", "AnnAssign")) {
			field = n.Attr
		}
	}
	for _, b := range p.usage(p.scope.def).bindings[name] {
		if field == "" || b.Value == nil || b.Value.Kind != "Call" {
			continue
		}
		given := passed{}
		if v := b.Value.keyword(field); v != nil {
			given.add(v)
		}
		for other, uses := range given {
			if why := p.heldBy(other, uses[0], stmt); why != "" {
				p.fail(stmt, "%s.%s changes but is also %s (%s): pass a copy to the role, dict(x) or list(x)", name, field, other, why)
				return false
			}
		}
	}
	return true
}

// heldBy returns what else uses a variable's list or dict after stmt has changed it, "" if
// nothing does.
func (p *porter) heldBy(name string, given, stmt *node) string {
	def := p.scope.def
	u := p.usage(def)
	isParam := slices.ContainsFunc(u.bindings[name], func(b *node) bool { return b.Kind == "arg" })
	c := p.peek(given).class
	switch {
	case c != unknown && !c.isMutable():
		return ""
	case p.isFrozen(def, name):
		return "a value at the top of the file"
	case isParam && !p.isComponent(def):
		return "the caller's"
	case u.sharesLoop(name, stmt, given):
		return "used again in the loop"
	}
	for _, r := range u.reads[name] {
		if r.use != given && (before(stmt, r.use) || u.sharesLoop(name, stmt, r.use)) {
			return "used in line " + itoa(r.use.Line)
		}
	}
	return ""
}

// passed are the variables that something gets as they are, with the places.
type passed map[string][]*node

// add collects the variables that arguments hand over as they are.
func (h passed) add(list ...*node) {
	for _, n := range list {
		switch n.Kind {
		case "Name":
			h[n.ID] = append(h[n.ID], n)
		case "IfExp":
			h.add(n.Body...)
			h.add(n.Orelse...)
		case "List", "Tuple", "Dict", "BoolOp", "keyword":
			h.add(n.kids()...)
		}
	}
}

// makesRecord reports whether a call makes a specs value of what it is given, itself or by
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

// checkShared finds lists and dicts of a function that are given to a specs value and
// changed afterwards, which Python's value would show.
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

// isFrozen reports whether a variable holds something of the file itself: a constant, or
// the default of a parameter.
func (p *porter) isFrozen(def *node, name string) bool {
	if p.local(name) == nil {
		return p.globals[name] != nil
	}
	return len(p.usage(def).bindings[name]) <= 1 && slices.ContainsFunc(def.Args, func(x *node) bool {
		return x.Arg == name && is(x.Default, "List", "Dict", "Name", "Call")
	})
}

// frozen reports whether c changes something of the file itself, which the variable may
// have got by the assignment before; then what says of which.
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
