package starlint

import (
	"github.com/bazelbuild/buildtools/build"
	"github.com/bazelbuild/buildtools/bzlenv"
)

// reads visits the names that an expression or statement reads from its scope, without those in the
// blocks of a statement. Variables of comprehensions and lambdas and names of arguments are not read.
func reads(e build.Expr, visit func(*build.Ident)) {
	switch e := e.(type) {
	case nil, *build.File, *build.LoadStmt:
	case *build.Ident:
		visit(e)
	case *build.AssignExpr:
		reads(e.RHS, visit)
		assigned := map[*build.Ident]bool{}
		for _, id := range targets(e) {
			assigned[id] = true
		}
		reads(e.LHS, unless(visit, func(id *build.Ident) bool { return assigned[id] }))
	case *build.DefStmt:
		for _, p := range e.Params {
			if p, ok := p.(*build.AssignExpr); ok {
				reads(p.RHS, visit)
			}
		}
	case *build.IfStmt:
		reads(e.Cond, visit)
	case *build.ForStmt:
		reads(&build.AssignExpr{LHS: e.Vars, RHS: e.X}, visit)
	default:
		if own := variables(e); len(own) > 0 {
			visit = unless(visit, func(id *build.Ident) bool { return own[id.Name] })
		}
		build.WalkOnce(e, func(part *build.Expr) { reads(*part, visit) })
	}
}

// unless returns a visit function that skips hidden names.
func unless(visit func(*build.Ident), hidden func(*build.Ident) bool) func(*build.Ident) {
	return func(id *build.Ident) {
		if !hidden(id) {
			visit(id)
		}
	}
}

// variables returns the names that a comprehension or lambda defines for its parts.
func variables(e build.Expr) map[string]bool {
	own := known{names: map[string]bool{}}
	switch e := e.(type) {
	case *build.Comprehension:
		for _, clause := range e.Clauses {
			own.add(targets(clause))
		}
	case *build.LambdaExpr:
		// Parameters with a default are left out: lambda x = x: x reads an x of the scope around.
		for _, p := range e.Params {
			own.add(bzlenv.CollectLValues(p))
		}
	}
	return own.names
}
