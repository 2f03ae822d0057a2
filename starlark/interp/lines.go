package interp

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Lines is a text and the offsets of its lines. Lines and columns count from 0.
type Lines struct {
	Text   string
	starts []int
	marks  []mark // in order; none if all characters are single bytes
}

// A mark is the position of a character. With marks, finding a column does not walk a long line.
type mark struct{ offset, char int }

// markEvery is the minimum distance of two marks in bytes.
const markEvery = 256

// NewLines finds the lines of a text; each line ends with "\n".
func NewLines(text string) Lines {
	l := Lines{Text: text, starts: []int{0}}
	char, ascii := 0, true
	last := mark{}
	l.marks = append(l.marks, last)
	for i, r := range text {
		if i >= last.offset+markEvery {
			last = mark{i, char}
			l.marks = append(l.marks, last)
		}
		if r == '\n' {
			l.starts = append(l.starts, i+1)
		}
		ascii = ascii && r < utf8.RuneSelf
		char++
	}
	if ascii {
		l.marks = nil
	}
	return l
}

// Chars returns the number of characters before an offset.
func (l *Lines) Chars(offset int) int {
	if l.marks == nil {
		return offset
	}
	i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].offset > offset }) - 1
	return l.marks[i].char + utf8.RuneCountInString(l.Text[l.marks[i].offset:offset])
}

// LineCol returns the line of an offset and the offset within the line, in bytes. Offsets outside
// of the text are clamped.
func (l *Lines) LineCol(offset int) (line, col int) {
	offset = max(0, min(offset, len(l.Text)))
	line = sort.SearchInts(l.starts, offset+1) - 1
	return line, offset - l.starts[line]
}

// Line returns the text of a line without its end; "" after the last line.
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

// Start returns the offset of a line; the end of the text after the last line.
func (l *Lines) Start(line int) int {
	if line >= len(l.starts) {
		return len(l.Text)
	}
	return l.starts[max(0, line)]
}

// Offset returns the offset of a position, from 1 and in characters; at most the end of the line.
func (l *Lines) Offset(line, col int) int {
	start, end := l.Start(line-1), len(l.Text)
	if next := max(line, 1); next < len(l.starts) {
		end = l.starts[next] - 1
	}
	if l.marks == nil {
		return max(start, min(start+col-1, end))
	}
	char := l.Chars(start) + max(0, col-1)
	at := l.marks[sort.Search(len(l.marks), func(i int) bool { return l.marks[i].char > char })-1]
	if at.offset < start {
		at = mark{start, l.Chars(start)}
	}
	offset := at.offset
	for ; at.char < char && offset < end; at.char++ {
		_, n := utf8.DecodeRuneInString(l.Text[offset:])
		offset += n
	}
	return min(offset, end)
}
