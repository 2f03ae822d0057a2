package migrate

import (
	"strings"
)

// writer writes the lines of a block.
type writer struct {
	lines  []string
	indent int
}

func (w *writer) line(s string) {
	if s != "" {
		s = strings.Repeat(" ", w.indent) + s
	}
	w.lines = append(w.lines, s)
}

// doc writes a statement: head, then a doc that may be broken, then tail.
func (w *writer) doc(head string, d *doc, tail string) {
	l := layout{}
	l.write(strings.Repeat(" ", w.indent) + head)
	l.doc(d, w.indent, len(tail))
	l.write(tail)
	w.lines = append(w.lines, strings.Split(l.b.String(), "\n")...)
}

// statement writes an assignment or an expression that may need parentheses to
// go over several lines.
func (w *writer) statement(head string, v value) { w.doc(head, v.doc, "") }

// block ports statements. An empty block gets a pass.
func (p *porter) block(w *writer, list []*node) {
	before := len(w.lines)
	for i, s := range list {
		if i > 0 && s.line > list[i-1].end+1 && p.blank(list[i-1].end, s) {
			w.line("")
		}
		p.leading(w, s.line)
		p.stmt(w, s)
		p.trailing(w, s)
	}
	for _, l := range w.lines[before:] {
		if t := strings.TrimSpace(l); t != "" && !strings.HasPrefix(t, "#") {
			return
		}
	}
	w.line("pass")
}

// blank reports whether there is an empty line between two statements.
func (p *porter) blank(end int, next *node) bool {
	comments := 0
	for _, c := range p.comments {
		if c.Alone && c.Line > end && c.Line < next.line {
			comments++
		}
	}
	return next.line-end-1 > comments
}

// leading writes the comments that stand before a line.
func (p *porter) leading(w *writer, line int) {
	for len(p.comments) > 0 && p.comments[0].Line < line {
		if c := p.comments[0]; kept(c.Text) {
			w.line(c.Text)
		}
		p.comments = p.comments[1:]
	}
}

// trailing writes the comments within and behind a statement: one behind a
// statement of one line stays there, others come before it.
func (p *porter) trailing(w *writer, s *node) {
	var above []string
	for len(p.comments) > 0 && p.comments[0].Line <= s.end {
		c := p.comments[0]
		p.comments = p.comments[1:]
		if !kept(c.Text) {
			continue
		}
		if s.line == s.end && !c.Alone && len(w.lines) > 0 {
			w.lines[len(w.lines)-1] += "  " + c.Text
			continue
		}
		above = append(above, c.Text)
	}
	if len(above) == 0 {
		return
	}
	at := p.begin(w, s)
	var lines []string
	for _, c := range above {
		lines = append(lines, strings.Repeat(" ", w.indent)+c)
	}
	w.lines = append(w.lines[:at:at], append(lines, w.lines[at:]...)...)
}

// begin is where the lines of the last statement begin: at the last line that is
// indented as the block is and closes nothing.
func (p *porter) begin(w *writer, _ *node) int {
	for i := len(w.lines) - 1; i >= 0; i-- {
		l := w.lines[i]
		body := strings.TrimLeft(l, " ")
		if len(l)-len(body) == w.indent && body != "" && !strings.ContainsAny(body[:1], ")]}") {
			return i
		}
	}
	return len(w.lines)
}

// kept reports whether a comment is for readers rather than for tools of Python's.
func kept(c string) bool {
	body := strings.TrimLeft(c, "#! ")
	for _, tool := range []string{"type:", "noqa", "pyre-", "pylint:", "fmt:", "mypy:", "flake8", "isort:", "ruff:", "-*-", "/usr/bin", "/bin/", "pragma:", "usort:", "@lint-ignore", "lint-fixme"} {
		if strings.HasPrefix(body, tool) {
			return false
		}
	}
	return true
}

func (p *porter) stmt(w *writer, n *node) {
	switch n.kind {
	case "Expr":
		p.exprStmt(w, n)
	case "Assign":
		p.assign(w, n)
	case "AnnAssign":
		if n.node("value") == nil {
			return
		}
		p.assignTo(w, n, n.node("target"), n.node("value"))
	case "AugAssign":
		p.augment(w, n)
	case "Return":
		if n.node("value") == nil {
			w.line("return None")
			return
		}
		p.checkReturned(n)
		w.statement("return ", p.expr(n.node("value")))
	case "If":
		p.ifStmt(w, n, "if ")
	case "For":
		p.forStmt(w, n)
	case "Pass":
	case "Break":
		w.line("break")
	case "Continue":
		w.line("continue")
	case "Raise":
		p.raise(w, n)
	case "Assert":
		p.assert(w, n)
	case "FunctionDef":
		p.nested(w, n)
	case "Import", "ImportFrom":
		p.importName(n)
	case "Delete":
		p.delete(w, n)
	default:
		p.fail(n, "%s", unsupported(n))
	}
}

