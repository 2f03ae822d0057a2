package migrate

import (
	"maps"
	"reflect"
)

// maxRounds bounds how often the types of variables are worked out from each other.
const maxRounds = 40

// infer works out the types of local variables: that of all values they get, and of
// all that is put into them.
func (p *porter) infer(body []*node) {
	var stmts, changes []*node
	for _, s := range body {
		s.walk(func(n *node) bool {
			if n.is("FunctionDef") {
				p.scope.types[n.text("name")] = typ{}
			}
			if n.is("Lambda", "FunctionDef", "ClassDef") {
				changes = append(changes, changesIn(n)...) // of what is around it
				return false
			}
			if n.is("Assign", "AnnAssign", "AugAssign", "For") {
				stmts = append(stmts, n)
			}
			return true
		})
		changes = append(changes, changesIn(s)...)
	}
	params := maps.Clone(p.scope.types)
	for _, s := range stmts {
		for _, name := range binds(s) {
			if _, ok := p.scope.types[name]; !ok {
				p.scope.types[name] = of(aNone)
			}
		}
	}
	for range maxRounds { // a type may depend on that of a variable assigned later, in a loop
		before := p.scope.types
		next := maps.Clone(params)
		for _, s := range stmts {
			p.inferOne(s, next)
		}
		for _, c := range changes {
			p.inferChange(c, next)
		}
		for _, s := range stmts {
			p.inferAlias(s, next)
		}
		p.scope.types = next
		if reflect.DeepEqual(before, next) {
			return
		}
	}
	for name := range p.scope.types { // they grow for ever, as x = [x] does
		p.scope.types[name] = typ{}
	}
}

// changesIn lists the statements and calls that may put something into a list or dict.
func changesIn(s *node) []*node {
	var out []*node
	s.walk(func(n *node) bool {
		if n.is("Call", "Assign", "AnnAssign", "AugAssign", "Delete") {
			out = append(out, n)
		}
		return true
	})
	return out
}

func (p *porter) inferOne(s *node, next map[string]typ) {
	add := func(name string, t typ) {
		if old, ok := next[name]; ok {
			t = old.join(t)
		}
		next[name] = t
	}
	switch s.kind {
	case "For":
		p.eachTarget(s.node("target"), p.peek(s.node("iter")).elemType(), add)
	case "AugAssign":
		if t := s.node("target"); t.is("Name") {
			left, ok := next[t.text("id")]
			if !ok {
				left = p.peek(t)
			}
			add(t.text("id"), augmented(operators[s.node("op").kind].text, left, p.peek(s.node("value"))))
		}
	default:
		if s.node("value") == nil {
			return
		}
		t := p.peek(s.node("value"))
		if a := p.annotated(s.node("annotation")); a.class != unknown && (t.class == unknown || t.elem == nil && a.class == t.class) {
			t = a
		}
		for _, target := range append(s.list("targets"), s.node("target")) {
			if target != nil {
				p.eachTarget(target, t, add)
			}
		}
	}
}

// augmented is the type of a variable after `a op= b`: a list takes what b has.
func augmented(op string, a, b typ) typ {
	if op == "+" && a.class == aList {
		elem := b.elemType()
		a.elem = joinElem(a.elem, elem)
		return a
	}
	return arithmetic(op, a, b)
}

// eachTarget calls add for each variable of a target that gets a value of type t.
func (p *porter) eachTarget(target *node, t typ, add func(string, typ)) {
	switch target.kind {
	case "Name":
		add(target.text("id"), t)
	case "Tuple", "List":
		for i, e := range target.list("elts") {
			part := t.elemType()
			if t.spec == "item" && i == 0 {
				part = typ{}
				if t.key != nil {
					part = *t.key
				}
			}
			p.eachTarget(e, part, add)
		}
	}
}

// bindTarget gives the variables of a comprehension their types.
func (p *porter) bindTarget(target *node, t typ) {
	if p.scope == nil {
		p.scope = &scope{types: map[string]typ{}}
	}
	p.eachTarget(target, t, func(name string, t typ) { p.scope.types[name] = t })
}

// inferChange notes the types of what a statement or call puts into lists, sets and
// dicts that variables hold.
func (p *porter) inferChange(n *node, types map[string]typ) {
	switch n.kind {
	case "Call":
		p.inferCall(n, types)
	case "Assign", "AnnAssign":
		for _, t := range append(n.list("targets"), n.node("target")) {
			if t.is("Subscript") {
				p.stored(t, p.peek(n.node("value")), types)
			}
		}
	case "AugAssign":
		if t := n.node("target"); t.is("Subscript") {
			p.stored(t, arithmetic(operators[n.node("op").kind].text, p.peek(t), p.peek(n.node("value"))), types)
		}
	}
}

