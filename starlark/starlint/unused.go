package starlint

import (
	"maps"
	"slices"
	"strings"

	"github.com/bazelbuild/buildtools/build"
	"github.com/bazelbuild/buildtools/bzlenv"
)

// scope has the names of a function or of the file.
type scope struct {
	defined  map[definition]build.Expr // the first definition
	intended map[string]bool           // names that may stay unused
	used     map[string]bool           // names that are read here and in inner functions
	around   map[string]bool           // names that are read in the scope around
}

// definition is a defined name; kind is "variable" or "function".
type definition struct{ kind, name string }

// unused reports variables and functions of a function or file that are never used, and returns the
// names that it uses from the scope around. Other files may use global names without a leading _.
func (l *linter) unused(root build.Expr) map[string]bool {
	s := &scope{map[definition]build.Expr{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	build.WalkStatements(root, func(e build.Expr, around []build.Expr) error {
		def, ok := e.(*build.DefStmt)
		switch {
		case ok && len(around) > 0:
			s.define("function", def.Name, def, false)
			s.intended[def.Name] = s.intended[def.Name] || isMarked(def)
			maps.Copy(s.used, l.unused(def))
			return &build.StopTraversalError{}
		case ok:
			s.params(def)
		default:
			s.statement(e)
		}
		return nil
	})
	_, file := root.(*build.File)
	for d, at := range s.defined {
		if !s.used[d.name] && !s.intended[d.name] && d.name != "_" && (!file || isPrivate(d.name)) {
			l.warn(ruleUnused, at, "%s %q is unused", d.kind, d.name)
		}
	}
	for name := range s.used {
		if s.defined[definition{"variable", name}] == nil &&
			s.defined[definition{"function", name}] == nil {
			s.around[name] = true
		}
	}
	return s.around
}

func (s *scope) define(kind, name string, at build.Expr, intended bool) {
	d := definition{kind, name}
	if s.defined[d] == nil {
		s.defined[d] = at
		s.intended[name] = s.intended[name] || intended
	}
}

// params defines the parameters of a function. As in buildifier, one called name need not be used.
func (s *scope) params(def *build.DefStmt) {
	for _, p := range def.Params {
		if id, _ := build.GetParamIdent(p); id != nil {
			s.define("variable", id.Name, id, id.Name == "name" || isPrivate(id.Name) || isMarked(p))
		}
	}
	reads(def, func(id *build.Ident) { s.around[id.Name] = true })
}

func (s *scope) statement(e build.Expr) {
	reads(e, func(id *build.Ident) { s.used[id.Name] = true })
	ids := targets(e)
	_, loop := e.(*build.ForStmt)
	// In a, _b = f(), _b is needed to get a. Nothing of _a, _b = f() is needed.
	partial := loop || slices.ContainsFunc(ids, func(id *build.Ident) bool { return !isPrivate(id.Name) })
	for _, id := range ids {
		s.define("variable", id.Name, id, partial && isPrivate(id.Name) || !loop && isMarked(e))
	}
}

func isPrivate(name string) bool { return strings.HasPrefix(name, "_") }

// isMarked reports whether a comment at a node says @unused.
func isMarked(e build.Expr) bool {
	return slices.ContainsFunc(comments(e), func(c build.Comment) bool { return strings.Contains(strings.ToLower(c.Token), "@unused") })
}

// reads visits the names that an expression or statement reads from its scope, without those in the
// blocks of a statement. Variables of comprehensions and lambdas and names of arguments are not
// read.
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
