package starlint

import (
	"maps"
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

// flow follows the paths through a function.
type flow struct {
	*linter
	locals map[string]bool // assigned in the function, without parameters
}

// known are the names that have a value on all paths to a statement: those assigned before it in
// its block, and those known around the block.
type known struct {
	names  map[string]bool
	around *known
}

func (k *known) has(name string) bool {
	for ; k != nil; k = k.around {
		if k.names[name] {
			return true
		}
	}
	return false
}

func (k *known) add(ids []*build.Ident) *known {
	for _, id := range ids {
		k.names[id.Name] = true
	}
	return k
}

// uninitialized reports the uses of variables that some paths through a function do not assign
// before.
func (l *linter) uninitialized(def *build.DefStmt) {
	locals := known{names: map[string]bool{}}
	inFunctionBody(def, func(s build.Expr) { locals.add(targets(s)) })
	for _, p := range def.Params {
		name, _ := build.GetParamName(p)
		delete(locals.names, name)
	}
	(&flow{l, locals.names}).block(def.Body, nil)
}

// block checks a list of statements and returns the names that it assigns on all paths to its end,
// nil if no path reaches it.
func (f *flow) block(block []build.Expr, around *known) map[string]bool {
	k := &known{map[string]bool{}, around}
	for _, s := range block {
		switch s := s.(type) {
		case *build.IfStmt:
			f.read(s.Cond, k)
			assigned := onBoth(f.block(s.True, k), f.block(s.False, k))
			if assigned == nil {
				return nil
			}
			maps.Copy(k.names, assigned)
		case *build.ForStmt:
			f.read(s.X, k)
			f.block(s.Body, (&known{map[string]bool{}, k}).add(targets(s)))
		default:
			if isFail(s) {
				return nil
			}
			f.read(s, k)
			if ends(s) {
				return nil
			}
			k.add(targets(s))
		}
	}
	return k.names
}

// read checks the names that an expression or statement reads.
func (f *flow) read(e build.Expr, k *known) {
	reads(e, func(id *build.Ident) {
		if f.locals[id.Name] && !k.has(id.Name) {
			f.warn(ruleUninitialized, id, "variable %q may not have been initialized", id.Name)
		}
	})
}

// onBoth returns the names that are on both of two paths. A path that is nil does not count.
func onBoth(a, b map[string]bool) map[string]bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	maps.DeleteFunc(a, func(name string, _ bool) bool { return !b[name] })
	return a
}