// stored notes that x[key] gets a value.
func (p *porter) stored(place *node, t typ, types map[string]typ) {
	key := typ{}
	if index := place.node("slice"); !index.is("Slice", "Index", "Tuple", "ExtSlice") {
		key = p.peek(index)
	}
	p.put(place.node("value"), key, t, types)
}

// put notes that the list, set or dict at place gets an item. Of what is not a
// variable itself all variables that are named may have it.
func (p *porter) put(place *node, key, elem typ, types map[string]typ) {
	if !place.is("Name") {
		loosen(place, types)
		return
	}
	t, ok := types[place.text("id")]
	switch {
	case !ok:
		return
	case t.class == aDict:
		t.key, t.elem = joinElem(t.key, key), joinElem(t.elem, elem)
	case t.class == aList, t.class == aSet:
		t.elem = joinElem(t.elem, elem)
	}
	types[place.text("id")] = t
}

// loosen notes that nothing is known any more of the items of what a variable within n
// holds.
func loosen(n *node, types map[string]typ) {
	n.walk(func(x *node) bool {
		if t, ok := types[x.text("id")]; ok && x.is("Name") {
			switch t.class {
			case aList, aDict, aSet, aTuple:
				t.key, t.elem = &typ{}, &typ{}
				types[x.text("id")] = t
			}
		}
		return true
	})
}

// inferCall notes what methods put into a variable's list, set or dict, and that
// functions may put anything into what they are given.
func (p *porter) inferCall(n *node, types map[string]typ) {
	fn, args, named := n.node("func"), n.list("args"), n.list("keywords")
	if !fn.is("Attribute") || p.full(fn) != "" {
		if p.mayChange(fn) {
			for _, a := range append(args, named...) {
				loosen(a, types)
			}
		}
		return
	}
	place := fn.node("value")
	str := of(aStr)
	arg := func(i int) typ {
		if i < len(args) && !args[i].is("Starred") {
			return p.peek(args[i])
		}
		return typ{}
	}
	switch fn.text("attr") {
	case "append", "add":
		p.put(place, typ{}, arg(0), types)
	case "insert":
		p.put(place, typ{}, arg(1), types)
	case "setdefault":
		t := of(aNone)
		if len(args) > 1 {
			t = arg(1)
		}
		p.put(place, arg(0), t, types)
	case "extend", "update":
		if t := arg(0); t.class == aDict && types[place.text("id")].class == aDict {
			p.put(place, t.elemType(), t.valueType(), types)
		} else if len(args) > 0 {
			p.put(place, typ{}, t.elemType(), types)
		}
		for _, k := range named {
			p.put(place, str, p.peek(k.node("value")), types)
		}
	}
}

// mayChange reports whether a function may change what it is given: one of the file
// may, one of Python's or TorchX's own does not.
func (p *porter) mayChange(fn *node) bool {
	if p.full(fn) != "" {
		return false
	}
	id := fn.text("id")
	return !fn.is("Name") || p.local(id) != nil || p.globals[id] != nil
}

// inferAlias joins the types of variables that may be the same list or dict: what is put
// into one is in the other.
func (p *porter) inferAlias(s *node, types map[string]typ) {
	from := s.node("value")
	if s.is("For") {
		from = s.node("iter")
	}
	for _, name := range binds(s) {
		t := types[name]
		switch t.class {
		case aList, aDict, aSet:
		default:
			continue
		}
		for _, other := range same(from) {
			o, ok := types[other]
			if ok && o.class == t.class {
				t = t.join(o)
				o.key, o.elem = t.key, t.elem
				types[other] = o
			}
		}
		types[name] = t
		if len(same(from)) == 0 && !s.is("AugAssign") {
			p.inferPart(from, t, types)
		}
	}
}

// inferPart notes that a variable of type t is a part of what variables in n hold.
func (p *porter) inferPart(n *node, t typ, types map[string]typ) {
	for n.is("Subscript", "Attribute", "Call") {
		if n.is("Call") {
			n = n.node("func")
			continue
		}
		n = n.node("value")
	}
	if !n.is("Name") {
		return
	}
	whole, ok := types[n.text("id")]
	if ok && whole.elem != nil && whole.elem.class == t.class && !reflect.DeepEqual(whole.elem.elem, t.elem) {
		loosen(n, types)
	}
}

// same lists the variables that an expression gives as they are.
func same(n *node) []string {
	switch {
	case n.is("Name"):
		return []string{n.text("id")}
	case n.is("BoolOp"):
		var out []string
		for _, v := range n.list("values") {
			out = append(out, same(v)...)
		}
		return out
	case n.is("IfExp"):
		return append(same(n.node("body")), same(n.node("orelse"))...)
	}
	return nil
}
