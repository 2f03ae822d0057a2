package migrate

// maxNesting bounds the depth of expressions; Starlark itself allows less than Python.
const maxNesting = 400

// expr ports an expression.
func (p *porter) expr(n node) value {
	if p.depth++; p.depth > maxNesting {
		p.depth--
		return p.fail(n, "this is nested deeper than %d levels: split it", maxNesting)
	}
	defer func() { p.depth-- }()
	switch n := n.(type) {
	case *pyConstant:
		return p.constant(n)
	case *pyName:
		return p.variable(n)
	case *pyAttribute:
		return p.attribute(n)
	case *pyCall:
		return p.callExpr(n)
	case *pyJoinedStr:
		return p.fstring(n)
	case *pyDisplay:
		return p.display(n)
	case *pyDict:
		return p.dict(n)
	case *pyBinOp:
		return p.binary(n)
	case *pyBoolOp:
		return p.boolean(n)
	case *pyUnaryOp:
		op, v := operators[n.Op], p.expr(n.Operand)
		if n.Op == "Not" {
			v.typ = of(aBool)
		}
		return value{doc: cat(op.text, v.at(op.prec)), prec: op.prec, typ: v.typ}
	case *pyCompare:
		return p.compare(n)
	case *pyIfExp:
		yes, no, cond := p.expr(n.Body), p.expr(n.Orelse), p.expr(n.Test)
		return value{
			doc:  cat(yes.at(precOr), " if ", cond.at(precOr), " else ", no.at(precTest)),
			prec: precTest, typ: yes.typ.join(no.typ),
		}
	case *pySubscript:
		return p.subscript(n)
	case *pyComp:
		return p.comprehension(n)
	case *pyLambda:
		return p.lambda(n)
	}
	return p.fail(n, "%s", unsupported(n))
}

// variable ports a name.
func (p *porter) variable(n *pyName) value {
	if s := p.local(n.ID); s != nil {
		return primary(text(n.ID), s.types[n.ID])
	}
	if g := p.globals[n.ID]; g != nil {
		if g.broken != "" {
			return p.fail(n, "%s is used, which could not be ported (%s)", n.ID, g.broken)
		}
		return primary(text(g.name), g.typ)
	}
	if full := p.imports[n.ID]; full != "" {
		return p.imported(n, full)
	}
	_, isBuiltin := builtins()[n.ID]
	switch {
	case n.ID == "str", n.ID == "repr": // passed on as a value, as in key = str
		return primary(text(p.predeclared("torchx.py."+n.ID)), typ{})
	case isBuiltin:
		return primary(text(p.predeclared(n.ID)), typ{})
	case n.ID == "__file__":
		return p.fail(n, "__file__ is the path of the Python file, which components do not get to know here")
	}
	return p.fail(n, "%s is not known here", n.ID)
}

// attribute ports a.b that is not called.
func (p *porter) attribute(n *pyAttribute) value {
	if full := p.full(n); full != "" {
		return p.imported(n, full)
	}
	if m, ok := p.member(n); ok {
		return m
	}
	if v, ok := p.pathAttribute(n); ok {
		return v
	}
	id := nameOf(n.Value)
	if p.isFree(id) && starlarkTypes[id] != nil {
		return p.fail(n, "%s.%s is used as a value: write a lambda that calls it", id, n.Attr)
	}
	v := p.expr(n.Value)
	_, isMember := p.member(n.Value)
	isPolicy := v.typ.spec == retryPolicy
	t := typ{}
	switch {
	case isMember && n.Attr == "value" && v.typ.class != aMember:
		return v // of a StrEnum
	case v.typ.class == aMember:
		return p.memberPart(n, v, n.Attr)
	case isPolicy && v.typ.class == unknown:
		t = typ{class: aStr, spec: retryPolicy}
	case isPolicy && n.Attr == "value":
		return value{doc: v.doc, prec: v.prec, typ: of(aStr)}
	case v.typ.class == aSpec && p.known["specs."+v.typ.spec] != "":
		t = fields()[v.typ.spec+"."+n.Attr].typ
	case v.typ.class != unknown:
		return p.fail(n, ".%s is used as a value; only its call can be ported", n.Attr)
	}
	return v.with(t, "."+n.Attr)
}

// pathAttribute ports Path(x).stem and .suffix.
func (p *porter) pathAttribute(n *pyAttribute) (value, bool) {
	x := p.pathOf(n.Value)
	switch {
	case x == nil:
	case n.Attr == "stem":
		return p.callOf(of(aStr), "path.stem", p.expr(x)), true
	case n.Attr == "suffix":
		return p.callOf(of(aStr), "path.splitext", p.expr(x)).with(of(aStr), "[1]"), true
	}
	return value{}, false
}

// pathOf returns x of Path(x), nil if n is something else.
func (p *porter) pathOf(n node) node {
	c, ok := n.(*pyCall)
	if !ok || p.full(c.Func) != "pathlib.Path" || len(c.Args) != 1 || len(c.Keywords) > 0 {
		return nil
	}
	return c.Args[0]
}

