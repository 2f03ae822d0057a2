// Package migrate ports TorchX component files from Python to Starlark.
//
// The syntax tree comes from Python's own ast module (dump.py); the file is
// never imported. What is ported is a subset, which the user's documentation
// lists. Nothing outside it is guessed: each place that cannot be ported is a
// Problem with its line. The port builds the same apps as the Python file.
//
//	node.go                 source → python3 (dump.py) → nodes and comments
//	porter.go, file.go      what the file imports and defines, then its statements
//	function.go, class.go   functions and classes; annotation.go and docstring.go for arguments
//	stmt.go, assign.go      one porter of statements
//	expr.go                 one porter of expressions, which returns the text, the precedence
//	                        and the type of each (value.go); collection.go, format.go, percent.go
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
	// Notes are facts about an exact port that its reader should know.
	Notes []Problem `json:"notes"`
}

// Port ports the Python program source, which messages call name. python is the interpreter that
// reads it. Imports are followed in roots, the first of which is the folder of the file. Errors: python is missing or too old, source is not valid Python or has no component.
func Port(ctx context.Context, python, name string, source []byte, roots ...string) (*Result, error) {
	d, err := parse(ctx, python, name, source, roots)
	if err != nil {
		return nil, err
	}
	p := newPorter(name, d)
	for _, n := range d.Notes {
		p.out.notes = append(p.out.notes, Problem{cmp.Or(n.File, name), n.Line, n.Text})
	}
	if len(d.Unused) > 0 {
		p.note(0, "not ported, because no component uses them: %s", strings.Join(d.Unused, ", "))
	}
	text := p.file(d.Tree.Body)
	if len(p.out.components) == 0 && len(p.out.problems) == 0 && len(p.out.refused) > 0 {
		return nil, p.out.refused[0]
	}
	if len(p.out.components) == 0 && len(p.out.problems) == 0 {
		return nil, Problem{File: name, Msg: "no component found: a component is a function with the annotation `-> specs.AppDef`"}
	}
	formatted, err := starfiles.Format(strings.TrimSuffix(name, ".py")+".star", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", name, err)
	}
	byPlace := func(a, b Problem) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Msg, b.Msg)) }
	slices.SortFunc(p.out.problems, byPlace)
	slices.SortFunc(p.out.notes, byPlace)
	return &Result{
		Text: string(formatted), Components: append([]string{}, p.out.components...),
		Notes: append([]Problem{}, slices.Compact(p.out.notes)...), Problems: append([]Problem{},
			slices.Compact(p.out.problems)...),
	}, nil
}
