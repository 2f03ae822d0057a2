package starlint

import (
	"fmt"
	"slices"

	"github.com/bazelbuild/buildtools/build"
	"github.com/bazelbuild/buildtools/bzlenv"
)

// suspicious runs the rules of buildifier that apply to every Starlark dialect. They report what
// buildifier reports, with the first sentence of its messages.
func (l *linter) suspicious() {
	l.unused(l.tree)
	l.unusedLoads()
	l.kinds()
	build.WalkStatements(l.tree, func(s build.Expr, _ []build.Expr) error {
		l.statement(s)
		return nil
	})
	build.Walk(l.tree, func(e build.Expr, _ []build.Expr) {
		if loop, ok := e.(*build.ForClause); ok {
			l.confusingTargets(loop)
		}
	})
}

// statement checks a statement. Rules about a whole function run at its def.
func (l *linter) statement(s build.Expr) {
	l.confusingTargets(s)
	for _, block := range blocks(s) {
		l.noEffect(s, block)
	}
	switch s := s.(type) {
	case *build.AssignExpr:
		l.listAppend(s)
	case *build.DefStmt:
		l.confusingFunction(s)
		l.header(s)
		l.unreachable(s.Body)
		l.returnValue(s)
		l.uninitialized(s)
	}
}

// warning returns a finding about a node of the tree.
func (l *linter) warning(rule string, at build.Expr, format string, args ...any) Finding {
	from, to := at.Span()
	return Finding{Rule: rule, Severity: Warning, Start: l.at(l.inTree(from)), End: l.at(l.inTree(to)), Message: fmt.Sprintf(format, args...)}
}

func (l *linter) warn(rule string, at build.Expr, format string, args ...any) {
	l.add(l.warning(rule, at, format, args...))
}

// blocks returns the lists of statements inside a statement or file.
func blocks(s build.Expr) [][]build.Expr {
	switch s := s.(type) {
	case *build.File:
		return [][]build.Expr{s.Stmt}
	case *build.DefStmt:
		return [][]build.Expr{s.Body}
	case *build.ForStmt:
		return [][]build.Expr{s.Body}
	case *build.IfStmt:
		return [][]build.Expr{s.True, s.False}
	}
	return nil
}

// targets returns the names that a statement or loop assigns: x and y, but not a, in x, (y, a[0]) = ….
func targets(s build.Expr) []*build.Ident {
	switch s := s.(type) {
	case *build.AssignExpr:
		return bzlenv.CollectLValues(s.LHS)
	case *build.ForStmt:
		return bzlenv.CollectLValues(s.Vars)
	case *build.ForClause:
		return bzlenv.CollectLValues(s.Vars)
	}
	return nil
}

func isName(e build.Expr, names ...string) bool {
	id, ok := e.(*build.Ident)
	return ok && slices.Contains(names, id.Name)
}

func isComment(s build.Expr) bool {
	_, ok := s.(*build.CommentBlock)
	return ok
}
