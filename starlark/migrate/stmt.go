package migrate

import (
	"slices"
	"strings"
)

// stmt ports a statement.
func (p *porter) stmt(w *writer, n *node) {
	p.at = n
	switch n.Kind {
	case "Expr":
		p.exprStmt(w, n.Value)
	case "Assign", "AnnAssign":
		p.assign(w, n)
	case "AugAssign":
		p.augment(w, n)
	case "Return":
		p.returned(w, n)
	case "If":
		p.ifStmt(w, n, "if ")
	case "For":
		p.forStmt(w, n)
	case "Raise":
		p.raise(w, n)
	case "Assert":
		p.assert(w, n)
	case "FunctionDef":
		p.nested(w, n)
	case "Delete":
		p.delete(w, n)
	case "Break", "Continue":
		w.line(strings.ToLower(n.Kind))
	case "ImportFrom":
		p.checkStars(n.Line, n.End)
	case "Pass", "Import":
	default:
		p.unsupported(n)
	}
}

// exprStmt ports an expression that stands alone: a docstring, or a call.
func (p *porter) exprStmt(w *writer, n *node) {
	switch {
	case n.Kind == "Constant": // … and the like say nothing
		if n.Type == "str" {
			w.line(docString(n.Text, w.indent))
		}
	case n.Kind != "Call":
		w.line(p.expr(n).text)
	case p.changeByCall(w, n) || p.message(w, n) || p.reorder(w, n):
	default:
		w.line(p.expr(n).text)
		if isMutator(n) && p.scope != nil {
			if name := rootOf(n.Func.Value); name != "" {
				p.writeBack(w, name, "")
			}
		}
	}
}

// message ports warnings.warn, print, what goes to a logger, which users see, and exits.
func (p *porter) message(w *writer, n *node) bool {
	full := p.full(n.Func)
	name := n.Func.Attr
	if is(n.Func, "Attribute") && full == "" && p.peek(n.Func.Value).class == aLogger {
		full = "logging." + name
	}
	level := ""
	switch full {
	case "warnings.warn", "logging.warning", "logging.warn":
		level = "warning: "
	case "logging.debug": // by default, it is not shown
		return true
	case "logging.info", "logging.error", "logging.exception", "logging.critical":
	case "sys.exit", "":
		if id := nameOf(n.Func); full == "" && (id != "exit" && id != "quit" || !p.isFree(id)) {
			return false
		}
		reason := `"exited"`
		if len(n.Args) > 0 {
			reason = p.str(n, p.expr(n.Args[0])).text
		}
		w.line(p.call("fail", reason))
		return true
	default:
		return false
	}
	if len(n.Args) == 0 || len(n.Args) > 1 && full != "warnings.warn" {
		p.refuse(n, "message")
		return true
	}
	v := p.expr(n.Args[0])
	if s, ok := constantOf(n.Args[0], "str"); ok {
		v.text = quote(level+s, false)
	} else if level != "" {
		v.text = quote(level, false) + " + " + p.str(n, v).at(precProduct)
	}
	w.line(p.call("print", v))
	return true
}

// reorder ports x.sort() and x.reverse() of a variable that nothing else refers to.
func (p *porter) reorder(w *writer, n *node) bool {
	if !is(n.Func, "Attribute") || p.scope == nil {
		return false
	}
	function := map[string]string{"sort": "sorted", "reverse": "reversed"}[n.Func.Attr]
	name := nameOf(n.Func.Value)
	u := p.usage(p.scope.def)
	isShared := slices.ContainsFunc(u.reads[name], func(r read) bool { return !p.isLook(r) && u.isSeen(name, n, r.use) })
	if function == "" || p.local(name) == nil || len(n.Args) > 0 || isShared || is(u.bindings[name][0], "arg") {
		return false
	}
	args := []any{name}
	for _, k := range n.Keywords {
		args = append(args, k.Arg+" = "+p.expr(k.Value).text)
	}
	w.line(name + " = " + p.call(function, args...))
	return true
}

func (p *porter) assign(w *writer, n *node) {
	if n.Value == nil {
		return
	}
	source := n.Value
	for i, target := range n.Targets { // a = b = x
		if i > 0 {
			if source = n.Targets[i-1]; nameOf(source) == "" {
				p.fail(n, "a chain of assignments to items cannot be ported: write several assignments")
				return
			}
		}
		p.assignTo(w, n, target, source)
	}
}

