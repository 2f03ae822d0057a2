package migrate

// number converts a bool to an int, as Python's arithmetic does.
func (p *porter) number(v value) value {
	if v.typ.class == aBool {
		return p.callOf(of(anInt), "int", v)
	}
	return v
}

func (p *porter) binary(n *node) value {
	op, ok := operators[n.Op]
	switch {
	case n.Power != "":
		return primary(n.Power, of(anInt))
	case n.Op == "Pow" && p.peek(n.Left).isNumber() && p.peek(n.Right).class == anInt:
		return p.callOf(p.peek(n.Left), "_power", p.expr(n.Left), p.expr(n.Right))
	case n.Op == "Pow":
		return p.refuse(n, n.Op)
	case !ok:
		return p.fail(n, "the operator %s has no counterpart", n.Op)
	case n.Op == "Mod":
		if format, ok := constantOf(n.Left, "str"); ok {
			return p.percent(n, format)
		}
		if n.Left.Kind == "JoinedStr" {
			return p.fail(n, "%% after an f-string cannot be ported: put the values into the f-string")
		}
	}
	left, right := p.expr(n.Left), p.expr(n.Right)
	if n.Op == "Div" && (left.typ.class == aPath || right.typ.class == aPath) {
		return p.callOf(of(aPath), "_pure_path", left, right)
	}
	if op.prec >= precSum {
		left, right = p.number(left), p.number(right)
	}
	if n.Op == "Mod" && !left.typ.isNumber() {
		return p.refuse(n, "percent")
	}
	return value{left.at(op.prec) + " " + op.text + " " + right.at(op.prec+1), op.prec, arithmetic(op.text, left.typ, right.typ)}
}

func (p *porter) boolean(n *node) value {
	op := operators[n.Op]
	var parts []string
	var t typ
	for i, x := range n.Values {
		v := p.expr(x)
		if i == 0 {
			t = v.typ
		} else {
			t = t.join(v.typ)
			t.null = v.typ.null || n.Op == "And" && t.null // None is false, so `or` continues
		}
		parts = append(parts, v.at(op.prec+min(i, 1)))
	}
	return sum(n.Op, parts, t)
}

// compare ports a chain of comparisons. It writes the middle twice, so that must be simple.
func (p *porter) compare(n *node) value {
	left := n.Left
	var parts []string
	for i, op := range n.Ops {
		if i > 0 && !is(left, "Name", "Constant") {
			return p.refuse(left, "chain")
		}
		parts = append(parts, p.comparison(n, left, op, n.Comparators[i]))
		left = n.Comparators[i]
	}
	v := sum("And", parts, of(aBool))
	v.prec = min(v.prec, precCompare)
	return v
}

func (p *porter) comparison(n, left *node, kind string, right *node) string {
	_, isBool := constantOf(right, "bool")
	if (kind == "Is" || kind == "IsNot") && !isBool && !isNone(right) {
		return p.refuse(n, "is").text
	}
	if isNot := map[string]string{"In": " != None", "NotIn": " == None"}[kind]; isNot != "" && p.full(right) == "os.environ" {
		return p.call("torchx.getenv", p.expr(left)) + isNot
	}
	op, a, b := operators[kind], p.expr(left), p.expr(right)
	if a.typ.isNumber() && kind != "Is" && kind != "IsNot" {
		b = p.number(b)
	} else if b.typ.isNumber() {
		a = p.number(a)
	}
	return a.at(op.prec+1) + " " + op.text + " " + b.at(op.prec+1)
}
