package analysis

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/lib/math"
	"go.starlark.net/syntax"

	"torchx/starlark/component"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
	"torchx/starlark/startest"
)

// universe documents Starlark's own functions and the methods of its types.
// https://github.com/google/starlark-go/blob/master/doc/spec.md#built-in-constants-and-functions
//
//go:embed universe.txt
var universe string

// testType is the type of the argument t of tests.
const testType = "test"

// builtins returns all built-in names by full name: "specs.Role", "len".
var builtins = sync.OnceValue(func() map[string]*Symbol {
	out := map[string]*Symbol{}
	for name, d := range specmodule.Docs() {
		out[name] = builtin(name, d.Signature, d.Text)
	}
	for name := range math.Module.Members {
		full := "math." + name
		out[full] = builtin(full, full, "Part of Starlark's standard module math.")
	}
	for name, d := range specmodule.ParseDocs(universe) {
		_, method, isMethod := strings.Cut(name, ".")
		if isMethod { // shown without the type: "join(iterable)"
			out[name] = builtin(method, strings.TrimPrefix(d.Signature, name[:len(name)-len(method)]), d.Text)
			continue
		}
		out[name] = builtin(name, d.Signature, d.Text)
	}
	for name, d := range startest.Docs() {
		out[testType+"."+name] = builtin(testType+"."+name, d.Signature, d.Text)
	}
	out["__file__"] = builtin("__file__", "__file__",
		"The absolute path of this file, or the label of a built-in file.")
	return out
})

// builtin returns a symbol from its documentation, such as `specs.resource(cpu = None)`.
func builtin(name, signature, text string) *Symbol {
	s := &Symbol{Name: name[strings.LastIndexByte(name, '.')+1:], Kind: Constant, Signature: signature, Doc: text}
	head, params, call := strings.Cut(signature, "(")
	switch {
	case call && head[strings.LastIndexByte(head, '.')+1:] == s.Name:
		s.Kind, s.Callable = Function, true
		if s.Name[0] >= 'A' && s.Name[0] <= 'Z' && name != "specs.overlays."+s.Name {
			s.Kind = Type
		}
		s.Params = declaredParams(strings.TrimSuffix(params, ")"))
	case signature == name && slices.Contains(modules, name):
		s.Kind = Module
	}
	return s
}

// modules are the built-in names with members.
var modules = []string{
	"specs", "specs.macros", "specs.overlays", "specs.RetryPolicy", "torchx", "json", "math", "shlex", "path",
}

// declaredParams returns the parameters of a documented signature.
func declaredParams(text string) []Param {
	src := "def f(" + text + "): pass\n"
	tree, err := interp.EveryDialect().Parse("", src, 0)
	if err != nil { // cannot happen: tests parse all signatures
		return nil
	}
	f := &File{Lines: interp.NewLines(src)}
	return f.params(tree.Stmts[0].(*syntax.DefStmt), component.Doc{})
}

// Builtin returns the symbol of a full built-in name ("specs.Role", "len"), or nil.
func Builtin(name string) *Symbol { return builtins()[name] }

// Builtins lists the built-in names without a dot, sorted.
func Builtins() []*Symbol { return membersOf("") }

// Members lists the members of a built-in name, sorted.
func Members(name string) []*Symbol { return membersOf(name + ".") }

func membersOf(prefix string) []*Symbol {
	var out []*Symbol
	for name, s := range builtins() {
		if rest, ok := strings.CutPrefix(name, prefix); ok && !strings.Contains(rest, ".") {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Symbol) int { return strings.Compare(a.Name, b.Name) })
	return out
}
