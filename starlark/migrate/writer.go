package migrate

import (
	"slices"
	"strings"
)

// writer writes the lines of a block.
type writer struct {
	lines  []string
	indent int
}

// line writes a line, or a statement of several lines, which the formatter indents.
func (w *writer) line(s string) {
	if s != "" {
		s = strings.Repeat(" ", w.indent) + s
	}
	w.lines = append(w.lines, s)
}

// block ports statements one level deeper. An empty block gets a pass.
func (p *porter) block(w *writer, list []*node) {
	w.indent += 4
	before := len(w.lines)
	for i, s := range list {
		if i > 0 && p.isBlank(list[i-1].End, s) {
			w.line("")
		}
		p.leading(w, s.Line)
		start := len(w.lines)
		p.stmt(w, s)
		p.trailing(w, s, start)
	}
	if !slices.ContainsFunc(w.lines[before:], func(l string) bool {
		t := strings.TrimSpace(l)
		return t != "" && !strings.HasPrefix(t, "#")
	}) {
		w.line("pass")
	}
	w.indent -= 4
}

// isBlank reports whether there is an empty line between two statements.
func (p *porter) isBlank(end int, next *node) bool {
	comments := 0
	for _, c := range p.comments {
		if c.Alone && c.Line > end && c.Line < next.Line {
			comments++
		}
	}
	return next.Line-end-1 > comments
}

// commentsUpTo removes and returns the comments up to a line.
func (p *porter) commentsUpTo(line int) []comment {
	n := 0
	for n < len(p.comments) && p.comments[n].Line <= line {
		n++
	}
	taken := p.comments[:n]
	p.comments = p.comments[n:]
	return taken
}

// leading writes the comments before a line.
func (p *porter) leading(w *writer, line int) {
	for _, c := range p.commentsUpTo(line - 1) {
		w.line(c.Text)
	}
}

// trailing writes the comments in and after a statement, which starts at line start of w: a comment
// at the end of a one-line statement stays there, others move before the statement.
func (p *porter) trailing(w *writer, s *node, start int) {
	for _, c := range p.commentsUpTo(s.End) {
		if s.Line == s.End && !c.Alone && len(w.lines) > start {
			w.lines[len(w.lines)-1] += "  " + c.Text
			continue
		}
		w.lines = slices.Insert(w.lines, start, strings.Repeat(" ", w.indent)+c.Text)
		start++
	}
}