// exprStmt ports an expression that stands alone: a docstring, or a call.
func (p *porter) exprStmt(w *writer, n *node) {
	x := n.node("value")
	if x.is("Constant") {
		if s, ok := x.isString(); ok {
			w.line(docString(s, w.indent))
		}
		return // … and the like say nothing
	}
	if x.is("Call") && (p.mutated(w, x) || p.message(w, x)) {
		return
	}
	w.statement("", p.expr(x))
}

// message ports warnings.warn and what goes to a logger, which users see.
func (p *porter) message(w *writer, n *node) bool {
	fn := n.node("func")
	full := p.full(fn)
	level := ""
	switch {
	case full == "warnings.warn", full == "logging.warning", full == "logging.warn":
		level = "warning: "
	case full == "logging.info", full == "logging.debug", full == "logging.error":
	case fn.is("Attribute") && p.isLogger(fn.node("value")):
		if name := fn.text("attr"); name == "warning" || name == "warn" {
			level = "warning: "
		}
	default:
		return false
	}
	if strings.HasSuffix(fn.text("attr"), "debug") {
		return true // nobody sees it by default
	}
	args := n.list("args")
	if len(args) == 0 || len(args) > 1 && full != "warnings.warn" {
		p.fail(n, "a message with arguments of its own: write an f-string")
		return true
	}
	v := p.expr(args[0])
	if level == "" {
		w.statement("", primary(call("print", p, v.doc), typ{}))
		return true
	}
	if s, ok := args[0].isString(); ok {
		w.statement("", primary(call("print", p, text(quote(level+s, false))), typ{}))
		return true
	}
	w.statement("", primary(call("print", p, join(text(quote(level, false)+" + "), p.str(n, v).at(precProduct))), typ{}))
	return true
}

func (p *porter) isLogger(n *node) bool {
	g := p.globals[n.text("id")]
	return n.is("Name") && g != nil && g.typ.spec == "logger" && p.local(n.text("id")) == nil
}

func (p *porter) assign(w *writer, n *node) {
	list := n.list("targets")
	p.assignTo(w, n, list[0], n.node("value"))
	for i := 1; i < len(list); i++ { // a = b = x
		if !list[i-1].is("Name") {
			p.fail(n, "write this as several assignments")
			return
		}
		p.assignTo(w, n, list[i], list[i-1])
	}
}

func (p *porter) assignTo(w *writer, n, target, source *node) {
	if target.is("Subscript") && p.full(target.node("value")) == "os.environ" {
		p.target(target)
		return
	}
	if target.is("Attribute") || target.is("Subscript") && target.node("value").is("Attribute") {
		p.changeRecord(w, n, target, source)
		return
	}
	v := p.expr(source)
	if target.is("Tuple", "List") {
		for _, e := range target.list("elts") {
			if e.is("Starred") {
				p.fail(n, "a starred target has no counterpart: take a slice")
				return
			}
		}
	}
	w.doc("", join(p.target(target), text(" = "), p.rhs(v)), "")
}

// rhs is the right side of an assignment; a tuple needs no parentheses, but has them.
func (p *porter) rhs(v value) *doc { return v.doc }

// target ports the left side of an assignment or a for.
func (p *porter) target(n *node) *doc {
	switch n.kind {
	case "Name":
		id := n.text("id")
		if id == "load" {
			return p.fail(n, "load cannot be the name of a variable in Starlark").doc
		}
		if g := p.globals[id]; g != nil && p.local(id) == nil {
			return text(g.name)
		}
		return text(id)
	case "Tuple", "List":
		var items []*doc
		for i, e := range n.list("elts") {
			if i > 0 {
				items = append(items, text(", "))
			}
			d := p.target(e)
			if e.is("Tuple", "List") {
				d = bracketed(d)
			}
			items = append(items, d)
		}
		if len(n.list("elts")) == 1 {
			items = append(items, text(","))
			return bracketed(join(items...))
		}
		return join(items...)
	case "Subscript":
		if p.full(n.node("value")) == "os.environ" {
			return p.fail(n, "a component cannot set variables of its own environment: set env of the role").doc
		}
		if n.node("slice").is("Slice") {
			return p.fail(n, "a slice cannot be assigned to in Starlark: build the list anew with +").doc
		}
		return p.expr(n).doc
	}
	return p.fail(n, "this cannot be assigned to").doc
}

