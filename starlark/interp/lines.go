package interp

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Lines is a text with the offsets of its lines. Lines and columns count from 0.
type Lines struct {
	Text   string
	starts []int
}

// NewLines finds the lines of a text, each of which ends with "\n".
func NewLines(text string) Lines {
	l := Lines{text, []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// LineCol returns the line of an offset and the bytes of it before the offset, at most the end of
// the text.
func (l *Lines) LineCol(offset int) (line, col int) {
	offset = max(0, min(offset, len(l.Text)))
	line = sort.SearchInts(l.starts, offset+1) - 1
	return line, offset - l.starts[line]
}

// Line returns the text of a line without its end; "" behind the last one.
func (l *Lines) Line(line int) string {
	if line < 0 || line >= len(l.starts) {
		return ""
	}
	end := len(l.Text)
	if line+1 < len(l.starts) {
		end = l.starts[line+1] - 1
	}
	return strings.TrimSuffix(l.Text[l.starts[line]:end], "\r")
}

// Start returns the offset of a line; the end of the text behind the last one.
func (l *Lines) Start(line int) int {
	if line >= len(l.starts) {
		return len(l.Text)
	}
	return l.starts[max(0, line)]
}

// Offset returns the offset of a position, from 1 and in characters; at most the end of its line.
func (l *Lines) Offset(line, col int) int {
	offset := l.Start(line - 1)
	for range col - 1 {
		if offset >= len(l.Text) || l.Text[offset] == '\n' {
			break
		}
		_, n := utf8.DecodeRuneInString(l.Text[offset:])
		offset += n
	}
	return offset
}
