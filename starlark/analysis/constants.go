package analysis

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// ConstantsOf returns the global names of a file that have a constant value.
func ConstantsOf(file *syntax.File) starlark.StringDict {
	constants := starlark.StringDict{}
	for _, s := range file.Stmts {
		if a, ok := s.(*syntax.AssignStmt); ok && a.Op == syntax.EQ {
			if id, ok := a.LHS.(*syntax.Ident); ok {
				if v := ConstantValue(a.RHS, constants); v != nil {
					constants[id.Name] = v
				}
			}
		}
	}
	return constants
}

// ConstantValue evaluates an expression of literals and constants. It returns nil if the value is known
// only at run time. It resolves the names in the expression again.
func ConstantValue(e syntax.Expr, constants starlark.StringDict) starlark.Value {
	known := true
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.ParenExpr, *syntax.ListExpr, *syntax.TupleExpr, *syntax.DictExpr, *syntax.DictEntry:
		case *syntax.Literal:
			known = known && n.Token != syntax.BYTES
		case *syntax.UnaryExpr:
			known = known && n.Op == syntax.MINUS
		case *syntax.Ident:
			known = known && (constants.Has(n.Name) || slices.Contains([]string{"True", "False", "None"}, n.Name))
		default:
			known = false
		}
		return known
	})
	if !known {
		return nil
	}
	v, err := starlark.EvalExprOptions(&syntax.FileOptions{}, &starlark.Thread{}, e, constants)
	if err != nil {
		return nil
	}
	return v
}

// literal returns the value of an argument that consists of literals, nil for other arguments.
func (p *problems) literal(e syntax.Expr) starlark.Value {
	from, to := p.file.span(e)
	if to-from > maxLiteral {
		return nil
	}
	reparsed, err := dialect().ParseExpr("", "("+p.file.Text[from:to]+")", 0)
	if err != nil {
		return nil
	}
	return ConstantValue(reparsed, nil)
}

// maxLiteral bounds the text of an argument to evaluate, in bytes.
const maxLiteral = 10_000
