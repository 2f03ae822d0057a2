// Package migrate ports TorchX component files from Python to Starlark.
//
// The syntax tree comes from Python's own ast module (dump.py); the file is
// never imported. What is ported is a subset, which the user's documentation
// lists; outside it nothing is guessed: each place that could not be ported is a
// Problem with its line. The port builds the apps that the Python file built.
//
//	python.go, node.go    source → python3 (dump.py) → nodes and comments
//	porter.go, file.go    what the file imports and defines, then its statements
//	function.go, class.go functions and classes; annotation.go and docstring.go for arguments
//	stmt.go, writer.go    one porter of statements; lines and comments
//	expr.go, value.go     one porter of expressions, which gives the text, the precedence
//	                      and the type of each; call.go, collection.go and format.go are parts
//	types.go, usage.go    types, what they are of local variables, and what else holds those
//	change.go             changes of apps, roles and what is in them, as changed copies
//	names.txt (names.go)  names that Python and Starlark share, with their types
//	preludes.star         helpers that a port gets if it needs them
//	refusals.txt          the texts of what is refused (refusals.go)
//
// Where an addition goes:
//
//   - a function, method, constant or field that Starlark has: a word in names.txt, by the
//     type of its result; what @torchx//dist.star exports too
//   - one that needs another form: a function in preludes.star, or a case of builtinCall,
//     importedCall or methodCall
//   - a class: collectClass decides what a class may be, classDef writes it, member and make
//     port what it is used for
//   - an annotation: command for what a command line gives, annotated for what a value is
//   - a statement that changes a specs value: changeByCall or store; track says which
//     variables hold the same value, givenAway what cannot be followed
//   - what cannot be ported: a line in refusals.txt, by Python's class of the node, by the
//     function or method, or by a word of ours
package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"torchx/starlark/starfmt"
)

// Problem is a finding about a line of the Python file.
type Problem struct { //nolint:errname // it is a finding, and an error only where it is the only one
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
	// Notes tell what a reader should know although the port is exact.
	Notes []Problem `json:"notes"`
}

// Port ports the Python program source. python is the interpreter to read it with,
// name what the file is called in messages. The error is about what makes any
// port impossible: no python, no Python program, no component in it.
func Port(ctx context.Context, python, name string, source []byte) (*Result, error) {
	d, err := parse(ctx, python, name, source)
	if err != nil {
		return nil, err
	}
	p := newPorter(name, d)
	text := p.file(d.Tree.Body)
	if len(p.out.components) == 0 && len(p.out.problems) == 0 && len(p.out.refused) > 0 {
		return nil, p.out.refused[0]
	}
	if len(p.out.components) == 0 && len(p.out.problems) == 0 {
		return nil, Problem{File: name, Msg: "it has no component: a component is a function that is annotated with `-> specs.AppDef`"}
	}
	formatted, err := starfmt.Format(strings.TrimSuffix(name, ".py")+".star", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", name, err)
	}
	byPlace := func(a, b Problem) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Msg, b.Msg)) }
	slices.SortFunc(p.out.problems, byPlace)
	slices.SortFunc(p.out.notes, byPlace)
	return &Result{
		Text: string(formatted), Components: append([]string{}, p.out.components...),
		Notes: append([]Problem{}, slices.Compact(p.out.notes)...), Problems: append([]Problem{}, slices.Compact(p.out.problems)...),
	}, nil
}
