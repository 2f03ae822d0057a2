package starlint

import (
	"slices"

	"github.com/bazelbuild/buildtools/build"
)

// ends reports whether the statement after s is never reached. A loop may run zero times.
func ends(s build.Expr) bool {
	switch s := s.(type) {
	case *build.ReturnStmt:
		return true
	case *build.BranchStmt:
		return s.Token != "pass"
	case *build.IfStmt:
		return slices.ContainsFunc(s.True, ends) && slices.ContainsFunc(s.False, ends)
	}
	return isFail(s)
}

func isFail(s build.Expr) bool {
	call, ok := s.(*build.CallExpr)
	return ok && isName(call.X, "fail")
}

// unreachable reports the first statement that is never reached in each block of a function.
func (l *linter) unreachable(block []build.Expr) {
	ended := false
	for _, s := range block {
		if isComment(s) {
			continue
		}
		if ended {
			l.warn(ruleUnreachable, s, "the statement is unreachable")
			return
		}
		ended = ends(s)
		if _, inner := s.(*build.DefStmt); inner {
			continue
		}
		for _, b := range blocks(s) {
			l.unreachable(b)
		}
	}
}

// returnValue reports a function that returns a value on some paths, and where it returns none.
func (l *linter) returnValue(def *build.DefStmt) {
	valued := false
	var empty []build.Expr
	inFunctionBody(def, func(s build.Expr) {
		if ret, ok := s.(*build.ReturnStmt); ok && ret.Result != nil {
			valued = true
		} else if ok {
			empty = append(empty, ret)
		}
	})
	if !slices.ContainsFunc(def.Body, ends) {
		empty = append(empty, def)
	}
	for _, at := range empty {
		if valued {
			l.warn(ruleReturn, at, "some but not all execution paths of %q return a value", def.Name)
		}
	}
}

// inFunctionBody visits the statements of a function, without those of inner functions.
func inFunctionBody(def *build.DefStmt, visit func(build.Expr)) {
	build.WalkStatements(def, func(s build.Expr, around []build.Expr) error {
		if _, inner := s.(*build.DefStmt); inner && len(around) > 0 {
			return &build.StopTraversalError{}
		}
		visit(s)
		return nil
	})
}
