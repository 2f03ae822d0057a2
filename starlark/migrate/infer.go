package migrate

import (
	"maps"
	"reflect"
	"slices"
)

// maxRounds bounds the rounds of inference.
const maxRounds = 40

// peek returns the type of an expression and drops the problems in it.
func (p *porter) peek(n node) typ {
	problems := len(p.out.problems)
	t := p.expr(n).typ
	p.out.problems = p.out.problems[:problems]
	return t
}

// infer sets the types of local variables from all values they are assigned and all items
// that are put into them, until nothing changes.
func (p *porter) infer(body []node) {
	var stmts, changes []node
	var visit func(n node, isOwn bool)
	visit = func(n node, isOwn bool) {
		switch x := n.(type) {
		case *pyFunctionDef:
			if isOwn {
				p.scope.types[x.Name] = typ{}
			}
			isOwn = false // but functions within change what is around them
		case *pyLambda, *pyClassDef:
			isOwn = false
		case *pyAssign, *pyAugAssign, *pyFor:
			if isOwn {
				stmts = append(stmts, n)
			}
			changes = append(changes, n)
		case *pyCall:
			changes = append(changes, n)
		}
		for _, c := range n.at().kids {
			visit(c, isOwn)
		}
	}
	for _, s := range body {
		visit(s, true)
	}
	params := maps.Clone(p.scope.types)
	for _, s := range stmts {
		for _, name := range s.at().Binds {
			if _, ok := p.scope.types[name]; !ok {
				p.scope.types[name] = of(aNone)
			}
		}
	}
	for range maxRounds { // a type may depend on that of a variable assigned later, in a loop
		last, next := p.scope.types, types{p, maps.Clone(params)}
		for _, s := range stmts {
			next.assign(s)
		}
		for _, c := range changes {
			next.change(c)
		}
		for _, s := range stmts {
			next.alias(s)
		}
		p.scope.types = next.of
		if reflect.DeepEqual(last, next.of) {
			return
		}
	}
	for name := range p.scope.types { // they grow for ever, as x = [x] does
		p.scope.types[name] = typ{}
	}
}

// types are the types of variables during a round of inference.
type types struct {
	porter *porter // knows those of the round before
	of     map[string]typ
}

// add notes that a variable gets a value.
func (t types) add(name string, v typ) {
	if old, ok := t.of[name]; ok {
		v = old.join(v)
	}
	t.of[name] = v
}

// assign notes what a statement assigns to variables.
func (t types) assign(s node) {
	switch s := s.(type) {
	case *pyFor:
		eachTarget(s.Target, t.porter.peek(s.Iter).elemType(), t.add)
	case *pyAugAssign:
		name := nameOf(s.Target)
		if name == "" {
			return
		}
		left, ok := t.of[name]
		if !ok {
			left = t.porter.peek(s.Target)
		}
		right := t.porter.peek(s.Value)
		if s.Op == "Add" && left.class == aList { // a list takes what the other has
			left.elem = joinElem(left.elem, right.elemType())
			t.add(name, left)
			return
		}
		t.add(name, arithmetic(operators[s.Op].text, left, right))
	case *pyAssign:
		if s.Value == nil {
			return
		}
		v := t.porter.peek(s.Value)
		if a := t.porter.annotated(s.Annotation); a.class != unknown && (v.class == unknown || v.elem == nil && a.class == v.class) {
			v = a
		}
		for _, target := range s.Targets {
			eachTarget(target, v, t.add)
		}
	}
}

// joinElem adds the type of an element; nil stands for no element so far.
func joinElem(old *typ, t typ) *typ { return joined(old, &t) }

// eachTarget calls add for each variable of a target that gets a value of type t.
func eachTarget(target node, t typ, add func(string, typ)) {
	if name := nameOf(target); name != "" {
		add(name, t)
	}
	elts, _ := elements(target, "Tuple", "List")
	for i, e := range elts {
		part := t.elemType()
		if t.spec == "item" && i == 0 {
			part = typ{}
			if t.key != nil {
				part = *t.key
			}
		}
		eachTarget(e, part, add)
	}
}

// change notes the types of what a statement or call puts into lists, sets and dicts
// that variables hold.
func (t types) change(n node) {
	switch n := n.(type) {
	case *pyCall:
		t.call(n)
	case *pyAssign:
		for _, target := range n.Targets {
			if s, ok := target.(*pySubscript); ok && n.Value != nil {
				t.store(s, t.porter.peek(n.Value))
			}
		}
	case *pyAugAssign:
		if s, ok := n.Target.(*pySubscript); ok {
			t.store(s, arithmetic(operators[n.Op].text, t.porter.peek(s), t.porter.peek(n.Value)))
		}
	}
}

