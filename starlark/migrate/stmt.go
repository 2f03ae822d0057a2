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

// exprStmt ports an expression statement: a docstring or a call.
func (p *porter) exprStmt(w *writer, n *node) {
	switch {
	case n.Kind == "Constant": // such as …, without effect
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

// message ports messages for users (warnings.warn, print, loggers) and exits.
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
	case "logging.debug": // not shown by default
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
	p.shows = true
	defer func() { p.shows = false }()
	v := p.expr(n.Args[0])
	if s, ok := constantOf(n.Args[0], "str"); ok {
		v.text = quote(level+s, false)
	} else if level != "" {
		v.text = quote(level, false) + " + " + p.str(n, v).at(precProduct)
	}
	w.line(p.call("print", v))
	return true
}

// reorder ports x.sort() and x.reverse() if no other variable refers to the list.
func (p *porter) reorder(w *writer, n *node) bool {
	if !is(n.Func, "Attribute") || p.scope == nil {
		return false
	}
	function := map[string]string{"sort": "sorted", "reverse": "reversed"}[n.Func.Attr]
	name := nameOf(n.Func.Value)
	u := p.usage(p.scope.def)
	isShared := slices.ContainsFunc(u.reads[name], func(r read) bool { return !p.isLook(r) && u.isSeen(name, n, r.use) })
	if function == "" || p.local(name) == nil || len(n.Args) > 0 || isShared ||
		is(u.bindings[name][0], "arg") {
		return false
	}
	args := []any{name}
	for _, k := range n.Keywords {
		args = append(args, k.Arg+" = "+p.expr(k.Value).text)
	}
	w.line(name + " = " + p.call(function, args...))
	return true
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

// narrowed calls port for code that runs only if test is true. After isinstance(x, C), with C
// derived from str, x stands for its text.
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

// wrapper returns the field that holds the text of objects of a class derived from str, "" for
// other classes.
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

// raise ports an exception as fail.
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
