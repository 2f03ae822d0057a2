package migrate

import (
	"slices"
	"strings"
)

// chunks are the parts that a list or dict is joined from where some are starred.
type chunks struct {
	open, close string
	list        []*doc
	items       []*doc // of the bracket that is being written
	isSpread    bool   // something was starred
}

// add adds a starred part.
func (c *chunks) add(d *doc) {
	c.isSpread = true
	c.flush()
	c.list = append(c.list, d)
}

func (c *chunks) flush() {
	if len(c.items) > 0 || !c.isSpread && len(c.list) == 0 {
		c.list = append(c.list, bracket(c.open, c.items, c.close))
		c.items = nil
	}
}

// display ports a list, tuple or set display. Starred parts are joined with +.
func (p *porter) display(n *pyDisplay) value {
	c := chunks{open: "[", close: "]"}
	t := typ{class: class(strings.ToLower(n.Kind))}
	for _, e := range n.Elts {
		if s, ok := e.(*pyStarred); ok {
			v := p.iterable(s.Value)
			t.elem = joinElem(t.elem, v.typ.elemType())
			c.add(p.call("list", v))
			continue
		}
		v := p.expr(e)
		t.elem = joinElem(t.elem, v.typ)
		c.items = append(c.items, v.doc)
	}
	switch {
	case n.Kind == "Tuple" && !c.isSpread && len(c.items) == 1:
		return primary(cat("(", c.items[0], ",)"), t)
	case n.Kind == "Tuple" && !c.isSpread:
		return primary(bracket("(", c.items, ")"), t)
	}
	c.flush()
	v := sum("Add", c.list, t)
	if n.Kind != "List" {
		return p.callOf(t, string(t.class), v)
	}
	return v
}

// dict ports a dict display; **parts are joined with |.
func (p *porter) dict(n *pyDict) value {
	c := chunks{open: "{", close: "}"}
	t := typ{class: aDict}
	for i, k := range n.Keys {
		v := p.expr(n.Values[i])
		if k == nil {
			t.key, t.elem = joinElem(t.key, v.typ.elemType()), joinElem(t.elem, v.typ.valueType())
			c.add(v.at(precBitXor))
			continue
		}
		kv := p.expr(k)
		t.key, t.elem = joinElem(t.key, kv.typ), joinElem(t.elem, v.typ)
		c.items = append(c.items, cat(kv, ": ", v))
	}
	c.flush()
	if c.isSpread && len(c.list) == 1 {
		return p.callOf(t, "dict", c.list[0])
	}
	return sum("BitOr", c.list, t)
}

// comprehension ports list and dict comprehensions; generators become lists.
func (p *porter) comprehension(n *pyComp) value {
	if slices.ContainsFunc(n.Generators, func(g *pyComprehension) bool { return g.IsAsync != 0 }) {
		return p.fail(n, "`async` has no counterpart")
	}
	isUnordered := p.unordered || n.Kind == "SetComp"
	d := &doc{open: "[", close: "]"}
	t := typ{class: aList}
	over := p.generator(n.Generators[0], isUnordered) // outside of the comprehension's variables
	p.within(map[string]typ{}, func() {
		for i, g := range n.Generators {
			if i > 0 {
				over = p.generator(g, isUnordered)
			}
			eachTarget(g.Target, over.typ.elemType(), func(name string, t typ) { p.scope.types[name] = t })
			d.clauses = append(d.clauses, cat("for ", p.target(g.Target), " in ", over.at(precOr)))
			for _, cond := range g.Ifs {
				d.clauses = append(d.clauses, cat("if ", p.expr(cond).at(precOr)))
			}
		}
		if n.Kind == "DictComp" {
			k, v := p.expr(n.Key), p.expr(n.Value)
			d.open, d.close, d.items = "{", "}", []*doc{cat(k, ": ", v)}
			t = typ{class: aDict, key: &k.typ, elem: &v.typ}
			return
		}
		v := p.expr(n.Elt)
		d.items, t.elem = []*doc{v.doc}, &v.typ
	})
	if n.Kind == "SetComp" {
		return p.callOf(typ{class: aSet, elem: t.elem}, "set", d)
	}
	return primary(d, t)
}

// generator ports what a `for` of a comprehension goes through.
func (p *porter) generator(g *pyComprehension, isUnordered bool) value {
	p.unordered = isUnordered
	v := p.iterable(g.Iter)
	p.unordered = false
	return v
}

// iterable ports what is iterated over: Starlark does not go through strings.
func (p *porter) iterable(n node) value {
	v := p.expr(n)
	switch {
	case v.typ.class == aStr:
		return v.with(listOf(of(aStr)), ".elems()")
	case v.typ.class == anEnum:
		return p.fail(n, "the members of an Enum are iterated: write a list of them")
	case v.typ.class == aSet && !p.unordered:
		return p.fail(n, "the order of a set is Python's own: write sorted(…)")
	}
	return v
}