// isOwnField reports whether a target is self.x in __init__, which is a variable there.
func (p *porter) isOwnField(target *node) bool {
	return is(target, "Attribute") && p.scope != nil && p.scope.self != "" && nameOf(target.Value) == p.scope.self
}

func (p *porter) assignTo(w *writer, n, target, source *node) {
	switch {
	case is(target, "Subscript") && p.full(target.Value) == "os.environ":
		p.refuse(n, "environ")
		return
	case p.isInRecord(target) || is(target, "Attribute") && !p.isOwnField(target):
		p.changeRecord(w, n, target, p.expr(source).text)
		return
	}
	if is(target, "Tuple", "List") && len(target.Elts) == 1 && p.isInRecord(source) { // [role] = app.roles
		first := &node{Kind: "Constant", Line: source.Line, End: source.End, Type: "int", Text: "0"}
		target, source = target.Elts[0], &node{Kind: "Subscript", Line: source.Line, End: source.End, Value: source, Slice: first}
	}
	v := p.expr(source)
	if is(target, "Tuple", "List") && slices.ContainsFunc(target.Elts, isStarred) {
		p.starred(w, target, v)
		return
	}
	if p.scope != nil {
		v = p.track(target, source, v)
	}
	if is(target, "Tuple") && is(source, "Tuple") && len(source.Elts) > 1 && !strings.Contains(v.text, "\n") {
		v.text = strings.TrimSuffix(strings.TrimPrefix(v.text, "("), ")")
	}
	w.line(p.target(target) + " = " + v.text)
	if name := rootOf(target); p.scope != nil && is(target, "Subscript") {
		p.writeBack(w, name, "")
	}
}

// starred ports first, *rest = x.
func (p *porter) starred(w *writer, target *node, v value) {
	last := len(target.Elts) - 1
	if !isStarred(target.Elts[last]) || v.prec != precPrimary || slices.ContainsFunc(target.Elts[:last], isStarred) {
		p.refuse(target, "starred target")
		return
	}
	var names, values []string
	for i, e := range target.Elts[:last] {
		names = append(names, p.target(e))
		values = append(values, v.text+"["+itoa(i)+"]")
	}
	names = append(names, p.target(target.Elts[last].Value))
	rest := p.call("list", v.text+"["+itoa(last)+":]")
	w.line(strings.Join(names, ", ") + " = " + strings.Join(append(values, rest), ", "))
}

// target ports the left side of an assignment or a for.
func (p *porter) target(n *node) string {
	switch n.Kind {
	case "Name":
		if n.ID == "load" {
			return p.fail(n, "load cannot be the name of a variable in Starlark").text
		}
		if g := p.global(n.ID); g != nil {
			return g.name
		}
		return n.ID
	case "Tuple", "List":
		var items []string
		for _, e := range n.Elts {
			text := p.target(e)
			if is(e, "Tuple", "List") {
				text = "(" + text + ")"
			}
			items = append(items, text)
		}
		if len(items) == 1 {
			return "(" + items[0] + ",)"
		}
		return strings.Join(items, ", ")
	case "Subscript":
		if n.Slice.Kind == "Slice" {
			return p.refuse(n, "slice target").text
		}
		return p.expr(n).text
	case "Attribute":
		if p.isOwnField(n) {
			return p.expr(n).text
		}
	}
	return p.fail(n, "Starlark cannot assign to this expression").text
}

func (p *porter) augment(w *writer, n *node) {
	op, ok := operators[n.Op]
	t := p.peek(n.Target)
	switch {
	case !ok || n.Op == "Pow":
		p.fail(n, "the operator of this assignment has no counterpart: write the expression")
		return
	case op.text == "%" && t.class != anInt:
		p.refuse(n, "percent")
		return
	case p.isInRecord(n.Target) || changesField(n.Target) && !p.isOwnField(n.Target) && p.peek(rootNode(n.Target)).class != anObject:
		v := p.number(p.expr(n.Value))
		if t.class == aList {
			v = p.asList(v)
		}
		old := p.expr(n.Target)
		p.changeRecord(w, n, n.Target, old.at(op.prec)+" "+op.text+" "+v.at(op.prec+1))
		return
	case is(n.Target, "Attribute") && !p.isOwnField(n.Target):
		p.refuse(n, "object")
		return
	}
	v := p.expr(n.Value)
	switch {
	case op.text == "+" && t.class == aList && is(n.Value, "List") && len(n.Value.Elts) == 1 && !isStarred(n.Value.Elts[0]):
		w.line(p.target(n.Target) + ".append(" + p.expr(n.Value.Elts[0]).text + ")")
	case op.text == "+" && t.class == aList:
		w.line(p.target(n.Target) + " += " + p.asList(p.iterable(n.Value)).text) // Python's takes whatever can be iterated
	default:
		if t.isNumber() {
			v = p.number(v)
		}
		w.line(p.target(n.Target) + " " + op.text + "= " + v.text)
	}
	if name := rootOf(n.Target); p.scope != nil && t.class.isMutable() {
		p.writeBack(w, name, "")
	}
}