func (p *porter) lambda(n *pyLambda) value {
	if !n.Plain {
		return p.fail(n, "a lambda with more than plain parameters: write a function")
	}
	types := map[string]typ{}
	var names []*doc
	for _, a := range n.Args {
		types[a.Arg] = typ{}
		names = append(names, text(a.Arg))
	}
	head := text("lambda")
	if len(names) > 0 {
		head = cat("lambda ", separated(names, ", "))
	}
	v := value{prec: precTest}
	p.within(types, func() { v.doc = cat(head, ": ", p.expr(n.Body)) })
	return v
}

func (p *porter) binary(n *pyBinOp) value {
	op, ok := operators[n.Op]
	switch {
	case n.Power != "":
		return primary(text(n.Power), of(anInt))
	case n.Op == "Pow":
		return p.fail(n, "** has no counterpart: write the product, or math.pow(…) for floats")
	case !ok:
		return p.fail(n, "the operator %s has no counterpart", n.Op)
	case n.Op == "Mod":
		if format, ok := constantOf(n.Left, "str"); ok {
			return p.percent(n, format)
		}
		if n.Left.at().Kind == "JoinedStr" {
			return p.fail(n, "%% behind an f-string cannot be ported: put the values into the f-string")
		}
	}
	left, right := p.expr(n.Left), p.expr(n.Right)
	if n.Op == "Mod" && left.typ.class != anInt && left.typ.class != aFloat {
		return p.fail(n, "%% on what may be a string: whether Python and Starlark format it alike is not known; write an f-string")
	}
	return value{doc: cat(left.at(op.prec), " "+op.text+" ", right.at(op.prec+1)), prec: op.prec, typ: arithmetic(op.text, left.typ, right.typ)}
}

func (p *porter) boolean(n *pyBoolOp) value {
	op := operators[n.Op]
	var parts []*doc
	var t typ
	for i, x := range n.Values {
		v := p.expr(x)
		if i == 0 {
			t = v.typ
		} else {
			t = t.join(v.typ)
			t.null = v.typ.null || n.Op == "And" && t.null // None is false, so `or` goes on behind it
		}
		parts = append(parts, v.at(op.prec+min(i, 1)))
	}
	return sum(n.Op, parts, t)
}

// compare ports a chain of comparisons; its middle must be simple to be written twice.
func (p *porter) compare(n *pyCompare) value {
	left := n.Left
	var parts []*doc
	for i, op := range n.Ops {
		if kind := left.at().Kind; i > 0 && kind != "Name" && kind != "Constant" {
			return p.fail(left, "a chain of comparisons around a computed value: give the value a name first")
		}
		parts = append(parts, p.comparison(n, left, op, n.Comparators[i]))
		left = n.Comparators[i]
	}
	v := sum("And", parts, of(aBool))
	v.prec = min(v.prec, precCompare)
	return v
}

func (p *porter) comparison(n *pyCompare, left node, kind string, right node) *doc {
	_, isBool := constantOf(right, "bool")
	if (kind == "Is" || kind == "IsNot") && !isBool && !isNone(right) {
		return p.fail(n, "`is` compares identities, which Starlark has not: write == if you mean that").doc
	}
	if is := map[string]string{"In": " != None", "NotIn": " == None"}[kind]; is != "" && p.full(right) == "os.environ" {
		return cat(p.call("torchx.getenv", p.expr(left)), is)
	}
	op, a, b := operators[kind], p.expr(left), p.expr(right)
	if (op.text == "==" || op.text == "!=") && (a.typ.class == aBool) != (b.typ.class == aBool) &&
		(a.typ.class == anInt || b.typ.class == anInt) {
		return p.fail(n, "a bool is compared with a number: they are never equal in Starlark").doc
	}
	return cat(a.at(op.prec+1), " "+op.text+" ", b.at(op.prec+1))
}

func (p *porter) subscript(n *pySubscript) value {
	full := p.full(n.Value)
	switch full {
	case "os.environ":
		p.out.prelude["_require_env"] = true
		return primary(cat("_require_env", bracket("(", []*doc{p.expr(n.Slice).doc}, ")")), of(aStr))
	case "torchx.specs.RetryPolicy":
		return p.expr(n.Slice)
	}
	v := p.expr(n.Value)
	if v.typ.class == anEnum {
		return p.fail(n, "looking a member of an Enum up by name cannot be ported: write a dict")
	}
	if s, ok := n.Slice.(*pySlice); ok {
		var parts []any
		for i, x := range []node{s.Lower, s.Upper, s.Step} {
			if i == 1 || i == 2 && x != nil {
				parts = append(parts, ":")
			}
			if x != nil {
				parts = append(parts, p.expr(x))
			}
		}
		return v.with(v.typ, "[", cat(parts...), "]")
	}
	t := v.typ.elemType()
	switch {
	case full == "torchx.specs.named_resources":
		t = typ{class: aSpec, spec: "Resource"}
	case v.typ.class == aDict:
		t = v.typ.valueType()
	}
	return v.with(t, "[", p.expr(n.Slice), "]")
}
