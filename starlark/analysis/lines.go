package analysis

import (
	"sort"

	"torchx/starlark/token"

	"go.starlark.net/syntax"
)

// logicalLine is the line of a statement, including the lines that its brackets join.
type logicalLine struct {
	first, end int // tokens [first, end)
	indent     int // bytes of leading white space
}

// starters are words that can only begin a statement: at the start of a line they end open brackets.
var starters = map[string]bool{"def": true, "load": true, "return": true, "pass": true, "break": true, "continue": true}

// logicalLines splits tokens into statements. Open brackets join lines, until a line certainly begins
// a new statement.
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
		if t.Kind == token.Op {
			depth = max(0, depth+token.Nesting(f.Text[t.Start]))
		}
	}
	if first >= 0 {
		out = append(out, logicalLine{first, len(f.tokens), f.indentOf(first)})
	}
	return out
}

// startsStatement reports whether the i-th token, the first of its line, certainly begins a statement.
// A load does only without indentation.
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
	return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind != token.String && f.tokenText(f.tokens[i]) == text
}

func (f *File) isKind(i int, kind token.Kind) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].Kind == kind
}
