package interp

import (
	"fmt"
	"math/big"

	"go.starlark.net/syntax"
)

// maxNesting bounds the depth of a syntax tree: the compiler recurses over chains such as a + a + …
// and elif …, which the parser, unlike brackets, does not bound.
const maxNesting = 4000

// A positionError is a limit exceeded at pos.
type positionError struct {
	pos syntax.Position
	err *LimitError
}

func (e *positionError) Error() string { return e.err.Error() }

// rewrite inserts calls of guards into f, before names are resolved. Values, the
// order of evaluation and positions do not change:
//
//	x + y       guard(x, y)           for + * << % | and comparisons
//	x += y      x += guard(x, y)      the guard checks and returns y
//	x[i] += y   push(x)[push(i)] += guard(y)
//	x.join      guard(x.join)         for methods that grow or iterate
//	f(*x)       f(*guard(x))
//	x[a:b]      guard(x)[a:b]
//
// The names of guards are not identifiers, so no file can use or shadow them.
func rewrite(f *syntax.File) error {
	w := &rewriter{}
	w.stmts(f.Stmts)
	if w.err != nil {
		return w.err
	}
	return nil
}

type rewriter struct {
	depth int
	pos   syntax.Position // last known one
	err   *positionError
}

// nest enters a level and reports whether to continue. The caller leaves the level.
func (w *rewriter) nest(pos syntax.Position) (ok bool) {
	w.depth++
	if pos.IsValid() {
		w.pos = pos
	}
	if w.depth > maxNesting {
		w.fail(w.pos, "nested deeper than %d levels; split it", maxNesting)
	}
	return w.err == nil
}

func (w *rewriter) fail(pos syntax.Position, format string, args ...any) {
	if w.err == nil {
		w.err = &positionError{pos, &LimitError{Limit: "size", Msg: fmt.Sprintf(format, args...)}}
	}
}

func (w *rewriter) stmts(list []syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *rewriter) stmt(s syntax.Stmt) {
	defer func() { w.depth-- }()
	if !w.nest(firstPos(s)) {
		return
	}
	switch s := s.(type) {
	case *syntax.ExprStmt:
		w.expr(&s.X)
	case *syntax.IfStmt:
		w.expr(&s.Cond)
		w.stmts(s.True)
		w.stmts(s.False)
	case *syntax.AssignStmt:
		w.assign(s)
	case *syntax.DefStmt:
		w.params(s.Params)
		w.stmts(s.Body)
	case *syntax.ForStmt:
		w.target(s.Vars)
		w.expr(&s.X)
		w.stmts(s.Body)
	case *syntax.WhileStmt:
		w.expr(&s.Cond)
		w.stmts(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			w.expr(&s.Result)
		}
	}
}

// firstPos returns the start of a compound statement. Span would walk the tree at every level.
func firstPos(s syntax.Stmt) syntax.Position {
	switch s := s.(type) {
	case *syntax.IfStmt:
		return s.If
	case *syntax.DefStmt:
		return s.Def
	case *syntax.ForStmt:
		return s.For
	case *syntax.WhileStmt:
		return s.While
	}
	return syntax.Position{}
}

func (w *rewriter) assign(s *syntax.AssignStmt) {
	w.target(s.LHS)
	w.expr(&s.RHS)
	op, ok := augmented[s.Op]
	if !ok || isNumber(s.RHS) && op == "+" {
		return
	}
	switch lhs := unparen(s.LHS).(type) {
	case *syntax.Ident:
		s.RHS = call(s.OpPos, op+"=", &syntax.Ident{NamePos: lhs.NamePos, Name: lhs.Name}, s.RHS)
	case *syntax.IndexExpr:
		lhs.X = call(s.OpPos, "push", lhs.X)
		lhs.Y = call(s.OpPos, "push", lhs.Y)
		s.RHS = call(s.OpPos, op+"[]=", s.RHS)
	case *syntax.DotExpr:
		lhs.X = call(s.OpPos, "push", lhs.X)
		name := &syntax.Literal{Token: syntax.STRING, TokenPos: lhs.NamePos, Raw: lhs.Name.Name, Value: lhs.Name.Name}
		s.RHS = call(s.OpPos, op+".=", s.RHS, name)
	}
}

// target rewrites the expressions inside the left side of an assignment.
func (w *rewriter) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		w.target(e.X)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			w.target(x)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			w.target(x)
		}
	case *syntax.IndexExpr:
		w.expr(&e.X)
		w.expr(&e.Y)
	case *syntax.DotExpr:
		w.expr(&e.X)
	}
}

// params rewrites the defaults of parameters: ident, ident=expr, *, *ident, **ident.
func (w *rewriter) params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			w.expr(&b.Y)
		}
	}
}

func (w *rewriter) exprs(list []syntax.Expr) {
	for n := range list {
		w.expr(&list[n])
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

func (w *rewriter) literal(l *syntax.Literal) {
	if n, ok := l.Value.(*big.Int); ok && n.BitLen() > maxIntBits {
		w.fail(l.TokenPos, "the number has %d bits, over the limit of %d", n.BitLen(), maxIntBits)
	}
}