func (p *porter) ifStmt(w *writer, n *node, word string) {
	w.line(word + p.expr(n.Test).text + ":")
	p.narrowed(n.Test, func() { p.block(w, n.Body) })
	if len(n.Orelse) == 0 {
		return
	}
	if x := n.Orelse[0]; x.Kind == "If" && len(n.Orelse) == 1 && x.Col == n.Col {
		p.leading(w, x.Line)
		p.ifStmt(w, x, "elif ")
		return
	}
	w.line("else:")
	p.block(w, n.Orelse)
}

// narrowed calls port for what is done where a test is true: where isinstance(x, C) is, and C is
// derived from str, x is used as its text.
func (p *porter) narrowed(test *node, port func()) {
	if is(test, "Call") && nameOf(test.Func) == "isinstance" && len(test.Args) == 2 {
		name, field := nameOf(test.Args[0]), p.wrapper(test.Args[1])
		if name != "" && field != "" {
			p.within(map[string]typ{name: {class: aWrapped, spec: field, loose: true}}, port)
			return
		}
	}
	port()
}

// wrapper returns the field with the text of the objects of a class that is derived from str, ""
// for another class.
func (p *porter) wrapper(n *node) string {
	if p.full(n) == "torchx.components.dist._noquote" {
		return "noquote"
	}
	if g := p.global(nameOf(n)); g != nil && g.class != nil && g.class.isWrapper {
		return g.class.name
	}
	return ""
}

func (p *porter) forStmt(w *writer, n *node) {
	if len(n.Orelse) > 0 {
		p.fail(n, "`else` of a for has no counterpart")
		return
	}
	over := p.iterable(n.Iter)
	target, iter := p.target(n.Target), over.at(precOr)
	if p.scope != nil {
		target, iter = p.loopOver(n, over)
	}
	w.line("for " + target + " in " + iter + ":")
	p.block(w, n.Body)
	for _, name := range n.Binds {
		delete(p.scope.places, name)
	}
}

// raise ports an exception: a component that fails says why, and is done.
func (p *porter) raise(w *writer, n *node) {
	var reason string
	switch c := n.Exc; {
	case c == nil:
		p.fail(n, "`raise` alone has no counterpart")
		return
	case c.Kind != "Call":
		reason = quote(className(c), false)
	case len(c.Args) == 0:
		reason = quote(className(c.Func), false)
	case len(c.Args) > 1 || isStarred(c.Args[0]):
		reason = p.refuse(n, "exception").text
	default:
		reason = p.str(n, p.expr(c.Args[0])).text
	}
	w.line(p.call("fail", reason))
}

func className(n *node) string {
	if n.Kind == "Attribute" {
		return n.Attr
	}
	return nameOf(n)
}

func (p *porter) assert(w *writer, n *node) {
	reason := `"assertion failed"`
	if n.Msg != nil {
		reason = p.str(n, p.expr(n.Msg)).text
	}
	w.line("if not " + p.expr(n.Test).at(precNot) + ":")
	w.line("    " + p.call("fail", reason))
}

func (p *porter) delete(w *writer, n *node) {
	for _, x := range n.Targets {
		switch {
		case x.Kind != "Subscript" || x.Slice.Kind == "Slice":
			p.fail(n, "`del` of this has no counterpart")
		case p.isInRecord(x) && p.peek(x.Value).class == aDict:
			if p.isAlone(n, x) {
				p.store(w, x.Value, p.without(p.expr(x.Value), p.expr(x.Slice)), "")
			}
		case p.isInRecord(x):
			p.fail(n, "`del` of a part of a specs value has no counterpart: build the value without it")
		default:
			w.line(p.expr(x.Value).at(precPrimary) + ".pop(" + p.expr(x.Slice).text + ")")
		}
	}
}
