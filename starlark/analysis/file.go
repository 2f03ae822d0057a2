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
	Lines
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
	f := &File{Lines: NewLines(text), Name: name, Source: source, tree: &syntax.File{}, byName: map[string]*Symbol{}, locals: map[int][]*Symbol{}}
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
