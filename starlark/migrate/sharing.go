package migrate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// changedParam returns the index of the parameter that a function changes and returns (or that it
// changes without returning anything), or -1.
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
		if found >= 0 && n.Kind == "Return" && n.Value != nil &&
			nameOf(n.Value) != def.Args[found].Arg {
			found = -1
		}
		return true
	})
	return found
}

// isAlone reports whether only one variable refers to the specs value of target when stmt changes
// it. If others may, it notes a problem.
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
		case is(b, "Assign", "AnnAssign") && p.scope.types[name].class == aSpec &&
			!is(rootNode(b.Value), "Call") && !isTracked:
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

// related returns name and all variables that share its value or a part of it.
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

// givenAway returns the line before stmt where unknown code, or a list or dict that is used after
// stmt, got a variable; 0 if none did.
func (p *porter) givenAway(u *usage, name string, stmt *node) int {
	for _, r := range u.reads[name] {
		isCall := r.parent.Kind == "Call" &&
			(p.full(r.parent.Func) == setOverlay || p.global(nameOf(r.parent.Func)) != nil)
		isLook := is(r.parent, "Attribute", "Subscript", "Return", "For", "comprehension", "Compare", "If", "UnaryOp", "FormattedValue") ||
			is(r.parent, "Call") && strings.Contains(" len str repr isinstance bool print any all ",
				" "+nameOf(r.parent.Func)+" ")
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
		if t := p.scope.types[item]; p.scope.types[name].class.isMutable() && t.class == aSpec &&
			p.isReadLater(item) && !u.isRebound(item, uses[0], stmt) {
			return uses[0].Line
		}
	}
	return 0
}

// ownsField reports whether only the specs value holds the list or dict that stmt changes in it.
// Python would change it in other variables, too.
func (p *porter) ownsField(stmt *node, name string, target *node) bool {
	field := ""
	for n := target; is(n, "Attribute", "Subscript"); n = n.Value {
		if n.Kind == "Attribute" && nameOf(n.Value) == name &&
			(n != target || !is(stmt, "Assign", "AnnAssign")) {
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

// heldBy describes who else uses a variable's list or dict after stmt changed it, "" if nothing
// does.
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
			return "used in line " + strconv.Itoa(r.use.Line)
		}
	}
	return ""
}

// passed maps variables to the places where they are passed on without a copy.
type passed map[string][]*node

// same collects the variables whose value an expression may be.
func (h passed) same(n *node) {
	switch n.Kind {
	case "Name":
		h.add(n)
	case "IfExp":
		h.same(n.Body[0])
		h.same(n.Orelse[0])
	case "BoolOp":
		for _, v := range n.Values {
			h.same(v)
		}
	}
}

// add collects the variables that arguments pass on without a copy.
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
