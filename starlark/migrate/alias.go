package migrate

// Python's lists, dicts and roles are shared by whoever refers to them, and a
// change is seen by all. Starlark's specs values are copies that never change. This
// file ports changes of roles and apps as assignments of changed copies, and
// refuses what would be seen elsewhere in Python.

// recordPlace takes role.env["X"], role.args or role apart: the variable that holds
// the specs value, the field, and the index if there is one.
func (p *porter) recordPlace(n *node) (name, field string, index *node, ok bool) {
	if n.is("Subscript") {
		index = n.node("slice")
		if index.is("Index") {
			index = index.node("value")
		}
		n = n.node("value")
	}
	if !n.is("Attribute") || !n.node("value").is("Name") {
		return "", "", nil, false
	}
	name, field = n.node("value").text("id"), n.text("attr")
	s := p.local(name)
	if s == nil || s != p.scope || s.types[name].class != aSpec {
		return "", "", nil, false
	}
	return name, field, index, true
}

// changeRecord ports role.field = value and role.field[key] = value.
func (p *porter) changeRecord(w *writer, n, target, source *node) {
	name, field, index, ok := p.recordPlace(target)
	if !ok {
		p.fail(n, "only a variable that was assigned a specs value in this function can be changed: specs values are copies, use specs.replace")
		return
	}
	if !p.alone(n, name) {
		return
	}
	v := p.expr(source)
	if index != nil {
		key := p.expr(index)
		if p.fieldType(p.scope.types[name].spec, field).class != aDict {
			p.fail(n, "an item of %s.%s is assigned: build the list before", name, field)
			return
		}
		p.replace(w, name, field, join(text(name+"."+field+" | "), bracket("{", []*doc{join(key.doc, text(": "), v.doc)}, "}")))
		return
	}
	p.replace(w, name, field, v.doc)
}

// augmentRecord ports role.args += […] and role.num_replicas += 1.
func (p *porter) augmentRecord(w *writer, n *node, op string) {
	name, field, index, ok := p.recordPlace(n.node("target"))
	if !ok || index != nil {
		p.fail(n, "only a field of a variable that was assigned a specs value in this function can be changed")
		return
	}
	if !p.alone(n, name) {
		return
	}
	v := p.expr(n.node("value"))
	d := v.at(precUnary)
	if p.fieldType(p.scope.types[name].spec, field).class == aList && v.typ.class != aList {
		d = call("list", p, v.doc)
	}
	p.replace(w, name, field, join(text(name+"."+field+" "+op+" "), d))
}

func (p *porter) replace(w *writer, name, field string, d *doc) {
	w.doc(name+" = ", join(text(p.predeclared("specs.replace")), bracket("(", []*doc{text(name), join(text(field+" = "), d)}, ")")), "")
}

// mutated ports a call that changes a specs value; false if n is another call.
func (p *porter) mutated(w *writer, n *node) bool {
	if p.full(n.node("func")) == "torchx.specs.overlays.set_overlay" {
		p.setOverlay(w, n)
		return true
	}
	fn := n.node("func")
	if !fn.is("Attribute") || !fn.node("value").is("Attribute") {
		return false
	}
	name, field, _, ok := p.recordPlace(fn.node("value"))
	args := n.list("args")
	if !ok {
		return false
	}
	kind := p.fieldType(p.scope.types[name].spec, field).class
	var d *doc
	old := name + "." + field
	switch method := fn.text("attr"); {
	case !p.alone(n, name):
		return true
	case method == "append" && kind == aList && len(args) == 1:
		d = join(text(old+" + "), bracket("[", []*doc{p.expr(args[0]).doc}, "]"))
	case method == "extend" && kind == aList && len(args) == 1:
		v := p.iterable(args[0])
		d = join(text(old+" + "), v.at(precProduct))
		if v.typ.class != aList {
			d = join(text(old+" + "), call("list", p, v.doc))
		}
	case method == "update" && kind == aDict && len(args) == 1 && len(n.list("keywords")) == 0:
		d = join(text(old+" | "), p.expr(args[0]).at(precBitXor))
	case method == "update" && kind == aDict && len(args) == 0:
		d = join(text(old+" | "), text(p.predeclared("dict")), p.arguments(n))
	case method == "setdefault" && kind == aDict && len(args) == 2:
		d = join(bracket("{", []*doc{join(p.expr(args[0]).doc, text(": "), p.expr(args[1]).doc)}, "}"), text(" | "+old))
	default:
		p.fail(n, "%s.%s(…) changes a specs value, which is a copy: build the value before", old, method)
		return true
	}
	p.replace(w, name, field, d)
	return true
}

