package migrate

import (
	"fmt"
	"strings"
	"unicode"
)

// value is a ported expression: its text, which may have several lines, how tight it binds, and
// what is known of its type.
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

// operators are those of Starlark, by the names that Python's ast module has for them.
var operators = map[string]operator{
	"Add": {"+", precSum}, "Sub": {"-", precSum}, "Mult": {"*", precProduct}, "Div": {"/", precProduct},
	"FloorDiv": {"//", precProduct}, "Mod": {"%", precProduct}, "BitOr": {"|", precBitOr}, "BitXor": {"^", precBitXor},
	"BitAnd": {"&", precBitAnd}, "LShift": {"<<", precShift}, "RShift": {">>", precShift},
	"Eq": {"==", precCompare}, "NotEq": {"!=", precCompare}, "Lt": {"<", precCompare}, "LtE": {"<=", precCompare},
	"Gt": {">", precCompare}, "GtE": {">=", precCompare}, "In": {"in", precCompare}, "NotIn": {"not in", precCompare},
	"Is": {"==", precCompare}, "IsNot": {"!=", precCompare}, "Or": {"or", precOr}, "And": {"and", precAnd},
	"Not": {"not ", precNot}, "USub": {"-", precUnary}, "UAdd": {"+", precUnary}, "Invert": {"~", precUnary},
}

// at returns v's text, in parentheses where it would bind less than prec.
func (v value) at(prec int) string {
	if v.prec >= prec {
		return v.text
	}
	return "(" + v.text + ")"
}

func primary(text string, t typ) value { return value{text, precPrimary, t} }

// with is v with a text behind it, such as ".name".
func (v value) with(t typ, behind string) value { return primary(v.at(precPrimary)+behind, t) }

// sum joins values with an operator.
func sum(op string, list []string, t typ) value {
	if len(list) == 1 {
		return primary(list[0], t)
	}
	return value{strings.Join(list, " "+operators[op].text+" "), operators[op].prec, t}
}

// texts are the texts of values and strings.
func texts(list []any) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = fmt.Sprint(x)
	}
	return out
}

func (v value) String() string { return v.text }

// call writes a call of something predeclared.
func (p *porter) call(full string, args ...any) string {
	return p.predeclared(full) + bracket("(", texts(args), ")", false)
}

// callOf is call as a value.
func (p *porter) callOf(t typ, full string, args ...any) value {
	return primary(p.call(full, args...), t)
}

// flatWidth is the width up to which a bracket stays in one line.
const flatWidth = 72

// bracket writes items in one line, or one per line if that is too long, if an item has several
// lines or if lines is true. The formatter does the rest.
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

// quote writes a string literal. One of several lines that was written in several
// lines stays so.
func quote(s string, lines bool) string {
	if lines && strings.Contains(s, "\n") && !strings.HasSuffix(s, `"`) {
		return `"""` + strings.ReplaceAll(escape(s, "\"\n\t"), `"""`, `\"\"\"`) + `"""`
	}
	return `"` + escape(s, "") + `"`
}

// escapes are the characters that have an escape of their own.
var escapes = map[rune]string{'\\': `\\`, '"': `\"`, '\n': `\n`, '\t': `\t`, '\r': `\r`}

// escape writes the inside of a string literal in which some characters stay as they are.
func escape(s, plain string) string {
	var b strings.Builder
	for _, r := range s {
		switch e, ok := escapes[r]; {
		case ok && !strings.ContainsRune(plain, r):
			b.WriteString(e)
		case ok || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
