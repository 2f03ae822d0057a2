package migrate

// sequence ports a list, tuple or set display. Starred parts are joined with +.
func (p *porter) sequence(n *node) value {
	elts := n.list("elts")
	var chunks []*doc
	var items []*doc
	var elem *typ
	starred := false
	flush := func() {
		if len(items) > 0 {
			chunks = append(chunks, bracket("[", items, "]"))
			items = nil
		}
	}
	for _, e := range elts {
		if e.is("Starred") {
			starred = true
			flush()
			v := p.iterable(e.node("value"))
			t := v.typ.elemType()
			elem = joinElem(elem, t)
			chunks = append(chunks, call("list", p, v.doc))
			continue
		}
		v := p.expr(e)
		elem = joinElem(elem, v.typ)
		items = append(items, v.doc)
	}
	if starred {
		flush()
		return p.joinedChunks(n, chunks, elem)
	}
	switch n.kind {
	case "Tuple":
		if len(items) == 1 {
			return primary(join(text("("), items[0], text(",)")), typ{class: aTuple, elem: elem})
		}
		return primary(bracket("(", items, ")"), typ{class: aTuple, elem: elem})
	case "Set":
		return primary(call("set", p, bracket("[", items, "]")), typ{class: aSet, elem: elem})
	}
	return primary(bracket("[", items, "]"), typ{class: aList, elem: elem})
}

// joinElem adds the type of an element; nil stands for no element so far.
func joinElem(old *typ, t typ) *typ {
	if old == nil {
		return &t
	}
	t = old.join(t)
	return &t
}

func (p *porter) joinedChunks(n *node, chunks []*doc, elem *typ) value {
	sum := chunks[0]
	for _, c := range chunks[1:] {
		sum = join(sum, text(" + "), c)
	}
	v := value{doc: sum, prec: precPrimary, typ: typ{class: aList, elem: elem}}
	if len(chunks) > 1 {
		v.prec = precSum
	}
	switch n.kind {
	case "Tuple":
		return primary(call("tuple", p, v.doc), typ{class: aTuple, elem: elem})
	case "Set":
		return primary(call("set", p, v.doc), typ{class: aSet, elem: elem})
	}
	return v
}

// dict ports a dict display; **parts are joined with |.
func (p *porter) dict(n *node) value {
	var chunks []*doc
	var items []*doc
	var key, elem *typ
	flush := func() {
		if len(items) > 0 {
			chunks = append(chunks, bracket("{", items, "}"))
			items = nil
		}
	}
	spread := false
	values := n.list("values")
	for i, k := range n.list("keys") {
		v := p.expr(values[i])
		if k == nil {
			spread = true
			flush()
			key, elem = joinElem(key, v.typ.elemType()), joinElem(elem, v.typ.valueType())
			chunks = append(chunks, v.at(precBitXor))
			continue
		}
		kv := p.expr(k)
		key, elem = joinElem(key, kv.typ), joinElem(elem, v.typ)
		items = append(items, join(kv.doc, text(": "), v.doc))
	}
	t := typ{class: aDict, key: key, elem: elem}
	if !spread {
		return primary(bracket("{", items, "}"), t)
	}
	flush()
	if len(chunks) == 1 {
		return primary(call("dict", p, chunks[0]), t)
	}
	sum := chunks[0]
	for _, c := range chunks[1:] {
		sum = join(sum, text(" | "), c)
	}
	return value{doc: sum, prec: precBitOr, typ: t}
}

func (p *porter) subscript(n *node) value {
	base, index := n.node("value"), n.node("slice")
	if index.is("Index") { // Python 3.8
		index = index.node("value")
	}
	if p.full(base) == "os.environ" {
		p.prelude["_require_env"] = true
		return primary(join(text("_require_env"), bracket("(", []*doc{p.expr(index).doc}, ")")), of(aStr))
	}
	if p.full(base) == "torchx.specs.RetryPolicy" {
		return p.expr(index)
	}
	v := p.expr(base)
	if v.typ.class == anEnum {
		return p.fail(n, "looking a member of an Enum up by name cannot be ported: write a dict")
	}
	if index.is("Slice") {
		var b []*doc
		for i, part := range []string{"lower", "upper", "step"} {
			if i == 1 || i == 2 && index.node(part) != nil {
				b = append(b, text(":"))
			}
			if x := index.node(part); x != nil {
				b = append(b, p.expr(x).doc)
			}
		}
		return primary(join(v.at(precPrimary), text("["), join(b...), text("]")), v.typ)
	}
	t := v.typ.elemType()
	if v.typ.class == aDict {
		t = v.typ.valueType()
	}
	if p.full(base) == "torchx.specs.named_resources" {
		t = typ{class: aSpec, spec: "Resource"}
	}
	return primary(join(v.at(precPrimary), text("["), p.expr(index).doc, text("]")), t)
}

// comprehension ports list and dict comprehensions; generators become lists.
func (p *porter) comprehension(n *node) value {
	inner := &scope{parent: p.scope, types: map[string]typ{}}
	if p.scope != nil {
		inner.def = p.scope.def
	}
	outer, unordered := p.scope, p.unordered || n.is("SetComp")
	p.unordered = false
	var clauses []*doc
	for i, g := range n.list("generators") {
		if g.number("is_async") != 0 {
			return p.fail(n, "`async` has no counterpart")
		}
		p.unordered = unordered
		over := p.iterable(g.node("iter"))
		p.unordered = false
		if i == 0 {
			p.scope = inner
		}
		p.bindTarget(g.node("target"), over.typ.elemType())
		clauses = append(clauses, join(text("for "), p.target(g.node("target")), text(" in "), over.at(precOr)))
		for _, cond := range g.list("ifs") {
			clauses = append(clauses, join(text("if "), p.expr(cond).at(precOr)))
		}
	}
	d := &doc{open: "[", close: "]", clauses: clauses}
	t := typ{class: aList}
	if n.is("DictComp") {
		k, v := p.expr(n.node("key")), p.expr(n.node("value"))
		d.open, d.close = "{", "}"
		d.items = []*doc{join(k.doc, text(": "), v.doc)}
		t = typ{class: aDict, key: &k.typ, elem: &v.typ}
	} else {
		v := p.expr(n.node("elt"))
		d.items = []*doc{v.doc}
		t.elem = &v.typ
	}
	p.scope = outer
	if inner.failed && outer != nil {
		outer.failed = true
	}
	if n.is("SetComp") {
		return primary(call("set", p, d), typ{class: aSet, elem: t.elem})
	}
	return primary(d, t)
}

// iterable ports what is iterated over: Starlark does not go through strings.
func (p *porter) iterable(n *node) value {
	v := p.expr(n)
	if v.typ.class == aStr {
		return primary(join(v.at(precPrimary), text(".elems()")), listOf(of(aStr)))
	}
	if v.typ.class == anEnum {
		return p.fail(n, "the members of an Enum are iterated: write a list of them")
	}
	if v.typ.class == aSet && !p.unordered {
		return p.fail(n, "the order of a set is Python's own: write sorted(…)")
	}
	return v
}
