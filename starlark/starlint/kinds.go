package starlint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bazelbuild/buildtools/build"
	"github.com/bazelbuild/buildtools/bzlenv"
	"go.starlark.net/syntax"

	"torchx/runtime/pattern"
	"torchx/starlark/analysis"
)

// kind is what is known of the value of an expression.
type kind int

const (
	unknown kind = iota
	text
	dict
	other
)

// kinds reports strings that are iterated, and methods of dicts that are called with default = ….
func (l *linter) kinds() {
	g := guesses{map[build.Expr]kind{}, map[int]kind{}}
	var file build.Expr = l.tree
	g.visit(&file, bzlenv.NewEnvironment())
	build.Walk(l.tree, func(e build.Expr, _ []build.Expr) {
		for _, x := range iterated(e) {
			if g.kinds[x] == text {
				l.warn(ruleString, x, "string iteration is deprecated")
			}
		}
		for _, arg := range namedDefaults(e, g.kinds) {
			l.warn(ruleNamedDefault, arg, `named argument "default" not allowed, use a positional (unnamed) argument`)
		}
	})
}

// iterated returns the expressions that a loop or call iterates.
func iterated(e build.Expr) []build.Expr {
	switch e := e.(type) {
	case *build.ForStmt:
		return []build.Expr{e.X}
	case *build.ForClause:
		return []build.Expr{e.X}
	case *build.CallExpr:
		if isName(e.X, "zip") || len(e.List) == 1 &&
			isName(e.X, "all", "any", "max", "min", "reversed") {
			return e.List
		}
	}
	return nil
}

// namedDefaults returns the arguments default = … of a call of a method of a dict.
func namedDefaults(e build.Expr, kinds map[build.Expr]kind) (args []build.Expr) {
	call, ok := e.(*build.CallExpr)
	if !ok {
		return nil
	}
	method, ok := call.X.(*build.DotExpr)
	if !ok || kinds[method.X] != dict ||
		!slices.Contains([]string{"get", "pop", "setdefault"}, method.Name) {
		return nil
	}
	for _, arg := range call.List {
		if named, ok := arg.(*build.AssignExpr); ok && isName(named.LHS, "default") {
			args = append(args, arg)
		}
	}
	return args
}

// guesses are the kinds of expressions and of variables, by the ID of their binding. A variable has
// the kind that it was last assigned above in the text.
type guesses struct {
	kinds     map[build.Expr]kind
	variables map[int]kind
}

// visit guesses the kinds of an expression and, before it, of its parts.
func (g *guesses) visit(e *build.Expr, env *bzlenv.Environment) {
	bzlenv.WalkOnceWithEnvironment(*e, env, g.visit)
	if k := g.kind(*e, env); k != unknown {
		g.kinds[*e] = k
	}
}

func (g *guesses) kind(e build.Expr, env *bzlenv.Environment) kind {
	switch e := e.(type) {
	case *build.StringExpr:
		return text
	case *build.DictExpr:
		return dict
	case *build.ListExpr, *build.LiteralExpr:
		return other
	case *build.Comprehension:
		if e.Curly {
			return dict
		}
		return other
	case *build.CallExpr:
		if fn, ok := e.X.(*build.Ident); ok {
			return results[fn.Name]
		}
	case *build.ParenExpr:
		return g.kinds[e.X]
	case *build.Ident:
		return g.variable(e.Name, env)
	case *build.BinaryExpr:
		return g.operation(e)
	case *build.AssignExpr:
		g.assign(e, env)
	}
	return unknown
}

// results are the kinds that built-in functions return.
var results = map[string]kind{"str": text, "dict": dict, "bool": other, "int": other, "float": other, "list": other}

func (g *guesses) variable(name string, env *bzlenv.Environment) kind {
	switch binding := env.Get(name); {
	case name == "True" || name == "False" || name == "None":
		return other
	case binding != nil:
		return g.variables[binding.ID]
	}
	return unknown
}

// operation guesses that operands and result are of the same kind. The right operand of % can be
// of any kind.
func (g *guesses) operation(e *build.BinaryExpr) kind {
	switch e.Op {
	case ">", ">=", "<", "<=", "==", "!=", "in", "not in":
		return other
	case "+", "-", "*", "/", "//", "%", "|":
		x, y := g.kinds[e.X], g.kinds[e.Y]
		if x == unknown && (e.Op != "%" || y == text) {
			return y
		}
		return x
	}
	return unknown
}

func (g *guesses) assign(s *build.AssignExpr, env *bzlenv.Environment) {
	k := g.kinds[s.RHS]
	id, ok := s.LHS.(*build.Ident)
	_, argument := env.Stack[len(env.Stack)-1].(*build.CallExpr)
	if !ok || argument || k == unknown || s.Op == "%=" && k != text {
		return
	}
	if binding := env.Get(id.Name); binding != nil {
		g.variables[binding.ID] = k
	}
}

// macro matches a macro in a string, or a variable of a shell.
var macro = pattern.Lazy(`\$\{([a-z][a-z0-9_-]*)\}`)

// macros reports misspelled macros such as ${replicaid}. Other names are variables of a shell.
func (l *linter) macros() {
	syntax.Walk(l.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ExprStmt:
			_, text := n.X.(*syntax.Literal)
			return !text // a docstring
		case *syntax.Literal:
			if n.Token == syntax.STRING {
				l.macrosIn(n)
			}
		}
		return true
	})
}

func (l *linter) macrosIn(text *syntax.Literal) {
	for _, m := range macro().FindAllStringSubmatchIndex(text.Raw, -1) {
		name := text.Raw[m[2]:m[3]]
		closest := misspelled(name)
		if closest == "" || strings.Contains(text.Raw, name+"=") {
			continue
		}
		at := l.Offset(int(text.TokenPos.Line), int(text.TokenPos.Col))
		l.add(Finding{
			Rule: ruleMacro, Severity: Warning, Start: l.at(at + m[0]), End: l.at(at + m[1]),
			Message: fmt.Sprintf("unknown macro ${%s}. Did you mean ${%s} (specs.macros.%s)?",
				name, closest, closest),
		})
	}
}

// misspelled returns the macro that differs from name by a separator, or by one missing, surplus or
// swapped letter; "" for none.
func misspelled(name string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	for _, m := range analysis.Members("specs.macros") {
		if m.Name == name {
			return ""
		}
	}
	for _, m := range analysis.Members("specs.macros") {
		if a, b := plain.Replace(name), plain.Replace(m.Name); a == b ||
			isSlip(a, b) || isSlip(b, a) {
			return m.Name
		}
	}
	return ""
}

// isSlip reports whether short is long without one letter, or long with two neighbors swapped.
func isSlip(short, long string) bool {
	for i := range long {
		if short == long[:i]+long[i+1:] {
			return true
		}
		if i > 0 && short == long[:i-1]+long[i:i+1]+long[i-1:i]+long[i+1:] {
			return true
		}
	}
	return false
}
