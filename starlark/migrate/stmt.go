package migrate

import (
	"slices"
	"strings"
)

// stmt ports a statement.
func (p *porter) stmt(w *writer, n node) {
	switch n := n.(type) {
	case *pyExpr:
		p.exprStmt(w, n)
	case *pyAssign:
		p.assign(w, n)
	case *pyAugAssign:
		p.augment(w, n)
	case *pyReturn:
		if n.Value == nil {
			w.line("return None")
			return
		}
		p.checkReturned(n)
		w.statement("return ", p.expr(n.Value).doc, "")
	case *pyIf:
		p.ifStmt(w, n, "if ")
	case *pyFor:
		p.forStmt(w, n)
	case *pyRaise:
		p.raise(w, n)
	case *pyAssert:
		p.assert(w, n)
	case *pyFunctionDef:
		p.nested(w, n)
	case *pyDelete:
		p.delete(w, n)
	default:
		switch kind := n.at().Kind; {
		case kind == "Break", kind == "Continue":
			w.line(strings.ToLower(kind))
		case kind == "ImportFrom":
			p.checkStars(n.at().Line, n.at().End)
		case !slices.Contains(silent, kind):
			p.fail(n, "%s", unsupported(n))
		}
	}
}

// exprStmt ports an expression that stands alone: a docstring, or a call.
func (p *porter) exprStmt(w *writer, n *pyExpr) {
	switch x := n.Value.(type) {
	case *pyConstant: // … and the like say nothing
		if x.Type == "str" {
			w.line(docString(x.Text, w.indent))
		}
		return
	case *pyCall:
		if p.changeByCall(w, x) || p.message(w, x) {
			return
		}
	}
	w.statement("", p.expr(n.Value).doc, "")
}

// message ports warnings.warn and what goes to a logger, which users see.
func (p *porter) message(w *writer, n *pyCall) bool {
	full := p.full(n.Func)
	fn, _ := n.Func.(*pyAttribute)
	name := ""
	if fn != nil {
		name = fn.Attr
	}
	level := ""
	switch {
	case full == "warnings.warn", full == "logging.warning", full == "logging.warn":
		level = "warning: "
	case full == "logging.info", full == "logging.debug", full == "logging.error":
	case fn != nil && p.isLogger(fn.Value):
		if name == "warning" || name == "warn" {
			level = "warning: "
		}
	default:
		return false
	}
	if strings.HasSuffix(name, "debug") {
		return true // by default, it is not shown
	}
	if len(n.Args) == 0 || len(n.Args) > 1 && full != "warnings.warn" {
		p.fail(n, "a message with arguments of its own: write an f-string")
		return true
	}
	v := p.expr(n.Args[0])
	d := v.doc
	if s, ok := constantOf(n.Args[0], "str"); ok && level != "" {
		d = text(quote(level+s, false))
	} else if level != "" {
		d = cat(quote(level, false)+" + ", p.str(n, v).at(precProduct))
	}
	w.statement("", p.call("print", d), "")
	return true
}

func (p *porter) isLogger(n node) bool {
	g := p.global(nameOf(n))
	return g != nil && g.typ.spec == "logger"
}

func (p *porter) assign(w *writer, n *pyAssign) {
	if n.Value == nil {
		return
	}
	source := n.Value
	for i, target := range n.Targets { // a = b = x
		if i > 0 {
			if source = n.Targets[i-1]; nameOf(source) == "" {
				p.fail(n, "write this as several assignments")
				return
			}
		}
		p.assignTo(w, n, target, source)
	}
}

// changesRecord reports whether an assignment to n changes a field of a value.
func changesRecord(n node) bool {
	if s, ok := n.(*pySubscript); ok {
		n = s.Value
	}
	_, ok := n.(*pyAttribute)
	return ok
}

func (p *porter) assignTo(w *writer, n *pyAssign, target, source node) {
	if p.isEnviron(target) {
		p.target(target)
		return
	}
	if changesRecord(target) {
		p.changeRecord(w, n, target, source)
		return
	}
	v := p.expr(source)
	elts, _ := elements(target, "Tuple", "List")
	for _, e := range elts {
		if isStarred(e) {
			p.fail(n, "a starred target has no counterpart: take a slice")
			return
		}
	}
	w.statement("", cat(p.target(target), " = ", v), "")
}

// isEnviron reports whether n is an item of os.environ.
func (p *porter) isEnviron(n node) bool {
	s, ok := n.(*pySubscript)
	return ok && p.full(s.Value) == "os.environ"
}

