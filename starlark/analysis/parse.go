package analysis

import (
	"strings"

	"go.starlark.net/syntax"
)

// dialect takes whatever any Starlark allows: what a component file may not have is
// found by lint.
func dialect() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
}

const byteOrderMark = "\uFEFF"

// maxTries bounds how often a broken definition is parsed again with its last line left out.
const maxTries = 60

// parse returns the tree of a file: of all of it, or, if that is broken, of those
// statements that can be parsed, and the error.
func (f *File) parse() (*syntax.File, error) {
	tree, err := dialect().Parse(f.Name, f.Text[f.mark:], 0)
	if err == nil {
		return tree, nil
	}
	tree = &syntax.File{Path: f.Name, Options: dialect()}
	tops := f.topLevel()
	for i, first := range tops {
		end := len(f.Text)
		if i+1 < len(tops) {
			end = f.starts[tops[i+1]]
		}
		tree.Stmts = append(tree.Stmts, f.parsePart(first, f.Text[f.starts[first]:end])...)
	}
	return tree, err
}

// topLevel lists the lines (from 0) at which statements of the file's top begin.
func (f *File) topLevel() []int {
	var out []int
	for _, l := range f.lines {
		if l.indent == 0 {
			line, _ := f.LineCol(f.tokens[l.first].start)
			out = append(out, line)
		}
	}
	return out
}

// parsePart parses a statement that begins at a line. Of a broken one it takes as
// many of its lines as can be parsed, of a function at least the head.
func (f *File) parsePart(line int, text string) []syntax.Stmt {
	text = strings.TrimPrefix(text, byteOrderMark)
	for range maxTries {
		if stmts, err := parseAt(f.Name, line, text); err == nil {
			return stmts
		}
		if stmts, err := parseAt(f.Name, line, text+" pass"); err == nil {
			return stmts
		}
		cut := strings.LastIndexByte(strings.TrimRight(text, " \t\r\n"), '\n')
		if cut < 0 {
			return nil
		}
		text = text[:cut]
	}
	return nil
}

func parseAt(name string, line int, text string) ([]syntax.Stmt, error) {
	tree, err := dialect().Parse(name, syntax.FilePortion{Content: []byte(text), FirstLine: int32(line) + 1, FirstCol: 1}, 0)
	if err != nil {
		return nil, err
	}
	return tree.Stmts, nil
}
