package logview

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Matcher finds the lines that a pattern matches. Most patterns contain literal text; lines
// without it are skipped at the speed of a search.
type Matcher struct {
	re      *regexp.Regexp
	literal literal // contained in every match; empty: not known
	isWhole bool    // the pattern is only the literal
	lower   []byte
}

// literal is a text in a pattern; in lower case if fold is set, which ignores case.
type literal struct {
	text string
	fold bool
}

// NewMatcher returns a matcher of a pattern; it is not safe for concurrent use.
func NewMatcher(re *regexp.Regexp) *Matcher {
	m := &Matcher{re: re}
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		tree = tree.Simplify()
		m.literal = literalOf(tree)
		m.isWhole = tree.Op == syntax.OpLiteral && m.literal.text == string(tree.Rune)
	}
	return m
}

// literalOf returns the longest text that every match of the pattern contains.
func literalOf(re *syntax.Regexp) literal {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return literal{foldedText(re.Rune), true}
		}
		// U+FFFD also matches bytes that are not UTF-8.
		if text := string(re.Rune); !strings.ContainsAny(text, "\n\r\uFFFD") {
			return literal{text, false}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best literal
		for _, sub := range re.Sub {
			if l := literalOf(sub); len(l.text) > len(best.text) {
				best = l
			}
		}
		return best
	}
	return literal{}
}

// foldedText returns, in lower case, the longest piece of a text of which only ASCII letters
// have other cases. K and S end a piece: the Kelvin sign and the long s fold to them.
func foldedText(text []rune) string {
	var best string
	for piece := range strings.FieldsFuncSeq(string(text), func(r rune) bool {
		return r < ' ' || r > '~' || strings.ContainsRune("kKsS", r)
	}) {
		if len(piece) > len(best) {
			best = piece
		}
	}
	return strings.ToLower(best)
}

// Runs calls show with each run of adjacent lines of data that match.
func (m *Matcher) Runs(data []byte, show func([]byte)) {
	from, to := 0, 0 // the run so far
	text := []byte(m.literal.text)
	in := data
	if m.literal.fold && len(text) > 0 {
		in = m.lowered(data)
	}
	for at := 0; at < len(data); {
		if len(text) > 0 {
			hit := bytes.Index(in[at:], text)
			if hit < 0 {
				break
			}
			at += bytes.LastIndexByte(data[at:at+hit], '\n') + 1
		}
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		if end == at {
			end = len(data)
		}
		if m.matchLine(data[at:end]) {
			if at != to {
				if from < to {
					show(data[from:to])
				}
				from = at
			}
			to = end
		}
		at = end
	}
	if from < to {
		show(data[from:to])
	}
}

// lowered returns data with ASCII letters in lower case; valid until the next call.
func (m *Matcher) lowered(data []byte) []byte {
	m.lower = slices.Grow(m.lower[:0], len(data))[:len(data)]
	for i, c := range data {
		if c-'A' < 26 { // as unsigned numbers: only A to Z
			c |= 'a' - 'A'
		}
		m.lower[i] = c
	}
	return m.lower
}

// matchLine reports whether a line, given with its end, matches.
func (m *Matcher) matchLine(p []byte) bool {
	if m.isWhole {
		return true
	}
	if n := len(p); p[n-1] == '\n' {
		p = p[:n-1]
		if n > 1 && p[n-2] == '\r' {
			p = p[:n-2]
		}
	}
	return m.re.Match(p)
}