// store notes that x[key] gets a value.
func (t types) store(place *pySubscript, v typ) {
	key := typ{}
	if kind := place.Slice.at().Kind; kind != "Slice" && kind != "Tuple" && kind != "ExtSlice" {
		key = t.porter.peek(place.Slice)
	}
	t.put(place.Value, key, v)
}

// put notes that the list, set or dict at place gets an item. Of what is not a
// variable itself all variables that are named may have it.
func (t types) put(place node, key, elem typ) {
	name := nameOf(place)
	if name == "" {
		t.loosen(place)
		return
	}
	old, ok := t.of[name]
	if !ok || !old.class.isMutable() {
		return
	}
	if old.class == aDict {
		old.key = joinElem(old.key, key)
	}
	old.elem = joinElem(old.elem, elem)
	t.of[name] = old
}

// loosen notes that nothing is known any more of the items of what a variable within n
// holds.
func (t types) loosen(n node) {
	walk(n, func(x node) bool {
		if old, ok := t.of[nameOf(x)]; ok && (old.class.isMutable() || old.class == aTuple) {
			old.key, old.elem = &typ{}, &typ{}
			t.of[nameOf(x)] = old
		}
		return true
	})
}

// call notes what methods put into a variable's list, set or dict, and that functions
// may put anything into what they are given.
func (t types) call(n *pyCall) {
	fn, ok := n.Func.(*pyAttribute)
	if !ok || t.porter.full(fn) != "" {
		if t.porter.mayChange(n.Func) {
			for _, a := range n.Args {
				t.loosen(a)
			}
			for _, k := range n.Keywords {
				t.loosen(k)
			}
		}
		return
	}
	arg := func(i int) typ {
		if i < len(n.Args) && !isStarred(n.Args[i]) {
			return t.porter.peek(n.Args[i])
		}
		return typ{}
	}
	switch fn.Attr {
	case "append", "add":
		t.put(fn.Value, typ{}, arg(0))
	case "insert":
		t.put(fn.Value, typ{}, arg(1))
	case "setdefault":
		v := of(aNone)
		if len(n.Args) > 1 {
			v = arg(1)
		}
		t.put(fn.Value, arg(0), v)
	case "extend", "update":
		if v := arg(0); v.class == aDict && t.of[nameOf(fn.Value)].class == aDict {
			t.put(fn.Value, v.elemType(), v.valueType())
		} else if len(n.Args) > 0 {
			t.put(fn.Value, typ{}, v.elemType())
		}
		for _, k := range n.Keywords {
			t.put(fn.Value, of(aStr), t.porter.peek(k.Value))
		}
	}
}

// mayChange reports whether a function may change what it is given: one of the file
// may, one of Python's or TorchX's own does not.
func (p *porter) mayChange(fn node) bool {
	name := nameOf(fn)
	return p.full(fn) == "" && (name == "" || !p.isFree(name))
}

// alias joins the types of variables that may be the same list or dict: what is put
// into one is in the other.
func (t types) alias(s node) {
	from := sourceOf(s)
	others := sameAs(from)
	for _, name := range s.at().Binds {
		v := t.of[name]
		if !v.class.isMutable() {
			continue
		}
		for _, other := range others {
			if o, ok := t.of[other]; ok && o.class == v.class {
				v = v.join(o)
				o.key, o.elem = v.key, v.elem
				t.of[other] = o
			}
		}
		t.of[name] = v
		if len(others) == 0 && s.at().Kind != "AugAssign" {
			t.part(from, v)
		}
	}
}

// part notes that a variable of type v is a part of what variables in n hold.
func (t types) part(n node, v typ) {
	for {
		switch x := n.(type) {
		case *pySubscript:
			n = x.Value
			continue
		case *pyAttribute:
			n = x.Value
			continue
		case *pyCall:
			n = x.Func
			continue
		}
		break
	}
	whole, ok := t.of[nameOf(n)]
	if ok && whole.elem != nil && whole.elem.class == v.class && !reflect.DeepEqual(whole.elem.elem, v.elem) {
		t.loosen(n)
	}
}

// sourceOf is what an assignment or loop takes values from.
func sourceOf(s node) node {
	switch s := s.(type) {
	case *pyAssign:
		return s.Value
	case *pyAugAssign:
		return s.Value
	case *pyFor:
		return s.Iter
	}
	return nil
}

// sameAs lists the variables that an expression gives as they are.
func sameAs(n node) []string {
	switch n := n.(type) {
	case *pyName:
		return []string{n.ID}
	case *pyBoolOp:
		var out []string
		for _, v := range n.Values {
			out = append(out, sameAs(v)...)
		}
		return out
	case *pyIfExp:
		return slices.Concat(sameAs(n.Body), sameAs(n.Orelse))
	}
	return nil
}
