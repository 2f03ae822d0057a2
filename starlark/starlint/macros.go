package starlint

import (
	"fmt"
	"strings"

	"go.starlark.net/syntax"

	"torchx/runtime/lazyregexp"
	"torchx/starlark/analysis"
)

// macro matches a macro in a string, or a variable of a shell.
var macro = lazyregexp.New(`\$\{([a-z][a-z0-9_-]*)\}`)

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
			Message: fmt.Sprintf("unknown macro ${%s}. Did you mean ${%s} (specs.macros.%s)?", name, closest, closest),
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
		if a, b := plain.Replace(name), plain.Replace(m.Name); a == b || isSlip(a, b) || isSlip(b, a) {
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
