package explain

import (
	"fmt"
	"slices"
	"strings"

	"torchx/starlark/token"
)

// brackets explains brackets that are not closed, or closed by another kind of bracket.
func (r *report) brackets() bool {
	if strings.HasPrefix(r.msg, "unexpected ") {
		return r.advise("no bracket is open here")
	}
	if len(r.open) == 0 {
		return false
	}
	last := r.open[len(r.open)-1]
	number, _ := r.line(r.tokens[last].Start)
	bracket := r.textOf(last)
	switch {
	case r.nesting(r.at) < 0 && r.textOf(r.at) != closing(bracket):
		r.msg = fmt.Sprintf("got '%s', want '%s': the '%s' in line %d, column %d is not closed", r.textOf(r.at), closing(bracket), bracket, number, r.column(last))
		return true
	case r.endsInside(last):
		here, _ := r.line(r.offset)
		msg := fmt.Sprintf("'%s' is never closed: ", bracket)
		if r.at >= len(r.tokens) {
			msg += "got end of file, want '" + closing(bracket) + "'"
		} else if msg += r.msg; here != number {
			msg += fmt.Sprintf(" in line %d", here)
		}
		r.msg = msg
		r.point(last)
		return true
	}
	return false
}

func closing(bracket string) string {
	return map[string]string{"(": ")", "[": "]", "{": "}"}[bracket]
}

// column returns the column of the i-th token, from 1, in characters.
func (r *report) column(i int) int {
	start := r.tokens[i].Start
	return len([]rune(r.text[strings.LastIndexByte(r.text[:start], '\n')+1:start])) + 1
}

// statementWords begin statements and never appear inside brackets.
var statementWords = []string{
	"def", "return", "pass", "break", "continue", "import", "from", "class", "while", "try", "with", "raise", "del", "global",
}

// endsInside reports whether the statement that opened a bracket certainly ended before the error:
// at the end of the text, before a word that only begins statements, or before a line that is not
// indented deeper.
func (r *report) endsInside(bracket int) bool {
	if r.at >= len(r.tokens) || slices.Contains(statementWords, r.textOf(r.at)) {
		return true
	}
	if r.textOf(r.at) == ":" && (r.at+1 == len(r.tokens) || r.isKind(r.at+1, token.Newline)) && isCompound(r.textOf(r.head)) {
		return r.textOf(bracket) != "{" // the colon ends the head of a statement
	}
	from, outer := r.line(r.tokens[bracket].Start)
	to, inner := r.line(r.tokens[r.at].Start)
	return from != to && len(inner) <= len(outer) && r.nesting(r.at) >= 0
}

// isCompound reports whether word begins a statement with a body.
func isCompound(word string) bool {
	return slices.Contains([]string{"def", "if", "elif", "else", "for", "while"}, word)
}
