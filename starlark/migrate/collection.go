package migrate

import (
	"slices"
	"strings"
)

// chunks are the parts of a list or dict with starred items, which are joined.
type chunks struct {
	open, close string
	lines       bool
	list, items []string // items of the current bracket
	isSpread    bool     // an item was starred
}

// add adds a starred part.
func (c *chunks) add(text string) {
	c.isSpread = true
	c.flush()
	c.list = append(c.list, text)
}

func (c *chunks) flush() {
	if len(c.items) > 0 || !c.isSpread && len(c.list) == 0 {
		c.list = append(c.list, bracket(c.open, c.items, c.close, c.lines))
		c.items = nil
	}
}

// display ports a list, tuple or set display. Starred parts are joined with +.
func (p *porter) display(n *node) value {
	c := chunks{open: "[", close: "]", lines: n.End > n.Line}
	t := typ{class: class(strings.ToLower(n.Kind))}
	for _, e := range n.Elts {
		if isStarred(e) {
			v := p.asList(p.iterable(e.Value))
			elem := v.typ.elemType()
			t.elem = joined(t.elem, &elem)
			c.add(v.at(precSum))
			continue
		}
		v := p.expr(e)
		t.elem = joined(t.elem, &v.typ)
		c.items = append(c.items, v.text)
	}
	switch {
	case n.Kind == "Tuple" && !c.isSpread && len(c.items) == 1:
		return primary("("+c.items[0]+",)", t)
	case n.Kind == "Tuple" && !c.isSpread:
		return primary(bracket("(", c.items, ")", c.lines), t)
	}
	c.flush()
	v := sum("Add", c.list, t)
	if n.Kind != "List" || c.isSpread && len(c.list) == 1 {
		return p.callOf(t, string(t.class), v)
	}
	return v
}

// dict ports a dict display; **parts are joined with |.
func (p *porter) dict(n *node) value {
	c := chunks{open: "{", close: "}", lines: n.End > n.Line}
	t := of(aDict)
	add := func(key, elem typ) { t.key, t.elem = joined(t.key, &key), joined(t.elem, &elem) }
	for i, k := range n.Keys {
		v := p.expr(n.Values[i])
		if k == nil {
			add(v.typ.elemType(), v.typ.valueType())
			c.add(v.at(precBitXor))
			continue
		}
		kv := p.expr(k)
		add(kv.typ, v.typ)
		c.items = append(c.items, kv.text+": "+v.text)
	}
	c.flush()
	if c.isSpread && len(c.list) == 1 {
		return p.callOf(t, "dict", c.list[0])
	}
	return sum("BitOr", c.list, t)
}

// comprehension ports list and dict comprehensions; generators become lists.
func (p *porter) comprehension(n *node) value {
	if slices.ContainsFunc(n.Generators, func(g *node) bool { return g.IsAsync != 0 }) {
		return p.refuse(n, "AsyncFor")
	}
	isUnordered := p.unordered || n.Kind == "SetComp"
	open, closing, t := "[", "]", of(aList)
	var parts []string
	over := p.generator(n.Generators[0], isUnordered) // outside of the comprehension's variables
	p.within(map[string]typ{}, func() {
		for i, g := range n.Generators {
			if i > 0 {
				over = p.generator(g, isUnordered)
			}
			eachTarget(g.Target, over.typ.elemType(), func(name string, t typ) { p.scope.types[name] = t })
			parts = append(parts, "for "+p.target(g.Target)+" in "+over.at(precOr))
			for _, cond := range g.Ifs {
				parts = append(parts, "if "+p.expr(cond).at(precOr))
			}
		}
		if n.Kind == "DictComp" {
			k, v := p.expr(n.Key), p.expr(n.Value)
			open, closing, t = "{", "}", dictOf(k.typ, v.typ)
			parts = slices.Insert(parts, 0, k.text+": "+v.text)
			return
		}
		v := p.expr(n.Elt)
		parts, t = slices.Insert(parts, 0, v.text), listOf(v.typ)
	})
	text := open + strings.Join(parts, " ") + closing
	if len(text) > flatWidth || n.End > n.Line {
		text = open + "\n" + strings.Join(parts, "\n") + "\n" + closing
	}
	if n.Kind == "SetComp" {
		return p.callOf(typ{class: aSet, elem: t.elem}, "set", text)
	}
	return primary(text, t)
}

// generator ports the iterable of a `for` in a comprehension.
func (p *porter) generator(g *node, isUnordered bool) value {
	p.unordered = isUnordered
	v := p.iterable(g.Iter)
	p.unordered = false
	return v
}

// iterable ports an expression that is iterated. Starlark does not iterate strings.
func (p *porter) iterable(n *node) value {
	v := p.expr(n)
	c := p.classOf(v.typ)
	switch {
	case v.typ.class == aStr:
		t := of(aStr)
		return v.with(typ{elem: &t}, ".elems()")
	case v.typ.class == aClass && c != nil && c.isEnum:
		return primary(bracket("[", p.members(c), "]", false), listOf(c.instance()))
	case v.typ.class == aSet && !p.unordered:
		return p.refuse(n, "set order")
	case p.full(n) == "os.environ":
		return p.fail(n, "os.environ as a whole cannot be read: name the variables, os.environ[…]")
	}
	return v
}
