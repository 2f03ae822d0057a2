package migrate

func (p *porter) binary(n *node) value {
	if n.node("op").is("Pow") {
		return p.power(n)
	}
	op, ok := operators[n.node("op").kind]
	if !ok {
		return p.fail(n, "the operator %s has no counterpart", n.node("op").kind)
	}
	if op.text == "%" {
		if format, ok := n.node("left").isString(); ok {
			return p.percent(n, format)
		}
		if n.node("left").is("JoinedStr") {
			return p.fail(n, "%% behind an f-string cannot be ported: put the values into the f-string")
		}
	}
	left, right := p.expr(n.node("left")), p.expr(n.node("right"))
	if op.text == "%" && left.typ.class != anInt && left.typ.class != aFloat {
		return p.fail(n, "%% on what may be a string: whether Python and Starlark format it alike is not known; write an f-string")
	}
	return value{doc: join(left.at(op.prec), text(" "+op.text+" "), right.at(op.prec+1)), prec: op.prec, typ: arithmetic(op.text, left.typ, right.typ)}
}

// arithmetic is the type of a op b.
func arithmetic(op string, a, b typ) typ {
	number := func(t typ) bool { return t.class == anInt || t.class == aFloat }
	switch {
	case number(a) && number(b):
		if op == "/" || a.class == aFloat || b.class == aFloat {
			return of(aFloat)
		}
		return of(anInt)
	case op == "+" && a.class == b.class, op == "|" && a.class == b.class:
		return a.join(b)
	case (op == "-" || op == "&" || op == "^") && a.class == aSet && b.class == aSet:
		return a
	case op == "*" && b.class == anInt:
		return a
	case op == "*" && a.class == anInt:
		return b
	}
	return typ{}
}

func (p *porter) boolean(n *node) value {
	op := operator{"or", precOr}
	if n.node("op").is("And") {
		op = operator{"and", precAnd}
	}
	var parts []*doc
	var t typ
	for i, x := range n.list("values") {
		v := p.expr(x)
		if i == 0 {
			t = v.typ
		} else {
			parts = append(parts, text(" "+op.text+" "))
			t = t.join(v.typ)
			t.null = v.typ.null || op.text == "and" && t.null // None is false, so `or` goes on behind it
		}
		parts = append(parts, v.at(op.prec+min(i, 1)))
	}
	return value{doc: join(parts...), prec: op.prec, typ: t}
}

func (p *porter) unary(n *node) value {
	x := n.node("operand")
	switch n.node("op").kind {
	case "Not":
		return value{doc: join(text("not "), p.expr(x).at(precNot)), prec: precNot, typ: of(aBool)}
	case "USub":
		v := p.expr(x)
		return value{doc: join(text("-"), v.at(precUnary)), prec: precUnary, typ: v.typ}
	case "UAdd":
		v := p.expr(x)
		return value{doc: join(text("+"), v.at(precUnary)), prec: precUnary, typ: v.typ}
	}
	v := p.expr(x)
	return value{doc: join(text("~"), v.at(precUnary)), prec: precUnary, typ: v.typ}
}

// compare ports a chain of comparisons; its middle must be simple to be written twice.
func (p *porter) compare(n *node) value {
	left := n.node("left")
	var parts []*doc
	rights := n.list("comparators")
	for i, op := range n.list("ops") {
		if i > 0 {
			if !left.is("Name", "Constant") {
				return p.fail(left, "a chain of comparisons around a computed value: give the value a name first")
			}
			parts = append(parts, text(" and "))
		}
		parts = append(parts, p.comparison(n, left, op.kind, rights[i]))
		left = rights[i]
	}
	v := value{doc: join(parts...), prec: precCompare, typ: of(aBool)}
	if len(rights) > 1 {
		v.prec = precAnd
	}
	return v
}

func (p *porter) comparison(n, left *node, kind string, right *node) *doc {
	if kind == "Is" || kind == "IsNot" {
		if !right.isNone() && (!right.is("Constant") || right.text("type") != "bool") {
			return p.fail(n, "`is` compares identities, which Starlark has not: write == if you mean that").doc
		}
		kind = map[string]string{"Is": "Eq", "IsNot": "NotEq"}[kind]
	}
	if (kind == "In" || kind == "NotIn") && p.full(right) == "os.environ" {
		is := map[string]string{"In": " != None", "NotIn": " == None"}[kind]
		return join(call("torchx.getenv", p, p.expr(left).doc), text(is))
	}
	a, b := p.expr(left), p.expr(right)
	if (kind == "Eq" || kind == "NotEq") && (a.typ.class == aBool) != (b.typ.class == aBool) &&
		(a.typ.class == anInt || b.typ.class == anInt) {
		return p.fail(n, "a bool is compared with a number: they are never equal in Starlark").doc
	}
	op := operators[kind]
	return join(a.at(op.prec+1), text(" "+op.text+" "), b.at(op.prec+1))
}

func (p *porter) conditional(n *node) value {
	yes, no := p.expr(n.node("body")), p.expr(n.node("orelse"))
	cond := p.expr(n.node("test"))
	return value{
		doc:  join(yes.at(precOr), text(" if "), cond.at(precOr), text(" else "), no.at(precTest)),
		prec: precTest, typ: yes.typ.join(no.typ),
	}
}
