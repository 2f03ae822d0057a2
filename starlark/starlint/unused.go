package starlint

import (
	"maps"
	"slices"
	"strings"

	"github.com/bazelbuild/buildtools/build"
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
		if s.defined[definition{"variable", name}] == nil && s.defined[definition{"function", name}] == nil {
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
