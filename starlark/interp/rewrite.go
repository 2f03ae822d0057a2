package interp

import (
	"fmt"
	"math/big"

	"go.starlark.net/syntax"
)

const (
	// guardPrefix begins the names of guards. They are not identifiers, so no file can use or
	// shadow them.
	guardPrefix = "%"
	// maxNesting bounds the depth of a syntax tree: the compiler recurses over chains such as
	// a + a + … and elif …, which the parser, unlike brackets, does not bound.
	maxNesting = 4000
)

func isInternal(name string) bool { return len(name) > 0 && name[:1] == guardPrefix }

// A positionError is a limit exceeded at pos.
type positionError struct {
	pos syntax.Position
	err *LimitError
}

func (e *positionError) Error() string { return e.err.Error() }

// rewrite inserts calls of guards into f, before names are resolved. Values, the
// order of evaluation and positions do not change:
//
//	x + y       guard(x, y)           for + * << % and comparisons
//	x += y      x += guard(x, y)      the guard checks and returns y
//	x[i] += y   push(x)[push(i)] += guard(y)
//	x.join      methods(x).join       for methods that grow or iterate
//	f(*x)       f(*guard(x))
func rewrite(f *syntax.File) error {
	w := &rewriter{}
	for _, s := range f.Stmts {
		syntax.Walk(s, w.visit)
	}
	if w.err != nil {
		return w.err
	}
	return nil
}

type rewriter struct {
	depth int
	last  syntax.Node // the last one that is neither a name nor a literal
	err   *positionError
}

func (w *rewriter) fail(pos syntax.Position, format string, args ...any) {
	if w.err == nil {
		w.err = &positionError{pos, &LimitError{Limit: "size", Msg: fmt.Sprintf(format, args...)}}
	}
}

// visit rewrites a node before its children are visited.
func (w *rewriter) visit(n syntax.Node) bool {
	if n == nil {
		w.depth--
		return false
	}
	w.depth++
	switch n := n.(type) {
	case *syntax.Literal:
		w.literal(n)
	case *syntax.Ident:
	default:
		w.last = n
	}
	if w.depth > maxNesting && w.err == nil {
		start, _ := w.last.Span()
		w.fail(start, "nested deeper than %d levels; split it", maxNesting)
	}
	if w.err != nil {
		return false
	}
	guardStatement(n)
	guardExpr(n)
	return true
}

func (w *rewriter) literal(l *syntax.Literal) {
	if n, ok := l.Value.(*big.Int); ok && n.BitLen() > maxIntBits {
		w.fail(l.TokenPos, "the number has %d bits, over the limit of %d", n.BitLen(), maxIntBits)
	}
}

// guardStatement guards the operators that are expressions of a statement.
func guardStatement(n syntax.Node) {
	switch s := n.(type) {
	case *syntax.ExprStmt:
		guardOperators(&s.X)
	case *syntax.IfStmt:
		guardOperators(&s.Cond)
	case *syntax.AssignStmt:
		guardOperators(&s.RHS)
		guardAssign(s)
	case *syntax.ForStmt:
		guardOperators(&s.X)
	case *syntax.WhileStmt:
		guardOperators(&s.Cond)
	case *syntax.ReturnStmt:
		guardOperators(&s.Result)
	}
}

// guardExpr guards the operators that are parts of an expression, its methods and arguments.
func guardExpr(n syntax.Node) {
	switch e := n.(type) {
	case *syntax.ParenExpr:
		guardOperators(&e.X)
	case *syntax.ListExpr:
		guardAll(e.List)
	case *syntax.TupleExpr:
		guardAll(e.List)
	case *syntax.DictEntry:
		guardOperators(&e.Key, &e.Value)
	case *syntax.IndexExpr:
		guardOperators(&e.X, &e.Y)
	case *syntax.SliceExpr:
		guardOperators(&e.X, &e.Lo, &e.Hi, &e.Step)
	case *syntax.UnaryExpr:
		guardOperators(&e.X)
	case *syntax.BinaryExpr:
		guardOperators(&e.X, &e.Y)
	case *syntax.CondExpr:
		guardOperators(&e.Cond, &e.True, &e.False)
	case *syntax.LambdaExpr:
		guardOperators(&e.Body)
	case *syntax.Comprehension:
		guardOperators(&e.Body)
	case *syntax.ForClause:
		guardOperators(&e.X)
	case *syntax.IfClause:
		guardOperators(&e.Cond)
	case *syntax.DotExpr:
		guardOperators(&e.X)
		if methodChecks[e.Name.Name] != nil {
			e.X = call(e.Dot, "methods", e.X)
		}
	case *syntax.CallExpr:
		guardOperators(&e.Fn)
		guardAll(e.Args)
		for _, arg := range e.Args {
			if a, ok := arg.(*syntax.UnaryExpr); ok &&
				(a.Op == syntax.STAR || a.Op == syntax.STARSTAR) {
				a.X = call(a.OpPos, "args", a.X)
			}
		}
	}
}

func guardAll(list []syntax.Expr) {
	for n := range list {
		guardOperators(&list[n])
	}
}

// guardOperators replaces each operator that can be expensive with its operands by a guard.
func guardOperators(places ...*syntax.Expr) {
	for _, at := range places {
		if e, ok := (*at).(*syntax.BinaryExpr); ok && needsGuard(e) {
			*at = call(e.OpPos, e.Op.String(), e.X, e.Y)
		}
	}
}

func needsGuard(e *syntax.BinaryExpr) bool {
	switch e.Op {
	case syntax.PLUS:
		return !isNumber(e.X) && !isNumber(e.Y) && (!isLiteral(e.X) || !isLiteral(e.Y))
	case syntax.STAR, syntax.LTLT, syntax.PERCENT:
		return true
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return !isLiteral(e.X) && !isLiteral(e.Y)
	case syntax.IN, syntax.NOT_IN:
		return !isLiteral(e.X)
	}
	return false
}

// augmented maps the assignments that can grow a value to their operators.
var augmented = map[syntax.Token]syntax.Token{
	syntax.PLUS_EQ: syntax.PLUS, syntax.STAR_EQ: syntax.STAR,
	syntax.LTLT_EQ: syntax.LTLT, syntax.PERCENT_EQ: syntax.PERCENT,
}

// guardAssign guards x op= y. No value has a field that can be assigned.
func guardAssign(s *syntax.AssignStmt) {
	op, ok := augmented[s.Op]
	if !ok || isNumber(s.RHS) && op == syntax.PLUS {
		return
	}
	switch lhs := unparen(s.LHS).(type) {
	case *syntax.Ident:
		old := &syntax.Ident{NamePos: lhs.NamePos, Name: lhs.Name}
		s.RHS = call(s.OpPos, s.Op.String(), old, s.RHS)
	case *syntax.IndexExpr:
		lhs.X = call(s.OpPos, "push", lhs.X)
		lhs.Y = call(s.OpPos, "push", lhs.Y)
		s.RHS = call(s.OpPos, s.Op.String(), s.RHS)
	}
}

// call returns a call of the guard name that reports errors at pos.
func call(pos syntax.Position, name string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{
		Fn:     &syntax.Ident{NamePos: pos, Name: guardPrefix + name},
		Lparen: pos, Args: args, Rparen: pos,
	}
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// isNumber reports whether e is a literal number: a sum with one stays small.
func isNumber(e syntax.Expr) bool {
	l, ok := unparen(e).(*syntax.Literal)
	return ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT)
}

func isLiteral(e syntax.Expr) bool {
	_, ok := unparen(e).(*syntax.Literal)
	return ok
}
