package starlint

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// returns reports a component that never returns a value, or that returns None on some paths and an
// app on others. The rule return-value finds paths without a return.
func (d *componentCheck) returns() {
	app := d.calls("specs.AppDef")
	valued := false
	var empty []syntax.Node
	inFunction(d.def, func(n syntax.Node) {
		if ret, ok := n.(*syntax.ReturnStmt); ok && ret.Result != nil {
			none := canBeNone(ret.Result)
			valued = valued || !none || isConditional(ret.Result)
			if none {
				empty = append(empty, ret)
			}
		}
	})
	name := d.def.Name.Name
	switch {
	case !valued && (app || d.calls("specs.Role") || !d.isHelper()):
		d.appError(d.def.Name, "component "+name+" returns no app: end it with `return specs.AppDef(…)`, or rename it to _"+name+" if it is a helper")
	case app:
		for _, ret := range empty {
			d.appError(ret, "component "+name+" returns None here: write `return specs.AppDef(…)` or `fail(…)`")
		}
	}
}

func (d *componentCheck) appError(at syntax.Node, message string) {
	start, end := d.span(at)
	d.add(Finding{Rule: ruleNoApp, Severity: Error, Start: start, End: end, Message: message})
}

// inFunction visits the nodes of a function, without those of inner functions.
func inFunction(def *syntax.DefStmt, visit func(syntax.Node)) {
	for _, s := range def.Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if n == nil {
				return false
			}
			visit(n)
			_, inner := n.(*syntax.DefStmt)
			return !inner
		})
	}
}

// canBeNone reports whether e is None or a conditional with None.
func canBeNone(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return canBeNone(e.X)
	case *syntax.CondExpr:
		return canBeNone(e.True) || canBeNone(e.False)
	}
	return isNone(e)
}

func isConditional(e syntax.Expr) bool {
	paren, ok := e.(*syntax.ParenExpr)
	if ok {
		return isConditional(paren.X)
	}
	_, ok = e.(*syntax.CondExpr)
	return ok
}

// calls reports whether the function calls name, which may be dotted.
func (d *componentCheck) calls(name string) (found bool) {
	inFunction(d.def, func(n syntax.Node) {
		call, ok := n.(*syntax.CallExpr)
		found = found || ok && dotted(call.Fn) == name
	})
	return found
}

// dotted returns the text of a name such as specs.Role, "" for other expressions.
func dotted(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Name
	case *syntax.DotExpr:
		if id, ok := e.X.(*syntax.Ident); ok {
			return id.Name + "." + e.Name.Name
		}
	}
	return ""
}

// isHelper reports whether a function without result is useful as a helper: it can fail, it changes
// an argument, it calls another such function of the file, or the file calls it as a statement.
func (d *componentCheck) isHelper() (helper bool) {
	var params []string
	for _, p := range d.def.Params {
		if id, ok := p.(*syntax.Ident); ok {
			params = append(params, id.Name)
		}
	}
	inFunction(d.def, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.CallExpr:
			of, _, method := strings.Cut(dotted(n.Fn), ".")
			helper = helper || of == "fail" || method && slices.Contains(params, of)
		case *syntax.ExprStmt:
			call, ok := n.X.(*syntax.CallExpr)
			helper = helper || ok && d.returnsNothing(dotted(call.Fn))
		case *syntax.AssignStmt:
			if at, ok := n.LHS.(*syntax.IndexExpr); ok {
				helper = helper || slices.Contains(params, dotted(at.X))
			}
		}
	})
	syntax.Walk(d.file, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.ExprStmt); ok {
			call, ok := s.X.(*syntax.CallExpr)
			helper = helper || ok && dotted(call.Fn) == d.def.Name.Name
		}
		return !helper
	})
	return helper
}

// returnsNothing reports whether the file has a function of that name that never returns a value.
func (d *componentCheck) returnsNothing(name string) bool {
	i := slices.IndexFunc(d.file.Stmts, func(s syntax.Stmt) bool {
		def, ok := s.(*syntax.DefStmt)
		return ok && def.Name.Name == name
	})
	if i < 0 {
		return false
	}
	valued := false
	inFunction(d.file.Stmts[i].(*syntax.DefStmt), func(n syntax.Node) {
		ret, ok := n.(*syntax.ReturnStmt)
		valued = valued || ok && ret.Result != nil
	})
	return !valued
}
