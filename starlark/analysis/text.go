package analysis

import (
	"sort"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// Lines is a text with the offsets of its lines. Lines and columns count from 0.
type Lines struct {
	Text   string
	starts []int
}

// NewLines finds the lines of a text, each of which ends with "\n".
func NewLines(text string) Lines { return Lines{text, starts(text)} }

// starts lists the offset of each line of a text.
func starts(text string) []int {
	out := []int{0}
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return out
		}
		at += n + 1
		out = append(out, at)
	}
}

// LineCol returns the line of an offset and how many bytes of it are
// before the offset. Offsets behind the end mean the end.
func (f *Lines) LineCol(offset int) (line, col int) {
	offset = max(0, min(offset, len(f.Text)))
	line = sort.SearchInts(f.starts, offset+1) - 1
	return line, offset - f.starts[line]
}

// Line returns the text of a line without its end; "" behind the last one.
func (f *Lines) Line(line int) string {
	if line < 0 || line >= len(f.starts) {
		return ""
	}
	end := len(f.Text)
	if line+1 < len(f.starts) {
		end = f.starts[line+1] - 1
	}
	return strings.TrimSuffix(f.Text[f.starts[line]:end], "\r")
}

// Start returns the offset of a line; the end of the text behind the last one.
func (f *Lines) Start(line int) int {
	if line >= len(f.starts) {
		return len(f.Text)
	}
	return f.starts[max(0, line)]
}

// lineStart is the offset at which the line of an offset begins.
func (f *Lines) lineStart(offset int) int {
	line, _ := f.LineCol(offset)
	return f.starts[line]
}

// Offset returns the offset of a position of the tree, whose columns count characters.
func (f *File) Offset(pos syntax.Position) int {
	offset := f.Start(int(pos.Line) - 1)
	if pos.Line == 1 {
		offset += f.mark
	}
	for range pos.Col - 1 {
		if offset >= len(f.Text) || f.Text[offset] == '\n' {
			break
		}
		_, n := utf8.DecodeRuneInString(f.Text[offset:])
		offset += n
	}
	return offset
}
