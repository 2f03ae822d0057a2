package analysis

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/humanize"
	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
)

// The rules of Problems.
const (
	RuleLoad      = "broken-load"
	RuleAttribute = "unknown-attribute"
	RuleCall      = "wrong-call"
)

// Problem is an error that running the file would show.
type Problem struct {
	Rule     string
	From, To int
	Text     string // one line
}

// Problems lists failing loads, attributes that do not exist and calls with wrong arguments.
// Package starlint finds problems inside one file. Without an Opener, loads are not followed.
func (f *File) Problems(o Opener) []Problem {
	tree := f.parseAgain()
	predeclared := func(name string) bool { return Builtin(name) != nil && !starlark.Universe.Has(name) }
	_ = interp.ResolveNames(tree, len(f.Text), predeclared) // lint reports undefined names
	p := &problems{file: f, opener: o, names: namesOf(f, tree)}
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LoadStmt:
			p.load(n)
		case *syntax.DotExpr:
			p.attribute(n)
		case *syntax.AssignStmt:
			p.fieldAssigned(n)
		case *syntax.CallExpr:
			if f.isMeantToFail(n) {
				return false
			}
			p.call(n)
		}
		return true
	})
	return p.found
}

// isMeantToFail reports whether a call is t.fails(...) of a test.
func (f *File) isMeantToFail(call *syntax.CallExpr) bool {
	dot, ok := call.Fn.(*syntax.DotExpr)
	return ok && dot.Name.Name == "fails" && starfiles.IsTest(f.Name)
}

type problems struct {
	file   *File
	opener Opener
	names  *names
	found  []Problem
}

func (p *problems) add(rule string, n syntax.Node, format string, args ...any) {
	from, to := p.file.span(n)
	p.found = append(p.found, Problem{rule, from, to, fmt.Sprintf(format, args...)})
}

// maxHints bounds the problems with a did-you-mean, which is slow to compute.
const maxHints = 100

func (p *problems) hint(word string, among []string) string {
	if len(p.found) > maxHints || len(among) > maxHints {
		return ""
	}
	return humanize.Hint(word, among)
}

// ConstantsOf returns the global names of a file that have a constant value.
func ConstantsOf(file *syntax.File) starlark.StringDict {
	constants := starlark.StringDict{}
	for _, s := range file.Stmts {
		if a, ok := s.(*syntax.AssignStmt); ok && a.Op == syntax.EQ {
			if id, ok := a.LHS.(*syntax.Ident); ok {
				if v := ConstantValue(a.RHS, constants); v != nil {
					constants[id.Name] = v
				}
			}
		}
	}
	return constants
}

// ConstantValue evaluates an expression of literals and constants. It returns nil if the value is
// known only at run time. It resolves the names in the expression again.
func ConstantValue(e syntax.Expr, constants starlark.StringDict) starlark.Value {
	known := true
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.ParenExpr, *syntax.ListExpr, *syntax.TupleExpr, *syntax.DictExpr, *syntax.DictEntry:
		case *syntax.Literal:
			known = known && n.Token != syntax.BYTES
		case *syntax.UnaryExpr:
			known = known && n.Op == syntax.MINUS
		case *syntax.Ident:
			known = known && (constants.Has(n.Name) || slices.Contains([]string{"True", "False", "None"}, n.Name))
		default:
			known = false
		}
		return known
	})
	if !known {
		return nil
	}
	v, err := starlark.EvalExprOptions(&syntax.FileOptions{}, &starlark.Thread{}, e, constants)
	if err != nil {
		return nil
	}
	return v
}

// literal returns the value of an argument that consists of literals, nil for other arguments.
func (p *problems) literal(e syntax.Expr) starlark.Value {
	from, to := p.file.span(e)
	if to-from > maxLiteral {
		return nil
	}
	reparsed, err := interp.EveryDialect().ParseExpr("", "("+p.file.Text[from:to]+")", 0)
	if err != nil {
		return nil
	}
	return ConstantValue(reparsed, nil)
}

// maxLiteral bounds the text of an argument to evaluate, in bytes.
const maxLiteral = 10_000
