package starlint

import (
	"fmt"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/starlark/component"
)

// defaultOf reports a default of another type than the parameter's, if it is a constant.
func (d *componentCheck) defaultOf(p param, t component.Type) {
	v := d.constant(p.def, 0)
	if v == nil {
		return
	}
	err := t.Fits(v)
	if err == nil {
		return
	}
	start, end := d.span(p.def)
	f := Finding{
		Rule: ruleDefault, Severity: Warning, Start: start, End: end,
		Message: fmt.Sprintf("the default of %s is not of its type %s: %v", p.name, t, err),
	}
	if _, ok := p.def.(*syntax.Literal); ok {
		if text := t.Literal(v); text != "" {
			f.Fix = &Fix{"write " + text, []Edit{{start, end, text}}}
		}
	}
	d.add(f)
}

// constantsOf are the names that a file gives a value once, at its top.
func constantsOf(file *syntax.File) map[string]syntax.Expr {
	constants := map[string]syntax.Expr{}
	for _, s := range file.Stmts {
		if a, ok := s.(*syntax.AssignStmt); ok && a.Op == syntax.EQ {
			if id, ok := a.LHS.(*syntax.Ident); ok {
				constants[id.Name] = a.RHS
			}
		}
	}
	return constants
}

// maxConstant bounds how deep a constant is followed.
const maxConstant = 20

// constant is the value of an expression, nil if only running the file can tell.
func (d *componentCheck) constant(e syntax.Expr, depth int) starlark.Value {
	if depth > maxConstant {
		return nil
	}
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return d.constant(e.X, depth+1)
	case *syntax.Literal:
		return literal(e)
	case *syntax.UnaryExpr:
		return d.negative(e, depth)
	case *syntax.ListExpr:
		if items, ok := d.constantList(e.List, depth); ok {
			return starlark.NewList(items)
		}
	case *syntax.TupleExpr:
		if items, ok := d.constantList(e.List, depth); ok {
			return starlark.Tuple(items)
		}
	case *syntax.DictExpr:
		return d.constantDict(e, depth)
	case *syntax.Ident:
		switch e.Name {
		case "True", "False":
			return starlark.Bool(e.Name == "True")
		case "None":
			return starlark.None
		}
		if value, ok := d.constants[e.Name]; ok {
			return d.constant(value, depth+1)
		}
	}
	return nil
}

func (d *componentCheck) constantList(list []syntax.Expr, depth int) ([]starlark.Value, bool) {
	var items []starlark.Value
	for _, e := range list {
		v := d.constant(e, depth+1)
		if v == nil {
			return nil, false
		}
		items = append(items, v)
	}
	return items, true
}

func (d *componentCheck) constantDict(e *syntax.DictExpr, depth int) starlark.Value {
	dict := starlark.NewDict(len(e.List))
	for _, entry := range e.List {
		pair, ok := entry.(*syntax.DictEntry)
		if !ok {
			return nil
		}
		k, v := d.constant(pair.Key, depth+1), d.constant(pair.Value, depth+1)
		if k == nil || v == nil || dict.SetKey(k, v) != nil {
			return nil
		}
	}
	return dict
}

func (d *componentCheck) negative(e *syntax.UnaryExpr, depth int) starlark.Value {
	if e.Op != syntax.MINUS || e.X == nil {
		return nil
	}
	switch v := d.constant(e.X, depth+1).(type) {
	case starlark.Int:
		return starlark.MakeInt(0).Sub(v)
	case starlark.Float:
		return -v
	}
	return nil
}

func literal(l *syntax.Literal) starlark.Value {
	switch v := l.Value.(type) {
	case string:
		if l.Token == syntax.STRING {
			return starlark.String(v)
		}
	case int64:
		return starlark.MakeInt64(v)
	case *big.Int:
		return starlark.MakeBigInt(v)
	case float64:
		return starlark.Float(v)
	}
	return nil
}