// setOverlay ports overlays.set_overlay(role, backend, kind, overlay).
func (p *porter) setOverlay(w *writer, n *node) {
	args := n.list("args")
	if len(args) == 0 || !args[0].is("Name") {
		p.fail(n, "set_overlay of what is no variable: give the role a name first")
		return
	}
	name := args[0].text("id")
	if s := p.local(name); s == nil || s != p.scope || s.types[name].spec != "Role" {
		p.fail(n, "set_overlay of %s, which was not assigned a specs.Role in this function", name)
		return
	}
	if p.alone(n, name) {
		w.doc(name+" = ", join(text(p.predeclared("specs.overlays.with_overlay")), p.arguments(n)), "")
	}
}

// alone reports whether nothing else refers to the specs value in a variable when n
// changes it. If something may, that is a problem.
func (p *porter) alone(n *node, name string) bool {
	def := p.scope.def
	inner := loopsAround(def, n)
	ok := p.ownField(n, name)
	bound := bindings(def, name)
	eachUse(def, name, func(use, parent *node) {
		if !ok || parent.is("Attribute") || isSetOverlay(p, parent, use) {
			return
		}
		if before(use, n) && !rebound(bound, use, n) || sharedLoop(def, inner, use, bound) {
			p.fail(n, "%s is changed although line %d has given it to something else already: change it before", name, use.line)
			ok = false
		}
	})
	for _, b := range bound {
		if !b.is("Assign", "AnnAssign") {
			p.fail(n, "%s is changed, and comes from a loop: build a new list with specs.replace", name)
			return false
		}
		if v := b.node("value"); !v.is("Call") {
			p.fail(n, "%s is changed, and line %d takes it from elsewhere: make a copy with specs.replace there", name, b.line)
			return false
		}
	}
	if len(bound) == 0 && ok {
		p.fail(n, "%s is changed, and belongs to the caller: return a changed copy", name)
		return false
	}
	return ok
}

// ownField reports whether the list or dict that n changes within a specs value is
// that value's alone. If a variable holds it too, Python would change it there.
func (p *porter) ownField(n *node, name string) bool {
	field := ""
	switch target := n.node("target"); {
	case n.is("Assign") && n.list("targets")[0].is("Subscript"):
		field = n.list("targets")[0].node("value").text("attr")
	case n.is("AugAssign") && target.is("Subscript"):
		field = target.node("value").text("attr")
	case n.is("AugAssign"):
		field = target.text("attr")
	case n.is("Call"):
		field = n.node("func").node("value").textOf("attr")
	}
	if field == "" {
		return true
	}
	def := p.scope.def
	for _, b := range bindings(def, name) {
		v := b.node("value")
		if !v.is("Call") {
			continue
		}
		given := map[string][]*node{}
		for _, k := range v.list("keywords") {
			if k.text("arg") == field {
				p.handed(k.node("value"), given)
			}
		}
		for other, uses := range given {
			if why := p.heldBy(def, other, uses[0], n); why != "" {
				p.fail(n, "%s.%s is changed, which is also %s (%s): give the role a copy, dict(x) or list(x)", name, field, other, why)
				return false
			}
		}
	}
	return true
}

// heldBy says who else sees a variable's list or dict after n has changed it.
func (p *porter) heldBy(def *node, name string, given, n *node) string {
	if p.frozen(def, name) {
		return "a value of the file"
	}
	bound := bindings(def, name)
	for _, b := range bound {
		if b.is("arg") && !p.isComponent(def) {
			return "the caller's"
		}
	}
	why := ""
	eachUse(def, name, func(use, _ *node) {
		if use != given && (before(n, use) || sharedLoop(def, loopsAround(def, n), use, bound)) {
			why = "used in line " + itoa(use.line)
		}
	})
	if why == "" && sharedLoop(def, loopsAround(def, n), given, bound) {
		why = "used again in the loop"
	}
	return why
}

func isSetOverlay(p *porter, parent, use *node) bool {
	return parent.is("Call") && p.full(parent.node("func")) == "torchx.specs.overlays.set_overlay" &&
		len(parent.list("args")) > 0 && parent.list("args")[0] == use
}

func before(a, b *node) bool { return a.line < b.line || a.line == b.line && a.col < b.col }

