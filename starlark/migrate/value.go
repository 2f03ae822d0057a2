package migrate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/syntax"
)

// value is a ported expression: its text, which may have several lines, its precedence and its
// type.
type value struct {
	text string
	prec int
	typ  typ
}

// Precedences of Starlark's operators, which are Python's.
const (
	precTest = iota // if-else, lambda
	precOr
	precAnd
	precNot
	precCompare
	precBitOr
	precBitXor
	precBitAnd
	precShift
	precSum
	precProduct
	precUnary
	precPrimary
)

type operator struct {
	text string
	prec int
}

// operators are Starlark's operators by their names in Python's ast module.
var operators = map[string]operator{
	"Add": {"+", precSum}, "Sub": {"-", precSum}, "Mult": {"*", precProduct}, "Div": {"/", precProduct},
	"FloorDiv": {"//", precProduct}, "Mod": {"%", precProduct}, "BitOr": {"|", precBitOr}, "BitXor": {"^", precBitXor},
	"BitAnd": {"&", precBitAnd}, "LShift": {"<<", precShift}, "RShift": {">>", precShift},
	"Eq": {"==", precCompare}, "NotEq": {"!=", precCompare}, "Lt": {"<", precCompare}, "LtE": {"<=", precCompare},
	"Gt": {">", precCompare}, "GtE": {">=", precCompare}, "In": {"in", precCompare}, "NotIn": {"not in", precCompare},
	"Is": {"==", precCompare}, "IsNot": {"!=", precCompare}, "Or": {"or", precOr}, "And": {"and", precAnd},
	"Not": {"not ", precNot}, "USub": {"-", precUnary}, "UAdd": {"+", precUnary}, "Invert": {"~", precUnary},
}

// at returns v's text, in parentheses if its precedence is lower than prec.
func (v value) at(prec int) string {
	if v.prec >= prec {
		return v.text
	}
	return "(" + v.text + ")"
}

func primary(text string, t typ) value { return value{text, precPrimary, t} }

// with returns v followed by a text such as ".name".
func (v value) with(t typ, behind string) value { return primary(v.at(precPrimary)+behind, t) }

// sum joins values with an operator.
func sum(op string, list []string, t typ) value {
	if len(list) == 1 {
		return primary(list[0], t)
	}
	return value{strings.Join(list, " "+operators[op].text+" "), operators[op].prec, t}
}

// texts returns the texts of values and strings.
func texts(list []any) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = fmt.Sprint(x)
	}
	return out
}

func (v value) String() string { return v.text }

// call writes a call of a predeclared function.
func (p *porter) call(full string, args ...any) string {
	return p.predeclared(full) + bracket("(", texts(args), ")", false)
}

// callOf is call as a value.
func (p *porter) callOf(t typ, full string, args ...any) value {
	return primary(p.call(full, args...), t)
}

// flatWidth is the width up to which a bracket stays in one line.
const flatWidth = 72

// bracket writes items in one line, or one per line if the line is too long, if an item has several
// lines or if lines is true. The formatter indents them.
func bracket(open string, items []string, closing string, lines bool) string {
	flat := open + strings.Join(items, ", ") + closing
	n := len(items)
	isLong := lines && n > 1 || strings.Contains(flat, "\n") || len(flat) > flatWidth
	if n == 0 || !isLong || n == 1 && strings.ContainsAny(items[0], "([{\n") {
		return flat // f([ … ]) stays together
	}
	comma := ","
	if strings.HasPrefix(items[n-1], "*") {
		comma = ""
	}
	return open + "\n" + strings.Join(items, ",\n") + comma + "\n" + closing
}

// constant ports a literal.
func (p *porter) constant(n *node) value {
	switch n.Type {
	case "str":
		if n.Bad {
			return p.refuse(n, "surrogate")
		}
		return primary(quote(n.Text, n.End > n.Line), of(aStr))
	case "float":
		if strings.Trim(n.Text, "0123456789.e+-") != "" {
			return p.callOf(of(aFloat), "float", quote(n.Text, false)) // inf
		}
		return primary(n.Text, of(aFloat))
	case "int", "bool":
		return primary(n.Text, of(class(n.Type)))
	case "NoneType":
		return primary(n.Text, of(aNone))
	}
	return p.fail(n, "a literal of type %s has no counterpart", n.Type)
}

// quote writes a string literal; with lines, a text of several lines gets triple quotes.
func quote(s string, lines bool) string {
	isOdd := func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }
	if lines && strings.Contains(s, "\n") && !strings.HasSuffix(s, `"`) &&
		!strings.ContainsFunc(s, isOdd) {
		return `"""` + strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(s) + `"""`
	}
	return syntax.Quote(s, false)
}

// writer writes the lines of a block.
type writer struct {
	lines  []string
	indent int
}

// line writes a line, or a statement of several lines, which the formatter indents.
func (w *writer) line(s string) {
	if s != "" {
		s = strings.Repeat(" ", w.indent) + s
	}
	w.lines = append(w.lines, s)
}

// block ports statements one level deeper. An empty block gets a pass.
func (p *porter) block(w *writer, list []*node) {
	w.indent += 4
	before := len(w.lines)
	for i, s := range list {
		if i > 0 && p.isBlank(list[i-1].End, s) {
			w.line("")
		}
		p.leading(w, s.Line)
		start := len(w.lines)
		p.stmt(w, s)
		p.trailing(w, s, start)
	}
	if !slices.ContainsFunc(w.lines[before:], func(l string) bool {
		t := strings.TrimSpace(l)
		return t != "" && !strings.HasPrefix(t, "#")
	}) {
		w.line("pass")
	}
	w.indent -= 4
}

// isBlank reports whether there is an empty line between two statements.
func (p *porter) isBlank(end int, next *node) bool {
	comments := 0
	for _, c := range p.comments {
		if c.Alone && c.Line > end && c.Line < next.Line {
			comments++
		}
	}
	return next.Line-end-1 > comments
}

// commentsUpTo removes and returns the comments up to a line.
func (p *porter) commentsUpTo(line int) []comment {
	n := 0
	for n < len(p.comments) && p.comments[n].Line <= line {
		n++
	}
	taken := p.comments[:n]
	p.comments = p.comments[n:]
	return taken
}

// leading writes the comments before a line.
func (p *porter) leading(w *writer, line int) {
	for _, c := range p.commentsUpTo(line - 1) {
		w.line(c.Text)
	}
}

// trailing writes the comments in and after a statement, which starts at line start of w: a comment
// at the end of a one-line statement stays there, others move before the statement.
func (p *porter) trailing(w *writer, s *node, start int) {
	for _, c := range p.commentsUpTo(s.End) {
		if s.Line == s.End && !c.Alone && len(w.lines) > start {
			w.lines[len(w.lines)-1] += "  " + c.Text
			continue
		}
		w.lines = slices.Insert(w.lines, start, strings.Repeat(" ", w.indent)+c.Text)
		start++
	}
}
