package analysis

import (
	"slices"
	"strings"

	"torchx/starlark/component"

	"go.starlark.net/syntax"
)

// dialect accepts every Starlark: lint reports what component files do not allow.
func dialect() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
}

const byteOrderMark = "\uFEFF"

// maxReparsed bounds the bytes that are parsed repeatedly to save parts of broken statements, to about 20 ms.
const maxReparsed = 1 << 20

// part is a top-level statement, or the remaining part of a broken one.
type part struct {
	line  int // from 0
	text  string
	kept  string // the part of text that parses
	stmts []syntax.Stmt
	err   error
	docs  map[*syntax.DefStmt]component.Doc // of its functions, parsed on demand
}

// parse builds the tree statement by statement. It reuses unchanged statements of before.
func (f *File) parse(before *File) {
	known := map[int]*part{}
	if before != nil {
		for _, p := range before.parts {
			known[p.line] = p
		}
	}
	tops := f.topLevel()
	for i, first := range tops {
		end := len(f.Text)
		if i+1 < len(tops) {
			end = f.Start(tops[i+1])
		}
		text := strings.TrimPrefix(f.Text[f.Start(first):end], byteOrderMark)
		p := known[first]
		if p == nil || p.text != text {
			p = f.parsePart(first, text)
		}
		f.parts = append(f.parts, p)
		f.tree.Stmts = append(f.tree.Stmts, p.stmts...)
		if f.Err == nil {
			f.Err = p.err
		}
	}
}

// topLevel lists the lines, from 0, where top-level statements begin.
func (f *File) topLevel() []int {
	var out []int
	for _, l := range f.lines {
		if l.indent == 0 && !f.is(l.first, "else") && !f.is(l.first, "elif") {
			line, _ := f.LineCol(f.tokens[l.first].Start)
			out = append(out, line)
		}
	}
	return slices.Compact(out) // a; b
}

// parsePart parses a statement. If it is broken, the lines that parse are kept, at least a function's
// head.
func (f *File) parsePart(line int, text string) *part {
	p := &part{line: line, text: text, docs: map[*syntax.DefStmt]component.Doc{}}
	parses := func(text string) (err error) {
		if p.stmts, err = parseAt(f.Name, line, text); err == nil {
			p.kept = text
		}
		return err
	}
	if p.err = parses(text); p.err == nil {
		return p
	}
	for f.reparsed < maxReparsed {
		f.reparsed += 2 * len(text)
		if parses(text+" pass") == nil {
			return p
		}
		cut := strings.LastIndexByte(strings.TrimRight(text, " \t\r\n"), '\n')
		if cut < 0 {
			return p
		}
		text = text[:cut]
		if parses(text) == nil {
			return p
		}
	}
	return p
}

// parseAgain returns a tree of everything that parses. It shares no nodes with other versions of the
// file, so that it can be resolved.
func (f *File) parseAgain() *syntax.File {
	tree := &syntax.File{Options: dialect()}
	for _, p := range f.parts {
		stmts, err := parseAt(f.Name, p.line, p.kept)
		if err == nil {
			tree.Stmts = append(tree.Stmts, stmts...)
		}
	}
	return tree
}

func parseAt(name string, line int, text string) ([]syntax.Stmt, error) {
	tree, err := dialect().Parse(name, syntax.FilePortion{Content: []byte(text), FirstLine: int32(line) + 1, FirstCol: 1}, 0)
	if err != nil {
		return nil, err
	}
	return tree.Stmts, nil
}
