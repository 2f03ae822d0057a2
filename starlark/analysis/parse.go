package analysis

import (
	"slices"
	"sort"
	"strings"

	"go.starlark.net/syntax"

	"torchx/starlark/component"
	"torchx/starlark/interp"
	"torchx/starlark/token"
)

const byteOrderMark = "\uFEFF"

// maxReparsed bounds the bytes that are parsed repeatedly to save parts of broken statements, to
// about 20 ms.
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

// parsePart parses a statement. If it is broken, the lines that parse are kept, at least a
// function's head.
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

// parseAgain returns a tree of everything that parses. It shares no nodes with other versions of
// the file, so that it can be resolved.
func (f *File) parseAgain() *syntax.File {
	tree := &syntax.File{Options: interp.EveryDialect()}
	for _, p := range f.parts {
		stmts, err := parseAt(f.Name, p.line, p.kept)
		if err == nil {
			tree.Stmts = append(tree.Stmts, stmts...)
		}
	}
	return tree
}

func parseAt(name string, line int, text string) ([]syntax.Stmt, error) {
	tree, err := interp.EveryDialect().Parse(name,
		syntax.FilePortion{Content: []byte(text), FirstLine: int32(line) + 1, FirstCol: 1}, 0)
	if err != nil {
		return nil, err
	}
	return tree.Stmts, nil
}

// logicalLine is the line of a statement, including the lines that its brackets join.
type logicalLine struct {
	first, end int // tokens [first, end)
	indent     int // bytes of leading white space
}

// starters are words that can only begin a statement: at the start of a line they end open
// brackets.
var starters = map[string]bool{"def": true, "load": true, "return": true, "pass": true, "break": true, "continue": true}

// logicalLines splits tokens into statements. Open brackets join lines, until a line certainly
// begins a new statement.
func (f *File) logicalLines() []logicalLine {
	var out []logicalLine
	depth, first := 0, -1
	for i, t := range f.tokens {
		switch {
		case t.Kind == token.Newline:
			if depth > 0 && f.startsStatement(i+1) {
				depth = 0
			}
			if depth == 0 && first >= 0 {
				out = append(out, logicalLine{first, i, f.indentOf(first)})
				first = -1
			}
			continue
		case t.Kind == token.Comment:
			continue
		case first < 0:
			first = i
		}
		depth = max(0, depth+t.Nesting)
	}
	if first >= 0 {
		out = append(out, logicalLine{first, len(f.tokens), f.indentOf(first)})
	}
	return out
}

// startsStatement reports whether the i-th token, the first of its line, certainly begins a
// statement. A load does only without indentation.
func (f *File) startsStatement(i int) bool {
	if !f.isKind(i, token.Name) || f.is(i+1, "=") {
		return false
	}
	word := f.tokenText(f.tokens[i])
	return starters[word] && (word != "load" || f.indentOf(i) == 0)
}

// indentOf returns the indentation of the i-th token's line in bytes.
func (f *File) indentOf(i int) int {
	start := f.lineStart(f.tokens[i].Start)
	n := start
	for n < len(f.Text) && (f.Text[n] == ' ' || f.Text[n] == '\t') {
		n++
	}
	return n - start
}

// lineAt returns the index of the last logical line that begins at or before an offset, or -1.
func (f *File) lineAt(offset int) int {
	return sort.Search(len(f.lines), func(i int) bool { return f.tokens[f.lines[i].first].Start > offset }) - 1
}

func (f *File) lineStart(offset int) int {
	line, _ := f.LineCol(offset)
	return f.Start(line)
}

// Offset returns the offset of a position in the tree, which does not count the byte order mark.
func (f *File) Offset(pos syntax.Position) int {
	col := int(pos.Col)
	if pos.Line == 1 && f.mark > 0 {
		col++
	}
	return f.Lines.Offset(int(pos.Line), col)
}

func (f *File) tokenText(t token.Token) string { return f.Text[t.Start:t.End] }

// is reports whether the i-th token exists and has this text.
func (f *File) is(i int, text string) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind != token.String &&
		f.tokenText(f.tokens[i]) == text
}

func (f *File) isKind(i int, kind token.Kind) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind == kind
}
