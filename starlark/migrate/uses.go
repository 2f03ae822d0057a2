package migrate

// rebound reports whether the variable gets another value between a and b.
func rebound(bound []*node, a, b *node) bool {
	for _, s := range bound {
		if before(a, s) && before(s, b) && s.end >= s.line && a.line < s.line {
			return true
		}
	}
	return false
}

// sharedLoop reports whether a later use is seen by a change in the next turn of a
// loop that the variable is older than.
func sharedLoop(def *node, around []*node, use *node, bound []*node) bool {
	uses := loopsAround(def, use)
	for _, loop := range around {
		for _, u := range uses {
			if u != loop {
				continue
			}
			fresh := false
			for _, b := range bound {
				fresh = fresh || b.line >= loop.line && b.end <= loop.end && b != loop
			}
			if !fresh {
				return true
			}
		}
	}
	return false
}

// loopsAround lists the loops of def that n is in.
func loopsAround(def, n *node) []*node {
	var out []*node
	def.walk(func(x *node) bool {
		if x.is("For") && x.line <= n.line && n.line <= x.end && x != n {
			out = append(out, x)
		}
		return true
	})
	return out
}

// bindings lists the statements of def that give a variable a value.
func bindings(def *node, name string) []*node {
	var out []*node
	def.walk(func(x *node) bool {
		for _, b := range binds(x) {
			if b == name && !x.is("AugAssign") {
				out = append(out, x)
			}
		}
		return true
	})
	return out
}

// eachUse calls f for each reading of a variable, with the node around it.
func eachUse(def *node, name string, f func(use, parent *node)) {
	var visit func(n *node)
	visit = func(n *node) {
		for _, c := range n.children() {
			if c.isName(name) && !isTarget(n, c) {
				f(c, n)
			}
			visit(c)
		}
	}
	visit(def)
}

func isTarget(parent, c *node) bool {
	if parent.node("target") == c {
		return true
	}
	for _, t := range parent.list("targets") {
		if t == c {
			return true
		}
	}
	return false
}

// frozen reports whether a variable holds something of the file itself: a constant, or
// the default of a parameter.
func (p *porter) frozen(def *node, name string) bool {
	if p.local(name) == nil {
		return p.globals[name] != nil
	}
	for _, x := range parameters(def) {
		if x.name == name && x.def.is("List", "Dict", "Name", "Call") && len(bindings(def, name)) <= 1 {
			return true
		}
	}
	return false
}

// immutable reports whether += gives a variable a new value instead of changing it.
func (p *porter) immutable(name string) bool {
	s := p.local(name)
	if s == nil {
		return false
	}
	switch s.types[name].class {
	case aList, aDict, aSet, unknown:
		return false
	}
	return true
}

// makesRecord reports whether a call makes a specs value.
func (p *porter) makesRecord(n *node) bool {
	switch p.full(n.node("func")) {
	case "torchx.specs.AppDef", "torchx.specs.Role", "torchx.specs.Resource", "torchx.specs.Workspace", "dataclasses.replace",
		"torchx.specs.overlays.set_overlay":
		return true
	}
	return false
}

// mutates returns the variable whose list or dict a node changes.
func mutates(n *node) (string, bool) {
	var target *node
	switch n.kind {
	case "Call":
		fn := n.node("func")
		switch fn.text("attr") {
		case "append", "extend", "insert", "update", "pop", "setdefault", "clear", "remove", "add", "discard", "popitem", "sort", "reverse":
			target = fn.node("value")
		}
	case "Assign":
		for _, t := range n.list("targets") {
			if t.is("Subscript") {
				target = t.node("value")
			}
		}
	case "AugAssign":
		target = n.node("target")
		if target.is("Subscript") {
			target = target.node("value")
		}
	case "Delete":
		for _, t := range n.list("targets") {
			target = t.node("value")
		}
	}
	for target.is("Subscript") {
		target = target.node("value")
	}
	return target.textOf("id"), target.is("Name")
}

func (n *node) textOf(field string) string {
	if n == nil {
		return ""
	}
	return n.text(field)
}
