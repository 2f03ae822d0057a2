package starlint

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// defaultOf reports a default of another type than the parameter's, if it is a constant.
func (d *componentCheck) defaultOf(p interp.Param, t component.Type) {
	v := constant(p.Default, d.constants)
	if v == nil {
		return
	}
	err := t.Fits(v)
	if err == nil {
		return
	}
	start, end := d.span(p.Default)
	f := Finding{
		Rule: ruleDefault, Severity: Warning, Start: start, End: end,
		Message: fmt.Sprintf("the default of %s is not of its type %s: %v", p.Name, t.Brief(), err),
	}
	if _, ok := p.Default.(*syntax.Literal); ok {
		if text := t.Literal(v); text != "" {
			f.Fix = &Fix{"write " + text, []Edit{{start, end, text}}}
		}
	}
	d.add(f)
}

// constantsOf are the names that a file gives a constant value at its top.
func constantsOf(file *syntax.File) starlark.StringDict {
	constants := starlark.StringDict{}
	for _, s := range file.Stmts {
		if a, ok := s.(*syntax.AssignStmt); ok && a.Op == syntax.EQ {
			if id, ok := a.LHS.(*syntax.Ident); ok {
				if v := constant(a.RHS, constants); v != nil {
					constants[id.Name] = v
				}
			}
		}
	}
	return constants
}

// constant evaluates an expression of literals and constants; nil if only running the
// file can tell its value.
func constant(e syntax.Expr, constants starlark.StringDict) starlark.Value {
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
