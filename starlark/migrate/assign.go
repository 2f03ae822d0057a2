package migrate

import (
	"strings"
)

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

// isOwnField reports whether a target is self.x in __init__, which is a variable in the port.
func (p *porter) isOwnField(target *node) bool {
	return is(target, "Attribute") && p.scope != nil && p.scope.self != "" &&
		nameOf(target.Value) == p.scope.self
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
	if p.scope != nil {
		v = p.track(target, source, v)
	}
	if is(target, "Tuple") && is(source, "Tuple") && len(source.Elts) > 1 &&
		!strings.Contains(v.text, "\n") {
		v.text = strings.TrimSuffix(strings.TrimPrefix(v.text, "("), ")")
	}
	w.line(p.target(target) + " = " + v.text)
	if name := rootOf(target); p.scope != nil && is(target, "Subscript") {
		p.writeBack(w, name, "")
	}
}

// target ports the target of an assignment or a for.
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
	case p.isInRecord(n.Target) || changesField(n.Target) && !p.isOwnField(n.Target) &&
		p.peek(rootNode(n.Target)).class != anObject:
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
	case op.text == "+" && t.class == aList && is(n.Value, "List") && len(n.Value.Elts) == 1 &&
		!isStarred(n.Value.Elts[0]):
		w.line(p.target(n.Target) + ".append(" + p.expr(n.Value.Elts[0]).text + ")")
	case op.text == "+" && t.class == aList:
		w.line(p.target(n.Target) + " += " + p.asList(p.iterable(n.Value)).text) // Python accepts any iterable
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
