package starlint

import (
	"go.starlark.net/syntax"
)

// resourcePlace is the position of resource among the arguments of specs.Role.
const resourcePlace = 9

// roles reports calls of specs.Role that say nothing about resources: `run
// --strict` refuses such roles, and a cluster packs them by guess.
func (l *linter) roles() {
	syntax.Walk(l.file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || !isRole(call.Fn) || givesResource(call.Args) {
			return true
		}
		start, end := l.span(call.Fn)
		l.add(Finding{
			Rule: ruleResource, Severity: Warning, Start: start, End: end,
			Message: "specs.Role without resource: say what a replica needs, resource = specs.resource(cpu = 1, memMB = 1024) or specs.resource(h = NAME)",
		})
		return true
	})
}

func isRole(e syntax.Expr) bool {
	dot, ok := e.(*syntax.DotExpr)
	if !ok || dot.Name.Name != "Role" {
		return false
	}
	module, ok := dot.X.(*syntax.Ident)
	return ok && module.Name == "specs"
}

// givesResource holds if the arguments name a resource that is not None, or may
// hold one in *args or **kwargs.
func givesResource(args []syntax.Expr) bool {
	for i, a := range args {
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				return true
			}
		case *syntax.BinaryExpr:
			if id, ok := a.X.(*syntax.Ident); ok && a.Op == syntax.EQ {
				if id.Name == "resource" {
					return !isNone(a.Y)
				}
				continue
			}
		}
		if i == resourcePlace {
			return !isNone(a)
		}
	}
	return false
}

func isNone(e syntax.Expr) bool {
	id, ok := e.(*syntax.Ident)
	return ok && id.Name == "None"
}
