package migrate

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	maxNesting = 400     // of expressions; Starlark itself allows less than Python
	maxWork    = 1 << 21 // expressions that are visited, each several times
)

// expr ports an expression.
func (p *porter) expr(n *node) value {
	p.work++
	if p.depth++; p.depth > maxNesting || p.work > maxWork {
		p.depth--
		return p.refuse(n, "deep")
	}
	defer func() { p.depth-- }()
	switch n.Kind {
	case "Constant":
		return p.constant(n)
	case "Name":
		return p.variable(n)
	case "Attribute":
		return p.attribute(n)
	case "Call":
		return p.callExpr(n)
	case "JoinedStr":
		return p.fstring(n)
	case "List", "Tuple", "Set":
		return p.display(n)
	case "Dict":
		return p.dict(n)
	case "BinOp":
		return p.binary(n)
	case "BoolOp":
		return p.boolean(n)
	case "UnaryOp":
		op, v := operators[n.Op], p.expr(n.Operand)
		if n.Op == "Not" {
			return value{op.text + v.at(op.prec), op.prec, of(aBool)}
		}
		v = p.number(v)
		return value{op.text + v.at(op.prec), op.prec, v.typ}
	case "Compare":
		return p.compare(n)
	case "IfExp":
		var yes value
		p.narrowed(n.Test, func() { yes = p.expr(n.Body[0]) })
		no, cond := p.expr(n.Orelse[0]), p.expr(n.Test)
		return value{yes.at(precOr) + " if " + cond.at(precOr) + " else " + no.at(precTest), precTest, yes.typ.join(no.typ)}
	case "Subscript":
		return p.subscript(n)
	case "ListComp", "SetComp", "GeneratorExp", "DictComp":
		return p.comprehension(n)
	case "Lambda":
		return p.lambda(n)
	case "iterable": // not of Python: marks an expression that is iterated
		return p.iterable(n.Value)
	}
	return p.unsupported(n)
}

// variable ports a name.
func (p *porter) variable(n *node) value {
	if s := p.local(n.ID); s != nil {
		t := s.types[n.ID]
		if t.class == aWrapped && t.loose { // narrowed: used as its text
			return primary(n.ID+"."+t.spec, of(aStr))
		}
		return primary(n.ID, t)
	}
	if g := p.globals[n.ID]; g != nil {
		if g.broken != "" {
			return p.useOfBroken(n, g)
		}
		return primary(g.name, g.typ)
	}
	if full := p.imports[n.ID]; full != "" {
		return p.imported(n, full)
	}
	e, isBuiltin := builtins()[n.ID]
	switch {
	case n.ID == "str", n.ID == "repr": // passed on as a value, as in key = str
		return primary(p.predeclared("torchx.py."+n.ID), typ{})
	case isBuiltin:
		return primary(p.predeclared(e.starlark), typ{})
	case n.ID == "__file__":
		return p.fileOf(n)
	}
	return p.fail(n, "%s is not defined", n.ID)
}

// useOfBroken reports the first use of a definition that could not be ported, with the reason.
func (p *porter) useOfBroken(n *node, g *global) value {
	v := p.fail(n, "%s could not be ported (%s)", n.ID, g.broken)
	if reported := g.reported; reported != nil && reported != n {
		p.out.problems[len(p.out.problems)-1].follows = true
	} else if p.quiet == 0 {
		g.reported = n
	}
	return v
}

// attribute ports a.b, unless it is called.
func (p *porter) attribute(n *node) value {
	if full := p.full(n); full != "" {
		return p.imported(n, full)
	}
	if m, ok := p.member(n); ok {
		return m
	}
	if id := nameOf(n.Value); p.isFree(id) && starlarkTypes[id] != nil {
		return p.fail(n, "%s.%s cannot be used as a value: write a lambda that calls it", id, n.Attr)
	}
	v := p.expr(n.Value)
	switch t := v.typ; {
	case t.class == aPath:
		return p.pathPart(n, v)
	case t.class == aSpec:
		return v.with(fields()[t.spec+"."+n.Attr].typ, "."+n.Attr)
	case t.class == aClass && t.spec == retryPolicy:
		return v.with(typ{class: aStr, spec: retryPolicy, loose: true}, "."+n.Attr)
	case t.class == aStr && t.spec == retryPolicy && n.Attr == "value":
		v.typ = of(aStr)
		return v
	case t.class == unknown, t.class == aProblem:
		return v.with(of(t.class), "."+n.Attr)
	}
	return p.fail(n, ".%s cannot be used as a value: call it", n.Attr)
}

// fileOf ports __file__: the Python file, relative to the folder of the port.
func (p *porter) fileOf(n *node) value {
	name := cmp.Or(n.File, filepath.Base(p.name))
	if len(p.folders.Imports) == 0 || p.folders.Output == "" {
		p.note(n.Line, "a path: __file__ becomes %s in the folder of the port: write the port into the folder of %s", name, p.name)
	} else if rel, err := filepath.Rel(p.folders.Output, filepath.Join(p.folders.Imports[0], name)); err == nil {
		name = filepath.ToSlash(rel)
	}
	v := p.callOf(of(aStr), "path.join", p.call("path.here"), quote(name, false))
	if strings.HasPrefix(name, "../") {
		return p.callOf(of(aStr), "path.abspath", v)
	}
	return v
}

// parent ports PATH.parents[i]; v is the path.
func (p *porter) parent(n *node, v value) value {
	text, _ := constantOf(n.Slice, "int")
	up, err := strconv.Atoi(text)
	if err != nil || up > 20 {
		return p.fail(n, ".parents can be ported only with a number")
	}
	for range up + 1 {
		v = p.callOf(of(aPath), "path.dirname", v)
	}
	return p.callOf(of(aPath), "_pure_path", v)
}

func (p *porter) lambda(n *node) value {
	if !n.Plain {
		return p.refuse(n, "lambda")
	}
	types := map[string]typ{}
	var names []string
	for _, a := range n.Args {
		types[a.Arg] = typ{}
		names = append(names, a.Arg)
	}
	v := value{prec: precTest}
	p.within(types, func() {
		v.text = strings.TrimSpace("lambda "+strings.Join(names, ", ")) + ": " + p.expr(n.Body[0]).text
	})
	return v
}

func (p *porter) subscript(n *node) value {
	full := p.full(n.Value)
	switch full {
	case "os.environ":
		return p.callOf(of(aStr), "_require_env", p.expr(n.Slice))
	case "torchx.specs.RetryPolicy":
		return p.expr(n.Slice)
	}
	v := p.expr(n.Value)
	if c := p.classOf(v.typ); c != nil && v.typ.class == aClass && c.isEnum {
		return p.lookup(c, p.expr(n.Slice), true)
	}
	if s := n.Slice; s.Kind == "Slice" {
		text := ""
		for i, x := range []*node{s.Lower, s.Upper, s.Step} {
			if i == 1 || i == 2 && x != nil {
				text += ":"
			}
			if x != nil {
				text += p.expr(x).text
			}
		}
		return v.with(v.typ, "["+text+"]")
	}
	t := v.typ.elemType()
	switch {
	case v.typ.class == aProblem:
		return v
	case v.typ.class == aParents:
		return p.parent(n, v)
	case full == "torchx.specs.named_resources":
		t = specOf("Resource")
	case v.typ.class == aDict:
		t = v.typ.valueType()
	}
	return v.with(t, "["+p.expr(n.Slice).text+"]")
}
