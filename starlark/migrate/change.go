package migrate

import "strconv"

// In Python several variables can refer to one list, dict or role, and all see its changes.
// Starlark's specs values are copies that never change. This file ports changes of roles and
// apps as assignments of changed copies, and refuses changes that other variables would see.

// isInRecord reports whether n is a part of a specs value.
func (p *porter) isInRecord(n *node) bool {
	for ; is(n, "Attribute", "Subscript"); n = n.Value {
		if n.Kind == "Attribute" && p.peek(n.Value).class == aSpec {
			return true
		}
	}
	return false
}

// changesField reports whether an assignment to n changes a field, perhaps an item in it.
func changesField(n *node) bool {
	for ; is(n, "Subscript"); n = n.Value {
	}
	return is(n, "Attribute")
}

// changeRecord ports target = new, where target is in a specs value.
func (p *porter) changeRecord(w *writer, stmt, target *node, replacement string) {
	switch {
	case p.peek(rootNode(target)).class == anObject:
		p.refuse(stmt, "object")
	case !p.isInRecord(target):
		p.refuse(stmt, "not alone")
	case p.isAlone(stmt, target):
		p.store(w, target, replacement, "")
	}
}

// rootNode returns the expression a of a.b[c].d.
func rootNode(n *node) *node {
	for is(n, "Attribute", "Subscript") {
		n = n.Value
	}
	return n
}

// changeByCall ports a call that changes a specs value; it returns false for other calls.
func (p *porter) changeByCall(w *writer, n *node) bool {
	if p.full(n.Func) == setOverlay {
		if len(n.Args) == 0 || !p.peek(n.Args[0]).isSpec("Role") {
			p.fail(n, "set_overlay can be ported only for a specs.Role of this function")
		} else if p.isAlone(n, n.Args[0]) {
			p.store(w, n.Args[0], p.predeclared("specs.overlays.with_overlay")+p.arguments(n), "")
		}
		return true
	}
	if g := p.global(nameOf(n.Func)); g != nil && g.def != nil {
		if i := p.changedParam(g.def); i >= 0 && i < len(n.Args) && p.isAlone(n, n.Args[i]) {
			p.store(w, n.Args[i], p.expr(n).text, "")
			return true
		}
	}
	if !isMutator(n) || !p.isInRecord(n.Func.Value) {
		return false
	}
	field := n.Func.Value
	if !p.isAlone(n, field) {
		return true
	}
	x := p.expr(field)
	arg := func(i int) value { return p.expr(n.Args[i]) }
	var changed string
	switch form := string(x.typ.class) + "." + n.Func.Attr + "/" + strconv.Itoa(len(n.Args)); {
	case form == "list.append/1":
		changed = x.text + " + [" + arg(0).text + "]"
	case form == "list.extend/1":
		changed = x.text + " + " + p.asList(p.iterable(n.Args[0])).at(precProduct)
	case form == "list.insert/2" && arg(0).text == "0":
		changed = "[" + arg(1).text + "] + " + x.text
	case form == "list.insert/2":
		changed = x.text + "[:" + arg(0).text + "] + [" + arg(1).text + "] + " + x.text + "[" + arg(0).text + ":]"
	case form == "dict.update/1" && len(n.Keywords) == 0:
		changed = x.text + " | " + arg(0).at(precBitXor)
	case form == "dict.update/0":
		changed = x.text + " | " + p.predeclared("dict") + p.arguments(n)
	case form == "dict.setdefault/2":
		changed = "{" + arg(0).text + ": " + arg(1).text + "} | " + x.text
	case form == "dict.pop/2":
		changed = p.without(x, arg(0))
	case form == "dict.clear/0", form == "list.clear/0":
		changed = map[class]string{aDict: "{}", aList: "[]"}[x.typ.class]
	default:
		p.fail(n, ".%s(…) cannot change a part of a specs value, which is a copy: build the value first", n.Func.Attr)
		return true
	}
	p.store(w, field, changed, "")
	return true
}

// without returns a dict without a key.
func (p *porter) without(dict, key value) string {
	k, v := p.unbound("k"), p.unbound("v")
	return "{" + k + ": " + v + " for " + k + ", " + v + " in " + dict.text + ".items() if " + k + " != " + key.at(precBitOr) + "}"
}

// asList returns a value as a list.
func (p *porter) asList(v value) value {
	if v.typ.class == aList {
		return v
	}
	return p.callOf(listOf(v.typ.elemType()), "list", v)
}

// setOverlay is the function that changes a role's overlays.
const setOverlay = "torchx.specs.overlays.set_overlay"
