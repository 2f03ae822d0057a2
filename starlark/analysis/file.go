// Package analysis resolves the names of a Starlark file while it is being edited,
// without running it. Most of the time, the file does not parse at the position where
// its author types.
//
// A File has two views of its text. Tokens are always current: they give the text
// around the cursor, the enclosing function and its locals (cursor.go, locals.go). The
// tree has the definitions and loads (globals.go) of the statements that parse, plus
// those of the last text that parsed.
//
// Complete, Reference, Lookup and Problems answer requests of an editor; a Loader opens
// other files. Offsets are in bytes from 0. A File is immutable.
package analysis

import (
	"fmt"
	"strings"
	"sync"

	"go.starlark.net/syntax"

	"torchx/starlark/interp"
	"torchx/starlark/token"
)

// File is one version of a file.
type File struct {
	interp.Lines
	// Name is the name of the file in messages.
	Name string
	// Source is the file that load() is relative to; nil means that nothing can be loaded.
	Source *interp.Source
	// Err is the syntax error, or nil.
	Err error

	lexed
	parsed
	definitions
}

// lexed is the view of the tokens.
type lexed struct {
	mark    int // length of the byte order mark in bytes
	tokens  []token.Token
	lines   []logicalLine
	parents []int // for each line, the head of the enclosing function, or -1
}

// parsed is the view of the tree.
type parsed struct {
	tree     *syntax.File
	parts    []*part
	reparsed int // bytes parsed repeatedly
}

// definitions are the symbols that the file defines.
type definitions struct {
	globals []*Symbol
	byName  map[string]*Symbol
	mu      sync.Mutex        // guards locals
	locals  map[int][]*Symbol // by the line of the head
}

// New analyzes a text. While the text does not parse, the names of before, the previous File or
// nil, are kept.
func New(name string, source *interp.Source, text string, before *File) *File {
	f := &File{Lines: interp.NewLines(text), Name: name, Source: source}
	f.tree, f.byName, f.locals = &syntax.File{}, map[string]*Symbol{}, map[int][]*Symbol{}
	if len(text) > interp.MaxSource {
		f.Err = fmt.Errorf("the file is larger than %d bytes", interp.MaxSource)
		return f
	}
	if strings.HasPrefix(text, byteOrderMark) {
		f.mark = len(byteOrderMark)
	}
	f.tokens = token.Scan(text, f.mark)
	f.lines = f.logicalLines()
	f.parents = f.functionHeads()
	f.parse(before)
	f.readGlobals()
	if f.Err != nil && before != nil {
		f.keepNames(before)
	}
	return f
}

// keepNames adds the names of an earlier version.
func (f *File) keepNames(before *File) {
	for _, s := range before.globals {
		if f.byName[s.Name] == nil {
			kept := *s
			f.add(&kept)
		}
	}
}

// Kind is the kind of a symbol.
type Kind int

// The kinds of names.
const (
	Function Kind = iota
	Variable
	Constant // a variable in upper case, or a built-in value
	Parameter
	Field
	Module
	Type // a constructor, such as specs.Role
)

// Symbol is a name and its description.
type Symbol struct {
	Name string
	Kind Kind
	// Signature is the declaration on one line: `def f(a, b = 1)`, `N = 3`.
	Signature string
	// Doc is the description in Markdown, or "".
	Doc string
	// Params are the parameters of a callable symbol.
	Params   []Param
	Callable bool

	Definition

	// Label and Original are the file of a loaded name, and the name in that file.
	Label, Original string

	value string // the text of the assigned value; the type of a parameter
}

// Definition is the position of a symbol's definition.
type Definition struct {
	File       *File // nil for built-in names
	Start, End int   // of the name
	From, To   int   // of the whole definition
}

// Param is a parameter of a function.
type Param struct {
	Name string
	Text string // as declared: "a", "b = 1", "*args"
	Doc  string // one line or ""
	// Choices are the possible values.
	Choices []string
	// Resource is set if the value is the name of a resource.
	Resource bool
	// Star is set for *args and **kwargs, which cannot be named in a call.
	Star bool
	// Keyword is set if the parameter can only be given by name.
	Keyword bool
	// Required is set if the parameter has no default.
	Required bool
}

// Private reports whether other files cannot load the name.
func Private(name string) bool { return len(name) > 0 && name[0] == '_' }
