// Package analysis tells what the names of a Starlark file mean, without running
// anything, while the file is being written: most of the time it is broken just
// where the author types.
//
// Two views of a file serve each other. Its tokens are always there, and current:
// they say what is around the cursor, which function encloses it and what is local
// to it (cursor.go, locals.go). Its tree says what the file defines and loads
// (globals.go): it is made of those statements that can be parsed, and what the
// last tree without an error had beside them is kept.
//
// Offsets are in bytes from 0. A File does not change: make a new one for a new text.
package analysis

import (
	"fmt"
	"strings"
	"sync"

	"go.starlark.net/syntax"

	"torchx/starlark/interp"
)

// File is one text of a file and what was read off it.
type File struct {
	interp.Lines
	// Name is what the user calls the file.
	Name string
	// Source is where load() starts from; nil: nothing can be loaded.
	Source *interp.Source
	// Err is the syntax error, nil if there is none.
	Err error

	mark    int // bytes of a byte order mark
	tokens  []token
	lines   []logicalLine
	tree    *syntax.File
	parts   []*part
	again   int // bytes that were parsed again
	globals []*Symbol
	byName  map[string]*Symbol
	parents []int // the head of the function that each line is in, -1 for none

	mu     sync.Mutex
	locals map[int][]*Symbol // by the head's line
}

// New reads a text. before is what the file was, nil if nothing is known: names that
// only its text had are kept while this one cannot be parsed.
func New(name string, source *interp.Source, text string, before *File) *File {
	f := &File{Lines: interp.NewLines(text), Name: name, Source: source, tree: &syntax.File{}, byName: map[string]*Symbol{}, locals: map[int][]*Symbol{}}
	if len(text) > interp.MaxSource {
		f.Err = fmt.Errorf("the file is larger than %d bytes", interp.MaxSource)
		return f
	}
	if strings.HasPrefix(text, byteOrderMark) {
		f.mark = len(byteOrderMark)
	}
	f.tokens = tokenize(text, f.mark)
	f.lines = f.logicalLines()
	f.parents = f.heads()
	f.parse(before)
	f.readGlobals()
	if f.Err != nil && before != nil {
		f.keep(before)
	}
	return f
}

// keep takes over the names that an earlier text had.
func (f *File) keep(before *File) {
	for _, s := range before.globals {
		if f.byName[s.Name] == nil {
			kept := *s
			f.add(&kept)
		}
	}
}

// Kind says what a name stands for.
type Kind int

// The kinds of names.
const (
	Function Kind = iota
	Variable
	Constant // a variable in capitals, or a built-in value
	Parameter
	Field
	Module
	Type // a function that makes a value of its own kind, such as specs.Role
)

// Symbol is a name and what is known of it.
type Symbol struct {
	Name string
	Kind Kind
	// Signature is how it is declared, on one line: `def f(a, b = 1)`, `N = 3`.
	Signature string
	// Doc is its description in Markdown, "" for none.
	Doc string
	// Params are those of what can be called, in their order.
	Params   []Param
	Callable bool

	// File is where it is defined, nil for what is built in.
	File       *File
	Start, End int // of the name there
	// From and To are where the whole definition begins and ends.
	From, To int

	// Label and Original are of a name that load() brings in: from where, and as what.
	Label, Original string

	value string // what it is assigned, as text; its type for a parameter
}

// Param is a parameter of a function.
type Param struct {
	Name string
	Text string // as declared: "a", "b = 1", "*args"
	Doc  string // one line, "" for none
	// Choices are what its value can be, where that is a list of texts.
	Choices []string
	// Resource: its value is the name of a resource.
	Resource bool
	// Star: it takes what is left, so it cannot be named in a call.
	Star bool
	// Required: it has no default.
	Required bool
}

// Private reports whether a name cannot be loaded by other files.
func Private(name string) bool { return len(name) > 0 && name[0] == '_' }
