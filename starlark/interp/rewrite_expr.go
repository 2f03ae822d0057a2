package interp

import "go.starlark.net/syntax"

// guardPrefix begins the names of guards.
const guardPrefix = "%"

func isInternal(name string) bool { return len(name) > 0 && name[:1] == guardPrefix }

// augmented maps the assignments that can grow a value to their operators.
var augmented = map[syntax.Token]string{
	syntax.PLUS_EQ: "+", syntax.STAR_EQ: "*", syntax.LTLT_EQ: "<<",
	syntax.PERCENT_EQ: "%", syntax.PIPE_EQ: "|",
}

// expr rewrites *at and its parts.
func (w *rewriter) expr(at *syntax.Expr) {
	defer func() { w.depth-- }()
	if !w.nest(exprPos(*at)) {
		return
	}
	switch e := (*at).(type) {
	case *syntax.Literal:
		w.literal(e)
	case *syntax.BinaryExpr:
		w.expr(&e.X)
		w.expr(&e.Y)
		if needsGuard(e) {
			*at = call(e.OpPos, e.Op.String(), e.X, e.Y)
		}
	case *syntax.DotExpr:
		w.expr(&e.X)
		if guardedMethods[e.Name.Name] != nil {
			*at = call(e.Dot, "method", e)
		}
	case *syntax.SliceExpr:
		w.slice(e)
	case *syntax.CallExpr:
		w.expr(&e.Fn)
		w.args(e.Args)
	default:
		w.parts(e)
	}
}

func (w *rewriter) parts(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		w.expr(&e.X)
	case *syntax.ListExpr:
		w.exprs(e.List)
	case *syntax.TupleExpr:
		w.exprs(e.List)
	case *syntax.DictExpr:
		w.exprs(e.List)
	case *syntax.DictEntry:
		w.expr(&e.Key)
		w.expr(&e.Value)
	case *syntax.IndexExpr:
		w.expr(&e.X)
		w.expr(&e.Y)
	case *syntax.UnaryExpr:
		if e.X != nil {
			w.expr(&e.X)
		}
	case *syntax.CondExpr:
		w.expr(&e.Cond)
		w.expr(&e.True)
		w.expr(&e.False)
	case *syntax.LambdaExpr:
		w.params(e.Params)
		w.expr(&e.Body)
	case *syntax.Comprehension:
		w.comprehension(e)
	}
}

func (w *rewriter) comprehension(e *syntax.Comprehension) {
	w.expr(&e.Body)
	for _, c := range e.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			w.target(c.Vars)
			w.expr(&c.X)
		case *syntax.IfClause:
			w.expr(&c.Cond)
		}
	}
}

func (w *rewriter) slice(e *syntax.SliceExpr) {
	w.expr(&e.X)
	for _, part := range []*syntax.Expr{&e.Lo, &e.Hi, &e.Step} {
		if *part != nil {
			w.expr(part)
		}
	}
	e.X = call(e.Lbrack, "slice", e.X)
}

// args rewrites arguments: expr, name=expr, *expr, **expr. The compiler requires that the last three
// keep their form.
func (w *rewriter) args(list []syntax.Expr) {
	for n := range list {
		switch a := list[n].(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				w.expr(&a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				w.expr(&a.X)
				a.X = call(a.OpPos, "args", a.X)
				continue
			}
		}
		w.expr(&list[n])
	}
}

// needsGuard reports whether the operator can be expensive with these operands.
func needsGuard(e *syntax.BinaryExpr) bool {
	switch e.Op {
	case syntax.PLUS:
		return !isNumber(e.X) && !isNumber(e.Y) && (!isLiteral(e.X) || !isLiteral(e.Y))
	case syntax.STAR, syntax.LTLT, syntax.PERCENT:
		return true
	case syntax.PIPE:
		return !isNumber(e.X) && !isNumber(e.Y)
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return !isLiteral(e.X) && !isLiteral(e.Y)
	case syntax.IN, syntax.NOT_IN:
		return !isLiteral(e.X)
	}
	return false
}

// exprPos returns a position inside e that is found without walking e.
func exprPos(e syntax.Expr) syntax.Position {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return e.OpPos
	case *syntax.UnaryExpr:
		return e.OpPos
	case *syntax.DotExpr:
		return e.Dot
	case *syntax.CallExpr:
		return e.Lparen
	case *syntax.IndexExpr:
		return e.Lbrack
	case *syntax.SliceExpr:
		return e.Lbrack
	case *syntax.ParenExpr:
		return e.Lparen
	case *syntax.ListExpr:
		return e.Lbrack
	case *syntax.CondExpr:
		return e.If
	case *syntax.LambdaExpr:
		return e.Lambda
	}
	return syntax.Position{}
}
