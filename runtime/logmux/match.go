package logmux

import (
	"bytes"
	"regexp"
	"regexp/syntax"
)

// matcher finds the lines that a pattern matches. Most patterns hold some
// literal text; lines without it are passed over at the speed of a search.
type matcher struct {
	re      *regexp.Regexp
	literal []byte // every match holds it; empty: not known
	only    bool   // whatever holds it matches
}

func newMatcher(re *regexp.Regexp) *matcher {
	m := &matcher{re: re}
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		tree = tree.Simplify()
		m.literal = []byte(literalOf(tree))
		m.only = tree.Op == syntax.OpLiteral && len(m.literal) > 0
	}
	return m
}

// literalOf returns the longest text that every match of the pattern holds.
func literalOf(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		// U+FFFD also matches bytes that are not UTF-8.
		if re.Flags&syntax.FoldCase != 0 || bytes.ContainsAny([]byte(text), "\n\r\uFFFD") {
			return ""
		}
		return text
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalOf(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if text := literalOf(sub); len(text) > len(best) {
				best = text
			}
		}
		return best
	}
	return ""
}

// runs calls show with each run of neighbouring lines that match.
func (m *matcher) runs(data []byte, show func([]byte)) {
	from, to := 0, 0 // the run so far
	for at := 0; at < len(data); {
		if len(m.literal) > 0 {
			hit := bytes.Index(data[at:], m.literal)
			if hit < 0 {
				break
			}
			at += bytes.LastIndexByte(data[at:at+hit], '\n') + 1
		}
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		if end == at {
			end = len(data)
		}
		if m.line(data[at:end]) {
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

// line tells whether a line, its end included, matches.
func (m *matcher) line(p []byte) bool {
	if m.only {
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