// shared finds lists and dicts of a function that are given to a specs value and
// changed afterwards, which Python's value would show.
func (p *porter) shared(def *node) {
	given := map[string][]*node{}
	def.walk(func(n *node) bool {
		if !n.is("Call") || !p.makesRecord(n) {
			return true
		}
		for _, a := range append(n.list("args"), n.list("keywords")...) {
			p.handed(a, given)
		}
		return true
	})
	def.walk(func(n *node) bool {
		if n.is("Call") && !p.makesRecord(n) {
			p.handedOn(n, given)
		}
		return true
	})
	names := aliases(def)
	def.walk(func(n *node) bool {
		name, ok := mutates(n)
		if !ok || n.is("AugAssign") && p.immutable(name) {
			return true
		}
		if p.frozen(def, name) {
			p.fail(n, "%s is changed, and values that a file defines never change in Starlark: make a copy with dict(x) or list(x)", name)
			return true
		}
		if other := p.frozenAlias(def, n, name); other != "" {
			p.fail(n, "%s is changed, which is %s, and values that a file defines never change in Starlark: make a copy with dict(x) or list(x)", name, other)
			return true
		}
		for other, uses := range given {
			if names.of(other) != names.of(name) {
				continue
			}
			p.afterwards(def, n, name, uses)
		}
		return true
	})
}

// frozenAlias returns the value of the file that a variable holds when n changes it, by
// the assignment before.
func (p *porter) frozenAlias(def, n *node, name string) string {
	var last *node
	for _, b := range bindings(def, name) {
		if before(b, n) && b.is("Assign", "AnnAssign") {
			last = b
		}
	}
	if last == nil {
		return ""
	}
	for _, other := range same(last.node("value")) {
		if p.local(other) == nil && p.globals[other] != nil && p.globals[other].def == nil {
			return other
		}
	}
	return ""
}

// handedOn collects the variables that a call gives to a function of the file which
// puts them into a specs value.
func (p *porter) handedOn(n *node, given map[string][]*node) {
	fn := n.node("func")
	g := p.globals[fn.text("id")]
	if !fn.is("Name") || g == nil || g.def == nil {
		return
	}
	keeps := p.keeps(g)
	for i, x := range parameters(g.def) {
		if !keeps[x.name] {
			continue
		}
		if args := n.list("args"); i < len(args) {
			p.handed(args[i], given)
		}
		for _, k := range n.list("keywords") {
			if k.text("arg") == x.name {
				p.handed(k.node("value"), given)
			}
		}
	}
}

// keeps returns the variables of a function that it puts into specs values, itself or
// by a function that it calls.
func (p *porter) keeps(g *global) map[string]bool {
	if g.keeps != nil {
		return g.keeps
	}
	g.keeps = map[string]bool{} // for functions that call each other
	given := map[string][]*node{}
	outer := p.scope
	p.scope = nil
	g.def.walk(func(n *node) bool {
		if n.is("Call") && p.makesRecord(n) {
			for _, a := range append(n.list("args"), n.list("keywords")...) {
				p.handed(a, given)
			}
		} else if n.is("Call") {
			p.handedOn(n, given)
		}
		return true
	})
	p.scope = outer
	names := aliases(g.def)
	for name := range given {
		for _, x := range parameters(g.def) {
			if names.of(x.name) == names.of(name) {
				g.keeps[x.name] = true
			}
		}
	}
	return g.keeps
}

func (p *porter) afterwards(def, change *node, name string, uses []*node) {
	around, bound := loopsAround(def, change), bindings(def, name)
	for _, use := range uses {
		if before(use, change) && !rebound(bound, use, change) || sharedLoop(def, around, use, bound) {
			p.fail(change, "%s is changed although line %d has given it to a specs value, which keeps a copy here: change it before, or give a copy of it", name, use.line)
			return
		}
	}
}

// handed collects the variables that an argument hands over as they are.
func (p *porter) handed(n *node, given map[string][]*node) {
	switch {
	case n == nil:
	case n.is("Name"):
		given[n.text("id")] = append(given[n.text("id")], n)
	case n.is("List", "Tuple", "Dict", "BoolOp", "IfExp", "keyword", "Starred"):
		for _, c := range n.children() {
			if n.is("IfExp") && c == n.node("test") || n.is("Starred") {
				continue
			}
			p.handed(c, given)
		}
	}
}

// groups are variables that may be the same object, because one was assigned to
// the other.
type groups map[string]string

func aliases(def *node) groups {
	g := groups{}
	def.walk(func(n *node) bool {
		if n.is("Assign", "AnnAssign") && n.node("value").is("Name") {
			for _, t := range append(n.list("targets"), n.node("target")) {
				if t.is("Name") {
					g[g.of(t.text("id"))] = g.of(n.node("value").text("id"))
				}
			}
		}
		return true
	})
	return g
}

func (g groups) of(name string) string {
	for i := 0; i <= len(g); i++ {
		next, ok := g[name]
		if !ok || next == name {
			break
		}
		name = next
	}
	return name
}