// target ports the left side of an assignment or a for.
func (p *porter) target(n node) *doc {
	switch x := n.(type) {
	case *pyName:
		if x.ID == "load" {
			return p.fail(n, "load cannot be the name of a variable in Starlark").doc
		}
		if g := p.global(x.ID); g != nil {
			return text(g.name)
		}
		return text(x.ID)
	case *pyDisplay:
		var items []*doc
		for _, e := range x.Elts {
			d := p.target(e)
			if _, ok := e.(*pyDisplay); ok {
				d = bracketed(d)
			}
			items = append(items, d)
		}
		if len(items) == 1 {
			return bracketed(cat(items[0], ","))
		}
		return separated(items, ", ")
	case *pySubscript:
		if p.isEnviron(n) {
			return p.fail(n, "a component cannot set variables of its own environment: set env of the role").doc
		}
		if _, ok := x.Slice.(*pySlice); ok {
			return p.fail(n, "a slice cannot be assigned to in Starlark: build the list anew with +").doc
		}
		return p.expr(n).doc
	}
	return p.fail(n, "this cannot be assigned to").doc
}

func (p *porter) augment(w *writer, n *pyAugAssign) {
	op, ok := operators[n.Op]
	switch {
	case !ok:
		p.fail(n, "this operator has no counterpart")
		return
	case changesRecord(n.Target):
		p.augmentRecord(w, n, op.text)
		return
	case op.text == "%" && p.peek(n.Target).class != anInt:
		p.fail(n, "%%= on what may be a string: write an f-string")
		return
	}
	t, v := p.peek(n.Target), p.expr(n.Value)
	if elts, _ := elements(n.Value, "List"); op.text == "+" && t.class == aList && len(elts) == 1 && !isStarred(elts[0]) {
		w.statement("", cat(p.target(n.Target), ".append", bracket("(", []*doc{p.expr(elts[0]).doc}, ")")), "")
		return
	}
	if op.text == "+" && t.class == aList && v.typ.class != aList {
		v = p.iterable(n.Value)
		v.doc = p.call("list", v) // Python's += takes whatever can be iterated
	}
	w.statement("", cat(p.target(n.Target), " "+op.text+"= ", v), "")
}

func (p *porter) ifStmt(w *writer, n *pyIf, word string) {
	w.statement(word, p.expr(n.Test).doc, ":")
	p.block(w, n.Body)
	if len(n.Orelse) == 0 {
		return
	}
	if x, ok := n.Orelse[0].(*pyIf); ok && len(n.Orelse) == 1 && x.Col == n.Col {
		p.leading(w, x.Line)
		p.ifStmt(w, x, "elif ")
		return
	}
	w.line("else:")
	p.block(w, n.Orelse)
}

func (p *porter) forStmt(w *writer, n *pyFor) {
	if len(n.Orelse) > 0 {
		p.fail(n, "`else` of a for has no counterpart")
		return
	}
	over := p.iterable(n.Iter)
	w.statement("for ", cat(p.target(n.Target), " in ", over.at(precOr)), ":")
	p.block(w, n.Body)
}

// raise ports an exception: a component that fails says why, and is done.
func (p *porter) raise(w *writer, n *pyRaise) {
	if n.Exc == nil {
		p.fail(n, "`raise` alone has no counterpart")
		return
	}
	w.statement("", p.call("fail", p.exception(n)), "")
}

func (p *porter) exception(n *pyRaise) *doc {
	c, ok := n.Exc.(*pyCall)
	switch {
	case !ok:
		return text(quote(className(n.Exc), false))
	case len(c.Args) == 0:
		return text(quote(className(c.Func), false))
	case len(c.Args) > 1 || isStarred(c.Args[0]):
		return p.fail(n, "an exception with several values: write one text").doc
	}
	return p.str(n, p.expr(c.Args[0])).doc
}

func className(n node) string {
	if a, ok := n.(*pyAttribute); ok {
		return a.Attr
	}
	return nameOf(n)
}

func (p *porter) assert(w *writer, n *pyAssert) {
	w.statement("if not ", p.expr(n.Test).at(precNot), ":")
	reason := text(`"assertion failed"`)
	if n.Msg != nil {
		reason = p.str(n, p.expr(n.Msg)).doc
	}
	w.indent += 4
	w.statement("", p.call("fail", reason), "")
	w.indent -= 4
}

func (p *porter) delete(w *writer, n *pyDelete) {
	for _, x := range n.Targets {
		s, ok := x.(*pySubscript)
		if ok {
			_, isSlice := s.Slice.(*pySlice)
			_, isField := s.Value.(*pyAttribute)
			ok = !isSlice && !isField && p.peek(s.Value).class != aSpec
		}
		if !ok {
			p.fail(n, "`del` of this has no counterpart")
			return
		}
		w.statement("", cat(p.expr(s.Value).at(precPrimary), ".pop(", p.expr(s.Slice), ")"), "")
	}
}
