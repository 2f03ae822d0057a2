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

func (w *writer) line(s string) {
	if s != "" {
		s = strings.Repeat(" ", w.indent) + s
	}
	w.lines = append(w.lines, s)
}

// statement writes a statement: head, then a doc that may be broken, then tail.
func (w *writer) statement(head string, d *doc, tail string) {
	l := layout{}
	l.write(strings.Repeat(" ", w.indent) + head)
	l.doc(d, w.indent, len(tail))
	l.write(tail)
	w.lines = append(w.lines, strings.Split(l.b.String(), "\n")...)
}

// begin is where the lines of the last statement begin: at the last line that is
// indented as the block is and closes nothing.
func (w *writer) begin() int {
	for i := len(w.lines) - 1; i >= 0; i-- {
		l := w.lines[i]
		body := strings.TrimLeft(l, " ")
		if len(l)-len(body) == w.indent && body != "" && !strings.ContainsAny(body[:1], ")]}") {
			return i
		}
	}
	return len(w.lines)
}

// block ports statements one level further in. An empty block gets a pass.
func (p *porter) block(w *writer, list []node) {
	w.indent += 4
	before := len(w.lines)
	for i, s := range list {
		if i > 0 && p.isBlank(list[i-1].at().End, s) {
			w.line("")
		}
		p.leading(w, s.at().Line)
		p.stmt(w, s)
		p.trailing(w, s)
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
func (p *porter) isBlank(end int, next node) bool {
	comments := 0
	for _, c := range p.comments {
		if c.Alone && c.Line > end && c.Line < next.at().Line {
			comments++
		}
	}
	return next.at().Line-end-1 > comments
}

// commentsUpTo takes the comments up to a line that are for readers.
func (p *porter) commentsUpTo(line int) []comment {
	var out []comment
	for len(p.comments) > 0 && p.comments[0].Line <= line {
		if isForReaders(p.comments[0].Text) {
			out = append(out, p.comments[0])
		}
		p.comments = p.comments[1:]
	}
	return out
}

// leading writes the comments that stand before a line.
func (p *porter) leading(w *writer, line int) {
	for _, c := range p.commentsUpTo(line - 1) {
		w.line(c.Text)
	}
}

// trailing writes the comments within and behind a statement: one behind a
// statement of one line stays there, others come before it.
func (p *porter) trailing(w *writer, s node) {
	var above []string
	for _, c := range p.commentsUpTo(s.at().End) {
		if s.at().Line == s.at().End && !c.Alone && len(w.lines) > 0 {
			w.lines[len(w.lines)-1] += "  " + c.Text
			continue
		}
		above = append(above, strings.Repeat(" ", w.indent)+c.Text)
	}
	if len(above) > 0 {
		w.lines = slices.Insert(w.lines, w.begin(), above...)
	}
}

// isForReaders reports whether a comment is for readers rather than for tools of Python's.
func isForReaders(c string) bool {
	body := strings.TrimLeft(c, "#! ")
	return !slices.ContainsFunc([]string{
		"type:", "noqa", "pyre-", "pylint:", "fmt:", "mypy:", "flake8", "isort:", "ruff:", "-*-", "/usr/bin", "/bin/", "pragma:", "usort:",
		"@lint-ignore", "lint-fixme",
	}, func(tool string) bool { return strings.HasPrefix(body, tool) })
}
