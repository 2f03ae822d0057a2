package migrate

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// usage is what a function, or the file, does with its variables, by one walk through it.
type usage struct {
	bindings map[string][]*node // what gives a variable a value, += aside
	reads    map[string][]read
	loops    []*node
	alone    map[*node]bool // calls that are statements
	calls    []*node
	changes  []change
	roots    map[string]bool   // variables of which anything is changed, however deep
	tracked  map[*node]bool    // reads that hand a role over to an app that is changed with it
	aliases  map[string]string // variables to others that may be the same object
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

// changed notes that n changes what is at target.
func (u *usage) changed(n, target *node) {
	u.roots[rootOf(target)] = true
	for is(target, "Subscript") {
		target = target.Value
	}
	if name := nameOf(target); name != "" {
		u.changes = append(u.changes, change{n, name})
	}
}

// root is the variable that stands for all that may be the same object as name.
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

// isRebound reports whether the variable gets another value between a and b.
func (u *usage) isRebound(name string, a, b *node) bool {
	return slices.ContainsFunc(u.bindings[name], func(s *node) bool {
		return before(a, s) && before(s, b) && a.Line < s.Line
	})
}

// sharesLoop reports whether a change is seen by a use in the next turn of a loop that
// the variable is older than.
func (u *usage) sharesLoop(name string, change, use *node) bool {
	return slices.ContainsFunc(u.loops, func(loop *node) bool {
		isFresh := func(b *node) bool { return b.isWithin(loop) && b != loop }
		return change != loop && change.isWithin(loop) && use.isWithin(loop) && !slices.ContainsFunc(u.bindings[name], isFresh)
	})
}

// isSeen reports whether use, which hands a variable over, comes before a change without
// another value between, or after it in a loop.
func (u *usage) isSeen(name string, change, use *node) bool {
	return before(use, change) && !u.isRebound(name, use, change) || u.sharesLoop(name, change, use)
}

// isClosed reports whether nothing can put an item into the list, set or dict of a variable: it is
// not changed, and nothing else gets hold of it.
func (p *porter) isClosed(u *usage, name string) bool {
	isChanged := func(c change) bool { return c.name == name }
	return !u.roots[name] && !slices.ContainsFunc(u.changes, isChanged) && !slices.ContainsFunc(u.reads[name], func(r read) bool { return !p.isLook(r) })
}

// isLook reports whether a read gets nothing but items and facts of a list, set or dict.
func (p *porter) isLook(r read) bool {
	switch n := r.parent; n.Kind {
	case "For", "comprehension", "Subscript", "Attribute", "Compare", "UnaryOp", "BinOp", "If", "FormattedValue", "Starred", "Return":
		return true
	case "Call":
		name := nameOf(n.Func)
		return strings.HasPrefix(p.full(n.Func), "torchx.specs.") || p.full(n.Func) != "" || name != "" && p.isFree(name) || is(n.Func, "Attribute") && !isMutator(n)
	}
	return false
}

// maxRounds bounds the rounds of inference.
const maxRounds = 8

// infer sets the types of the local variables of the function that is being ported from all
// values they are assigned, until nothing changes: a variable may depend on one that is assigned
// later, in a loop.
func (p *porter) infer(body []*node) {
	var stmts []*node
	for _, s := range body {
		walk(s, func(n *node) bool {
			switch n.Kind {
			case "FunctionDef":
				p.scope.types[n.Name] = typ{}
				return false
			case "Lambda", "ClassDef":
				return false
			case "Assign", "AnnAssign", "AugAssign", "For":
				stmts = append(stmts, n)
			}
			return true
		})
	}
	params := p.scope.types
	p.scope.types = maps.Clone(params)
	for _, s := range stmts {
		for _, name := range s.Binds {
			if _, ok := params[name]; !ok {
				p.scope.types[name] = of(aNone)
			}
		}
	}
	for range maxRounds {
		next := maps.Clone(params)
		for _, s := range stmts {
			p.assigned(s, func(name string, t typ) {
				if old, ok := next[name]; ok {
					t = old.join(t)
				}
				next[name] = p.held(p.usage(p.scope.def), name, t)
			})
		}
		last := p.scope.types
		p.scope.types = next
		if reflect.DeepEqual(last, next) {
			return
		}
	}
	for name := range p.scope.types { // they grow for ever, as x = [x] does
		p.scope.types[name] = typ{}
	}
}

// held is the type of what a variable holds. What is in a list, set or dict is only known while
// nothing can put something into it.
func (p *porter) held(u *usage, name string, t typ) typ {
	if t.class.isMutable() && !p.isClosed(u, name) {
		elem := p.specsIn(u, name, t)
		if t = t.opened(); elem.class == aSpec {
			t.elem = &elem
		}
		return t
	}
	if t.elem != nil && t.elem.class.isMutable() {
		elem := t.elem.opened()
		t.elem = &elem
	}
	return t
}

// specsIn is the type of the specs values in a list that is built step by step.
func (p *porter) specsIn(u *usage, name string, t typ) typ {
	elem := t.elem
	for _, c := range u.changes {
		added := typ{}
		switch n := c.node; {
		case c.name != name:
			continue
		case is(n, "Call") && n.Func.Attr == "append" && len(n.Args) == 1:
			added = p.peek(n.Args[0])
		case is(n, "Call") && n.Func.Attr == "extend" && len(n.Args) == 1:
			added = p.peek(n.Args[0]).elemType()
		case is(n, "Assign", "AugAssign"):
			if added = p.peek(n.Value); n.Kind == "AugAssign" {
				added = added.elemType()
			}
		}
		elem = joined(elem, &added)
	}
	if elem == nil {
		return typ{}
	}
	return *elem
}

// assigned calls add for each variable that a statement assigns.
func (p *porter) assigned(s *node, add func(string, typ)) {
	switch s.Kind {
	case "For":
		eachTarget(s.Target, p.peek(s.Iter).elemType(), add)
	case "AugAssign":
		if name := nameOf(s.Target); name != "" {
			left := p.peek(s.Target)
			if left.class == aList || left.class == aNone { // None: nothing is known yet
				add(name, left)
				return
			}
			add(name, arithmetic(operators[s.Op].text, left, p.peek(s.Value)))
		}
	default:
		if s.Value == nil {
			return
		}
		v := p.peek(s.Value)
		if a := p.annotated(s.Annotation); a.class != unknown && (v.class == unknown || v.elem == nil && a.class == v.class) {
			a.loose = v.class == unknown
			v = a
		}
		for _, target := range s.Targets {
			eachTarget(target, v, add)
		}
	}
}

// eachTarget calls add for each variable of a target that gets a value of type t.
func eachTarget(target *node, t typ, add func(string, typ)) {
	if name := nameOf(target); name != "" {
		add(name, t)
	}
	if !is(target, "Tuple", "List") {
		return
	}
	for i, e := range target.Elts {
		part := t.elemType()
		if t.spec == "item" && i == 0 {
			part = typ{}
			if t.key != nil {
				part = *t.key
			}
		}
		if isStarred(e) {
			e, part = e.Value, listOf(part)
		}
		eachTarget(e, part, add)
	}
}
