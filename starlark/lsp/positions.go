package lsp

import (
	"unicode/utf8"

	"torchx/starlark/analysis"
)

// encoding converts between offsets in bytes and the client's positions.
type encoding struct{ utf8 bool }

// offset is that of a position; one behind the end of its line means that end.
func (e encoding) offset(l *analysis.Lines, p position) int {
	start, line := l.Start(p.Line), l.Line(p.Line)
	if p.Line < 0 {
		return 0
	}
	if e.utf8 {
		return start + max(0, min(p.Character, len(line)))
	}
	units := 0
	for i, r := range line {
		if units >= p.Character {
			return start + i
		}
		units += unitsOf(r)
	}
	return start + len(line)
}

// position is that of an offset.
func (e encoding) position(l *analysis.Lines, offset int) position {
	line, col := l.LineCol(offset)
	if e.utf8 {
		return position{line, col}
	}
	start := l.Start(line)
	units := 0
	for _, r := range l.Text[start : start+col] {
		units += unitsOf(r)
	}
	return position{line, units}
}

// unitsOf is how many code units of UTF-16 a character takes.
func unitsOf(r rune) int {
	if r >= 1<<16 {
		return 2
	}
	return 1
}

func (e encoding) textRange(l *analysis.Lines, from, to int) textRange {
	return textRange{e.position(l, from), e.position(l, to)}
}

// apply makes a change in a text.
func (e encoding) apply(text string, c contentChange) string {
	if c.Range == nil {
		return valid(c.Text)
	}
	l := analysis.NewLines(text)
	from, to := e.offset(&l, c.Range.Start), e.offset(&l, c.Range.End)
	return text[:from] + valid(c.Text) + text[max(from, to):]
}

// valid replaces what is no UTF-8, which JSON cannot hold anyway.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
