// Package explain moves the parser's errors to the mistake and adds how to fix it.
//
// The parser reports the token at which it failed, often after the mistake or on
// another line. Syntax splits the text into tokens, finds that token and tries a list
// of rules, the most certain first: characters.go (characters that are not valid),
// brackets.go (brackets that are never closed), layout.go (line ends and indentation),
// syntax.go (words and operators of Python and other languages).
package explain

import (
	"slices"
	"strings"

	"torchx/starlark/token"
)

// Syntax returns a better offset and message for an error that the parser reported at offset.
func Syntax(text string, offset int, msg string) (at int, better string) {
	r := newReport(text, offset, msg)
	if r == nil {
		return offset, msg
	}
	for _, rule := range []func(*report) bool{
		(*report).characters, (*report).strings, (*report).brackets, (*report).layout, (*report).word, (*report).operator, (*report).missing,
	} {
		if rule(r) {
			break
		}
	}
	return r.offset, r.msg
}

// report is an error and the tokens around it.
type report struct {
	text   string
	offset int
	msg    string
	got    string // "':'", "newline", "identifier"; "" if the message does not say
	want   string
	tokens []token.Token // without comments
	at     int           // the index of the unexpected token, may be len(tokens)
	open   []int         // the open brackets before it
	head   int           // the first token of its statement
}

func newReport(text string, offset int, msg string) *report {
	r := &report{text: text, offset: offset, msg: msg}
	r.tokens = slices.DeleteFunc(token.Scan(text, 0), func(t token.Token) bool { return t.Kind == token.Comment })
	if rest, ok := strings.CutPrefix(msg, "got "); ok {
		r.got, r.want, _ = strings.Cut(rest, ", want ")
	}
	if len(r.tokens) == 0 {
		return nil
	}
	r.at = r.find()
	for i, t := range r.tokens[:r.at] {
		switch t.Nesting {
		case 1:
			r.open = append(r.open, i)
		case -1:
			r.open = r.open[:max(0, len(r.open)-1)]
		}
		if t.Kind == token.Newline && len(r.open) == 0 {
			r.head = i + 1
		}
	}
	for r.head < r.at && r.isKind(r.head, token.Newline) {
		r.head++
	}
	if r.at < len(r.tokens) && !r.isLayout() && r.got != "" {
		r.offset = r.tokens[r.at].Start
	}
	return r
}

// isLayout reports whether the error is about line ends or indentation, which are not tokens here.
func (r *report) isLayout() bool {
	return slices.Contains([]string{"newline", "indent", "outdent", "end of file"}, r.got)
}

// find returns the token that the parser complains about. Some messages have its start, most its
// end.
func (r *report) find() int {
	if r.isLayout() || r.want == "primary expression" {
		i := slices.IndexFunc(r.tokens, func(t token.Token) bool { return t.Start >= r.offset && t.Kind != token.Newline })
		if i < 0 {
			return len(r.tokens)
		}
		return i
	}
	i := slices.IndexFunc(r.tokens, func(t token.Token) bool { return t.End >= r.offset && t.Kind != token.Newline })
	if i < 0 {
		return len(r.tokens)
	}
	// The offset is between two tokens: only the message tells them apart.
	if next := i + 1; next < len(r.tokens) && r.tokens[i].End == r.offset &&
		r.tokens[next].Start == r.offset && r.isGot(next) && !r.isGot(i) {
		return next
	}
	return i
}

// isGot reports whether the message can refer to the i-th token.
func (r *report) isGot(i int) bool {
	switch r.got {
	case "identifier":
		return r.isKind(i, token.Name)
	case "string literal", "bytes literal":
		return r.isKind(i, token.String)
	case "int literal", "float literal":
		return r.isKind(i, token.Number)
	}
	return strings.Trim(r.got, "'") == r.textOf(i)
}

// advise adds advice to the parser's message.
func (r *report) advise(advice string) bool {
	r.msg += " (" + advice + ")"
	return true
}

// point moves the error to the start of the i-th token, or to the end of the text.
func (r *report) point(i int) {
	r.offset = len(r.text)
	if i < len(r.tokens) {
		r.offset = r.tokens[i].Start
	}
}

// textOf returns the text of the i-th token, "" outside the text.
func (r *report) textOf(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.text[r.tokens[i].Start:r.tokens[i].End]
}

func (r *report) isKind(i int, kind token.Kind) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].Kind == kind
}

func (r *report) nesting(i int) int {
	if i < 0 || i >= len(r.tokens) {
		return 0
	}
	return r.tokens[i].Nesting
}

// before returns the last token before the i-th that is not a line end, -1 for none.
func (r *report) before(i int) int {
	for i--; r.isKind(i, token.Newline); i-- {
	}
	return i
}

// touches reports whether the i-th token directly follows the one before it.
func (r *report) touches(i int) bool {
	return i > 0 && i < len(r.tokens) && r.tokens[i-1].End == r.tokens[i].Start &&
		!r.isKind(i-1, token.Newline)
}

// startsLine reports whether the i-th token is the first of its line.
func (r *report) startsLine(i int) bool { return i == 0 || r.isKind(i-1, token.Newline) }

// line returns the number of the line of an offset, from 1, and its indentation.
func (r *report) line(offset int) (number int, indent string) {
	offset = min(offset, len(r.text))
	start := strings.LastIndexByte(r.text[:offset], '\n') + 1
	rest := r.text[start:]
	return strings.Count(r.text[:start], "\n") + 1, rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
}