func (p *porter) augment(w *writer, n *node) {
	target := n.node("target")
	op, ok := operators[n.node("op").kind]
	if !ok {
		p.fail(n, "this operator has no counterpart")
		return
	}
	if target.is("Attribute") || target.is("Subscript") && target.node("value").is("Attribute") {
		p.augmentRecord(w, n, op.text)
		return
	}
	if op.text == "%" && p.peek(target).class != anInt {
		p.fail(n, "%%= on what may be a string: write an f-string")
		return
	}
	t, v := p.peek(target), p.expr(n.node("value"))
	if list := n.node("value"); op.text == "+" && t.class == aList && list.is("List") && len(list.list("elts")) == 1 && !list.list("elts")[0].is("Starred") {
		w.doc("", join(p.target(target), text(".append"), bracket("(", []*doc{p.expr(list.list("elts")[0]).doc}, ")")), "")
		return
	}
	if op.text == "+" && t.class == aList && v.typ.class != aList {
		v = p.iterable(n.node("value"))
		v = primary(call("list", p, v.doc), v.typ) // Python's += takes whatever can be iterated
	}
	w.doc("", join(p.target(target), text(" "+op.text+"= "), v.doc), "")
}

func (p *porter) ifStmt(w *writer, n *node, word string) {
	cond := p.expr(n.node("test"))
	w.doc(word, cond.doc, ":")
	w.indent += 4
	p.block(w, n.list("body"))
	w.indent -= 4
	rest := n.list("orelse")
	switch {
	case len(rest) == 0:
	case len(rest) == 1 && rest[0].is("If") && rest[0].col == n.col:
		p.leading(w, rest[0].line)
		p.ifStmt(w, rest[0], "elif ")
	default:
		w.line("else:")
		w.indent += 4
		p.block(w, rest)
		w.indent -= 4
	}
}

func (p *porter) forStmt(w *writer, n *node) {
	if len(n.list("orelse")) > 0 {
		p.fail(n, "`else` of a for has no counterpart")
		return
	}
	over := p.iterable(n.node("iter"))
	w.doc("for ", join(p.target(n.node("target")), text(" in "), over.at(precOr)), ":")
	w.indent += 4
	p.block(w, n.list("body"))
	w.indent -= 4
}

// raise ports an exception: a component that fails says why, and is done.
func (p *porter) raise(w *writer, n *node) {
	exc := n.node("exc")
	if exc == nil {
		p.fail(n, "`raise` alone has no counterpart")
		return
	}
	w.statement("", primary(call("fail", p, p.exception(n, exc)), typ{}))
}

func (p *porter) exception(n, exc *node) *doc {
	if !exc.is("Call") {
		return text(quote(className(exc), false))
	}
	args := exc.list("args")
	if len(args) == 0 {
		return text(quote(className(exc.node("func")), false))
	}
	if len(args) > 1 || args[0].is("Starred") {
		return p.fail(n, "an exception with several values: write one text").doc
	}
	return p.str(n, p.expr(args[0])).doc
}

func className(n *node) string {
	if n.is("Attribute") {
		return n.text("attr")
	}
	return n.text("id")
}

func (p *porter) assert(w *writer, n *node) {
	cond := p.expr(n.node("test"))
	w.doc("if not ", cond.at(precNot), ":")
	reason := text(`"assertion failed"`)
	if msg := n.node("msg"); msg != nil {
		reason = p.str(n, p.expr(msg)).doc
	}
	w.indent += 4
	w.statement("", primary(call("fail", p, reason), typ{}))
	w.indent -= 4
}

func (p *porter) delete(w *writer, n *node) {
	for _, x := range n.list("targets") {
		index := x.node("slice")
		if index.is("Index") {
			index = index.node("value")
		}
		if !x.is("Subscript") || index.is("Slice") || p.peek(x.node("value")).class == aSpec || x.node("value").is("Attribute") {
			p.fail(n, "`del` of this has no counterpart")
			return
		}
		w.doc("", join(p.expr(x.node("value")).at(precPrimary), text(".pop("), p.expr(index).doc, text(")")), "")
	}
}

// peek is the type of an expression; nothing is noted about it.
func (p *porter) peek(n *node) typ {
	problems := len(p.problems)
	var failed []bool
	for s := p.scope; s != nil; s = s.parent {
		failed = append(failed, s.failed)
	}
	t := p.expr(n).typ
	p.problems = p.problems[:problems]
	for s := p.scope; s != nil; s = s.parent {
		s.failed = failed[0]
		failed = failed[1:]
	}
	return t
}
