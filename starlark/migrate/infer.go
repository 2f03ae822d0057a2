package migrate

import (
	"maps"
	"reflect"
)

// maxRounds bounds the rounds of inference.
const maxRounds = 8

// infer sets the types of the local variables of the current function from all values they are
// assigned. It repeats until nothing changes, since in a loop a variable may depend on a later one.
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
		clear(p.peeks)
		if reflect.DeepEqual(last, next) {
			return
		}
	}
	clear(p.peeks)
	for name := range p.scope.types { // types that grow forever, as of x = [x]
		p.scope.types[name] = typ{}
	}
}

// held returns the type of a variable. The items of a list, set or dict have a known type only if
// nothing can add one.
func (p *porter) held(u *usage, name string, t typ) typ {
	if t.class.isMutable() && !p.isClosed(u, name) {
		elem := p.specsIn(u, name, t)
		if t = t.opened(); elem.class == aSpec || elem.class == anObject {
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

// specsIn returns the type of the specs values in a list that is built step by step.
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
			if left.class == aList || left.class == aNone { // None: not yet known
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
		if a := p.annotated(s.Annotation); a.class != unknown &&
			(v.class == unknown || v.elem == nil && a.class == v.class) {
			a.loose = v.class == unknown
			v = a
		}
		for _, target := range s.Targets {
			eachTarget(target, v, add)
		}
	}
}

// eachTarget calls add for each variable of a target that is assigned a value of type t.
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
