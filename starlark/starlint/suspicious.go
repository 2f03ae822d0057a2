package starlint

import (
	"fmt"
	"slices"

	"github.com/bazelbuild/buildtools/build"
	"github.com/bazelbuild/buildtools/bzlenv"

	"torchx/runtime/pattern"
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

// targets returns the names that a statement or loop assigns: x and y, but not a, in x, (y, a[0])
// = ….
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

func (l *linter) confusingTargets(s build.Expr) {
	for _, id := range targets(s) {
		l.confusing(id, id.Name)
	}
}

func (l *linter) confusingFunction(def *build.DefStmt) {
	l.confusing(def, def.Name)
	for _, p := range def.Params {
		name, _ := build.GetParamName(p)
		l.confusing(p, name)
	}
}

func (l *linter) confusing(at build.Expr, name string) {
	if name == "l" || name == "I" || name == "O" {
		l.warn(ruleConfusing, at, "never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')")
	}
}

// noEffect reports expressions in a block of a file or statement whose value is lost.
func (l *linter) noEffect(of build.Expr, block []build.Expr) {
	_, file := of.(*build.File)
	_, def := of.(*build.DefStmt)
	begins := file || def // a docstring is allowed
	for _, s := range block {
		if isComment(s) {
			continue
		}
		_, text := s.(*build.StringExpr)
		if docstring := text && begins; !docstring && !hasEffect(s, file) {
			l.warn(ruleNoEffect, s, "expression result is not used")
		}
		begins = false
	}
}

// hasEffect reports whether a statement can do something. Files may call functions in a list.
func hasEffect(s build.Expr, inFile bool) bool {
	switch s := s.(type) {
	case *build.Comprehension:
		return inFile && !s.Curly
	case *build.AssignExpr, *build.BranchStmt, *build.CallExpr, *build.DefStmt, *build.ForStmt, *build.IfStmt, *build.LoadStmt, *build.ReturnStmt:
		return true
	}
	return false
}

// summary matches a docstring that begins with one line and an empty line after it.
var summary = pattern.Lazy(`^[ \r\n]*[^ \r\n].*(\n[ \r]*(\n|$)|$)`)

func (l *linter) header(def *build.DefStmt) {
	first := slices.IndexFunc(def.Body, func(s build.Expr) bool { return !isComment(s) })
	if doc, ok := def.Body[max(0, first)].(*build.StringExpr); ok &&
		!summary().MatchString(doc.Value) {
		l.warn(ruleHeader, doc, "the docstring for the function %q should start with a one-line summary", def.Name)
	}
}

// listAppend reports x += [y].
func (l *linter) listAppend(s *build.AssignExpr) {
	list, ok := s.RHS.(*build.ListExpr)
	if !ok || s.Op != "+=" || len(list.List) != 1 {
		return
	}
	f := l.warning(ruleAppend, s, `prefer using ".append()" to adding a single element list`)
	// The elements of a tuple and the fields of a struct cannot be assigned, and 10.append is not
	// valid code.
	if _, ok := s.LHS.(*build.Ident); ok {
		_, end := s.Span()
		call := &build.CallExpr{X: &build.DotExpr{X: s.LHS, Name: "append"}, List: list.List, End: build.End{Pos: end}}
		f.Fix = l.replacement("use append", s, call)
	}
	l.add(f)
}
