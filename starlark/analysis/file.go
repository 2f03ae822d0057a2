// Package analysis tells what the names of a Starlark file mean while it is being
// written, without running it. Most of the time the file is broken just where its
// author types.
//
// A File has two views of its text. Tokens are always current: they give the
// surroundings of the cursor, the enclosing function and its locals (cursor.go,
// locals.go). The tree has the definitions and loads (globals.go) of the statements
// that parse, plus those of the last correct text.
//
// Complete, Reference, Lookup and Problems answer an editor's questions; Loader gives
// them other files. Offsets are in bytes from 0. A File does not change.
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
	// Name is what the user calls the file.
	Name string
	// Source is where load() starts from; nil: nothing can be loaded.
	Source *interp.Source
	// Err is the syntax error, nil if there is none.
	Err error

	lexed
	parsed
	definitions
}

// lexed is the view of the tokens.
type lexed struct {
	mark    int // bytes of a byte order mark
	tokens  []token.Token
	lines   []logicalLine
	parents []int // the head of the function that each line is in, -1 for none
}

// parsed is the view of the tree.
type parsed struct {
	tree     *syntax.File
	parts    []*part
	reparsed int // bytes that were parsed again
}

// definitions are the symbols that the file defines.
type definitions struct {
	globals []*Symbol
	byName  map[string]*Symbol
	mu      sync.Mutex        // guards locals
	locals  map[int][]*Symbol // by the head's line
}

// New reads a text. While it cannot be parsed, it keeps the names of before, the previous File or
// nil.
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
	Constant // a variable in capitals, or a built-in value
	Parameter
	Field
	Module
	Type // a function that makes a value of its own kind, such as specs.Role
)

// Symbol is a name and its description.
type Symbol struct {
	Name string
	Kind Kind
	// Signature is the declaration on one line: `def f(a, b = 1)`, `N = 3`.
	Signature string
	// Doc is its description in Markdown, "" for none.
	Doc string
	// Params are the parameters of a callable symbol.
	Params   []Param
	Callable bool

	Definition

	// Label and Original are of a loaded name: its file and its name there.
	Label, Original string

	value string // what it is assigned, as text; its type for a parameter
}

// Definition is the place of a symbol's definition.
type Definition struct {
	File       *File // nil for built-in names
	Start, End int   // of the name
	From, To   int   // of the whole definition
}

// Param is a parameter of a function.
type Param struct {
	Name string
	Text string // as declared: "a", "b = 1", "*args"
	Doc  string // one line, "" for none
	// Choices are the texts that its value can be.
	Choices []string
	// Resource: its value is the name of a resource.
	Resource bool
	// Star: it takes all other arguments and cannot be named.
	Star bool
	// Keyword: it can only be given by name.
	Keyword bool
	// Required: it has no default.
	Required bool
}

// Private reports whether other files cannot load a name.
func Private(name string) bool { return len(name) > 0 && name[0] == '_' }
