package analysis

import (
	"fmt"

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

// Problems lists failing loads, attributes that do not exist and calls with wrong arguments. Package
// starlint finds problems inside one file. Without an Opener, loads are not followed.
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
