package explain

import (
	"fmt"
	"slices"
	"strings"

	"torchx/starlark/token"
)

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
