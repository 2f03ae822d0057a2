package migrate

// value is a ported expression.
type value struct {
	doc  *doc
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
func (v value) at(prec int) *doc {
	if v.prec >= prec {
		return v.doc
	}
	return bracketed(v.doc)
}

func bracketed(d *doc) *doc { return cat("(", d, ")") }

func primary(d *doc, t typ) value { return value{doc: d, prec: precPrimary, typ: t} }

// with is v with a text behind it, such as ".name".
func (v value) with(t typ, parts ...any) value {
	return primary(cat(append([]any{v.at(precPrimary)}, parts...)...), t)
}

// sum joins values with an operator.
func sum(op string, list []*doc, t typ) value {
	if len(list) == 1 {
		return primary(list[0], t)
	}
	return value{doc: separated(list, " "+operators[op].text+" "), prec: operators[op].prec, typ: t}
}

// call writes a call of something predeclared.
func (p *porter) call(full string, args ...any) *doc {
	return cat(p.predeclared(full), bracket("(", docs(args), ")"))
}

// callOf is call as a value.
func (p *porter) callOf(t typ, full string, args ...any) value {
	return primary(p.call(full, args...), t)
}
