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
		r.msg = fmt.Sprintf("got '%s', want '%s': the '%s' in line %d, column %d is not closed",
			r.textOf(r.at), closing(bracket), bracket, number, r.column(last))
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
	if r.textOf(r.at) == ":" && (r.at+1 == len(r.tokens) || r.isKind(r.at+1, token.Newline)) &&
		isCompound(r.textOf(r.head)) {
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

// layout explains line ends and indentation.
func (r *report) layout() bool {
	switch {
	case r.got == "newline":
		return r.lineEnd()
	case r.want == "indent":
		if r.at < len(r.tokens) {
			r.point(r.at)
		}
		number, _ := r.line(r.tokens[max(0, r.before(r.at))].Start)
		return r.mixed() || r.advise(fmt.Sprintf("the body of line %d is missing: indent it by four spaces, or write pass", number))
	case r.got == "indent":
		return r.mixed() || r.advise("the line is indented deeper than the one before it")
	case strings.HasPrefix(r.msg, "unindent does not match"):
		return r.mixed() || r.advise("indent it like the lines of its block")
	}
	return false
}

// lineEnd explains a statement that ends too early, and moves the error to its end.
func (r *report) lineEnd() bool {
	last := r.before(r.at)
	if last < 0 {
		return false
	}
	r.offset = r.tokens[last].End
	switch {
	case r.want == "':'" && r.hasAssignment(last):
		return r.advise("write == to compare")
	case r.want == "':'":
		r.msg = "a ':' is missing at the end of the line"
		return true
	case (r.textOf(last) == "+" || r.textOf(last) == "-") && r.textOf(last-1) == r.textOf(last):
		r.offset = r.tokens[last-1].Start
		return r.advise("write x " + r.textOf(last) + "= 1")
	case r.textOf(last) == ":":
		return r.advise("a lambda is one expression on its line: write def")
	case r.isKind(last, token.Op) || slices.Contains([]string{"and", "or", "not", "in"}, r.textOf(last)):
		return r.advise("an expression continues on the next line only inside brackets")
	}
	return false
}

// hasAssignment reports whether the statement up to a token has a single =.
func (r *report) hasAssignment(last int) bool {
	for i := r.head; i <= last; i++ {
		if r.textOf(i) == "=" {
			return true
		}
	}
	return false
}

// mixed explains that some lines are indented by tabs and others by spaces.
func (r *report) mixed() bool {
	var tabs, spaces bool
	for i := r.at; i >= 0; i-- {
		if i < len(r.tokens) && !r.isKind(i, token.Newline) && r.startsLine(i) {
			_, indent := r.line(r.tokens[i].Start)
			tabs = tabs || strings.Contains(indent, "\t")
			spaces = spaces || strings.Contains(indent, " ")
			if indent == "" && i < r.at {
				break
			}
		}
	}
	return tabs && spaces && r.advise("tabs and spaces are mixed: a tab goes to the next multiple of 8 columns; indent by spaces")
}
