// Package migrate ports TorchX component files from Python to Starlark.
//
// The syntax tree comes from Python's own ast module (dump.py); the file is
// never imported. What is ported is a subset, which the user's documentation
// lists; outside it nothing is guessed: each place that could not be ported is a
// Problem with its line. The port builds the apps that the Python file built.
//
//	python.go, ast.go     source → python3 (dump.py) → typed nodes and comments
//	porter.go, file.go    what the file imports and defines, then its statements
//	function.go           functions; annotation.go and docstring.go for their arguments
//	stmt.go, writer.go    one porter of statements; lines and comments
//	expr.go               one porter of expressions, which gives the text, the precedence
//	                      and the type of each; call.go, collection.go, literal.go,
//	                      format.go and enum.go are its parts
//	types.go, infer.go    types, and what they are of local variables
//	usage.go, sharing.go  changes of lists, dicts and roles, and what else sees them
//	table.go              names that Python and Starlark share, with their types
//	doc.go                layout of Starlark text; buildtools' formatter does the rest
//
// Where an addition goes:
//
//   - a function, method, constant or field that Starlark has: a word in table.go, by the
//     type of its result (torchx.IMAGE in constants; what @torchx//dist.star exports, such
//     as parse_nnodes, in functions)
//   - one that needs another form: a case of builtinCall, importedCall or methodCall
//     (sum of bools), or of attribute and binary if it is no call (pathlib: pathOf finds
//     the paths)
//   - a class: collectEnum decides what a class may be (class _noquote(str)) and enumClass
//     writes it
//   - an annotation: commandType for what a command line gives, annotated for what a
//     value is (Annotated[str, "-cn"])
//   - a statement that changes a specs value: fieldRefOf finds the field, isAlone
//     says whether something else sees the change (app.roles[0].env of what ddp returned)
//   - a name that is no call of the function: isRecursive (a local variable named like its
//     function)
//   - a class of Python's syntax tree: a type pyX in ast.go, which classes lists, and a case
//     of expr or stmt; what has none is refused by its entry in unsupportedNodes
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
		Text: string(formatted), Components: p.out.components, Notes: slices.Compact(p.out.notes), Problems: slices.Compact(p.out.problems),
	}, nil
}
