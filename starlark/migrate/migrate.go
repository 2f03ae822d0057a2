// Package migrate ports TorchX component files from Python to Starlark.
//
// The syntax tree comes from Python's own ast module (dump.py); the file is
// never imported. What is ported is a subset, which the user's documentation
// lists; outside it nothing is guessed: each place that could not be ported is a
// Problem with its line. The port builds the apps that the Python file built.
//
//	parse      source → python3 → tree and comments
//	porter     names and imports (names.go), functions (function.go), statements
//	           (stmt.go), expressions (expr.go, call.go, strings.go), what may be
//	           shared and changed (alias.go)
//	doc        lines of Starlark, then buildtools' formatter
package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"torchx/starlark/starfmt"
)

// Problem is a place in the Python file and what is to be said about it.
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
	p.file(d.body)
	unproved := p.unproved // callers may stand before the functions they call
	p = newPorter(name, d)
	p.unproved = unproved
	text := p.file(d.body)
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
	slices.SortStableFunc(p.out.problems, func(a, b Problem) int { return a.Line - b.Line })
	slices.SortStableFunc(p.out.notes, func(a, b Problem) int { return a.Line - b.Line })
	return &Result{
		Text: string(formatted), Components: p.out.components, Notes: slices.Compact(p.out.notes), Problems: slices.Compact(p.out.problems),
	}, nil
}
