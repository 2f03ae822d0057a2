package migrate

import "slices"

// node is a node of Python's syntax tree. Kind is its class in Python's ast module, and the
// other fields are those of the ported classes; dump.py says what it changes.
type node struct {
	Kind           string
	Line, Col, End int      // from 1
	Binds          []string // the names that the node itself binds, without imports

	Name, ID, Attr, Arg, Op, Star string
	Ops                           []string
	Type, Text                    string // of a constant
	Bad                           bool   // its text has half of a surrogate pair
	Power                         string // the digits of a power of constants
	Keyword, Plain                bool   // a keyword-only parameter; a lambda without stars and defaults
	Conversion, IsAsync           int
	Form                          [][]string // the parts of the text whose .format this is

	Value, Func, Target, Iter, Test, Msg, Exc, Elt, Key, Left, Right, Operand, Slice, Lower, Upper, Step *node
	FormatSpec, Returns, Annotation, Default                                                             *node

	Targets, Args, Keywords, Elts, Keys, Values, Generators, Ifs, Comparators []*node
	Bases, DecoratorList, Body, Orelse, Handlers, FinalBody                   []*node
}

// kids lists the nodes directly below n.
func (n *node) kids() []*node {
	one := []*node{
		n.Value, n.Func, n.Target, n.Iter, n.Test, n.Msg, n.Exc, n.Elt, n.Key, n.Left, n.Right, n.Operand, n.Slice, n.Lower, n.Upper, n.Step,
		n.FormatSpec, n.Returns, n.Annotation, n.Default,
	}
	all := slices.Concat(
		n.DecoratorList, n.Bases, n.Targets, n.Args, n.Keywords, n.Elts, n.Keys, n.Values, n.Generators, n.Ifs, n.Comparators, one,
		n.Body, n.Handlers, n.Orelse, n.FinalBody,
	)
	return slices.DeleteFunc(all, func(k *node) bool { return k == nil })
}

// walk calls f for n and all nodes below it. It skips what is below a node where f is false.
func walk(n *node, f func(*node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, k := range n.kids() {
		walk(k, f)
	}
}

// before reports whether a begins before b.
func before(a, b *node) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// isWithin reports whether n is one of the lines of outer.
func (n *node) isWithin(outer *node) bool { return outer.Line <= n.Line && n.End <= outer.End }

func is(n *node, kinds ...string) bool { return n != nil && slices.Contains(kinds, n.Kind) }

// nameOf returns the name of a variable, "" if n is another expression.
func nameOf(n *node) string {
	if is(n, "Name") {
		return n.ID
	}
	return ""
}

// rootOf returns the variable a of a.b[c].d, "" if a is not a variable.
func rootOf(n *node) string {
	for is(n, "Attribute", "Subscript") {
		n = n.Value
	}
	return nameOf(n)
}

// constantOf returns the text of a constant of a type such as "str".
func constantOf(n *node, kind string) (string, bool) {
	if !is(n, "Constant") || n.Type != kind {
		return "", false
	}
	return n.Text, true
}

func isNone(n *node) bool {
	_, ok := constantOf(n, "NoneType")
	return ok
}

func isStarred(n *node) bool { return is(n, "Starred") }

// keyword returns the value of a call's keyword argument, nil if it has none.
func (n *node) keyword(name string) *node {
	for _, k := range n.Keywords {
		if k.Arg == name {
			return k.Value
		}
	}
	return nil
}

// argument returns argument i of a call, given by position or by name; nil if it is missing.
func (n *node) argument(i int, name string) *node {
	if i < len(n.Args) {
		return n.Args[i]
	}
	return n.keyword(name)
}
