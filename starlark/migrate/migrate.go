// Package migrate ports TorchX component files from Python to Starlark.
//
// The syntax tree comes from Python's own ast module (python/*.py), with constructs that Starlark
// lacks rewritten; the file is never imported. What is ported is a subset, which the user's documentation
// lists. Nothing outside it is guessed: each place that cannot be ported is a
// Problem with its line. The port builds the same apps as the Python file.
//
//	node.go                 source → python3 (python/*.py) → nodes and comments
//	porter.go, file.go      what the file imports and defines, then its statements
//	function.go, class.go   functions and classes; annotation.go and docstring.go for arguments
//	stmt.go, assign.go      one porter of statements
//	expr.go                 one porter of expressions, which returns the text, the precedence
//	                        and the type of each (value.go); collection.go, format.go
//	operator.go             operators and calls: builtin.go, imported.go, method.go
//	types.go, infer.go      types, and those of local variables; scope.go: how functions use variables
//	change.go, store.go     changes of apps, roles and their parts, as changed copies, and variables
//	                        that hold the same values (sharing.go), which a change would miss
//	names.txt (names.go)    names that Python and Starlark share, with their types
//	preludes.star           helpers that a port gets if it needs them
//	refusals.txt            messages about what cannot be ported
//
// Where an addition goes:
//
//   - a construct that plainer Python can replace: a rule in python/
//   - a function, method, constant or field that Starlark or @torchx//dist.star has: a word in
//     names.txt, by the type of its result
//   - a function that Starlark writes differently: a function in preludes.star, or a case of builtinCall,
//     importedCall or methodCall
//   - a class: collectClass decides which classes can be ported, classDef writes them, member and
//     make port their uses
//   - an annotation: command for arguments of components, annotated for the types of values
//   - a statement that changes a specs value: changeByCall or store; track notes which
//     variables hold the same value, givenAway finds uses that cannot be followed
//   - a message about what cannot be ported: a line in refusals.txt
package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"torchx/starlark/starfiles"
)

// Problem is a finding about a line of the Python file.
type Problem struct { //nolint:errname // a finding, which Port also returns as its error
	File string `json:"file"`
	Line int    `json:"line"` // from 1; 0 for the whole file
	Msg  string `json:"message"`

	follows bool // another problem of the file is its reason
}

// Error writes FILE:LINE: MESSAGE.
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Msg
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Msg)
}

// Result is a port.
type Result struct {
	// Text is the Starlark file, formatted. A function that could not be ported
	// fails in it with the reason, when it is called.
	Text string `json:"text"`
	// Components are the names of the components in Text that were ported.
	Components []string `json:"components"`
	// Problems are the places that could not be ported; none means that the port
	// is complete.
	Problems []Problem `json:"problems"`
	// Notes are guesses, paths and defaults of the port that its reader should check.
	Notes []Problem `json:"notes"`
	// Hints are facts that do not change what the port does, such as arguments without help.
	Hints []Problem `json:"hints"`
}

// Folders are absolute folders. The zero value is for a program without modules beside it.
type Folders struct {
	Imports []string // where modules are looked up, beginning with the program's own folder
	Output  string   // of the port; "" for the program's folder
}

// Port ports the Python program source, which messages call name. python is the interpreter that
// reads it. Errors: python is missing or too old, source is not valid Python or has no component.
func Port(ctx context.Context, python, name string, source []byte, folders Folders) (*Result, error) {
	d, err := parse(ctx, python, name, source, folders.Imports)
	if err != nil {
		return nil, err
	}
	p := newPorter(name, d)
	p.folders = folders
	for _, n := range d.Notes {
		p.out.notes = append(p.out.notes, Problem{File: cmp.Or(n.File, name), Line: n.Line, Msg: n.Text})
	}
	if len(d.Unused) > 0 {
		p.hint(0, "not ported, because no component uses them: %s", strings.Join(d.Unused, ", "))
	}
	text := p.file(d.Tree.Body)
	if len(p.out.components) == 0 && len(p.out.problems) == 0 && len(p.out.refused) > 0 {
		return nil, p.out.refused[0]
	}
	if len(p.out.components) == 0 && len(p.out.problems) == 0 {
		return nil, Problem{File: name, Msg: "no component found: a component is a function with the annotation `-> specs.AppDef`"}
	}
	p.out.components = slices.DeleteFunc(p.out.components, func(name string) bool { return p.needsStub(p.globals[name].def, map[*node]bool{}) })
	formatted, err := starfiles.Format(strings.TrimSuffix(name, ".py")+".star", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", name, err)
	}
	p.out.problems = slices.DeleteFunc(p.out.problems, func(x Problem) bool { return x.follows })
	list := func(of []Problem) []Problem { return append([]Problem{}, slices.Compact(of)...) }
	byPlace := func(a, b Problem) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Msg, b.Msg)) }
	for _, found := range [][]Problem{p.out.problems, p.out.notes, p.out.hints} {
		slices.SortFunc(found, byPlace)
	}
	return &Result{
		Text: string(formatted), Components: append([]string{}, p.out.components...), Problems: list(p.out.problems),
		Notes: list(p.out.notes), Hints: list(p.out.hints),
	}, nil
}
