package starlint

import (
	"strings"

	"github.com/bazelbuild/buildtools/build"
)

// replacement returns a fix that writes e in place of a node, nil if that would lose a comment.
func (l *linter) replacement(title string, node, e build.Expr) *Fix {
	from, to := node.Span()
	start, end := l.inTree(from), l.inTree(to)
	text := l.print(e, start)
	if strings.Count(text, "#") != strings.Count(l.Text[start:end], "#") {
		return nil
	}
	return &Fix{title, []Edit{{l.at(start), l.at(end), text}}}
}

// print formats an expression that begins at an offset of the file.
func (l *linter) print(e build.Expr, offset int) string {
	*e.Comment() = build.Comments{} // comments are outside of the replaced text
	file := &build.File{Type: build.TypeDefault, Stmt: []build.Expr{e}}
	text := strings.TrimSuffix(string(build.FormatWithoutRewriting(file)), "\n")
	line := l.Text[l.Start(l.at(offset).Line-1):offset]
	margin := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return strings.ReplaceAll(text, "\n", "\n"+margin)
}

// removal deletes a statement, with its lines if they contain nothing else.
func (l *linter) removal(start, end int) Edit {
	from, to := start, end
	for from > 0 && (l.Text[from-1] == ' ' || l.Text[from-1] == '\t') {
		from--
	}
	for to < len(l.Text) && strings.ContainsRune(" \t\r", rune(l.Text[to])) {
		to++
	}
	if (from == 0 || l.Text[from-1] == '\n') && (to == len(l.Text) || l.Text[to] == '\n') {
		return Edit{l.at(from), l.at(min(to+1, len(l.Text))), ""}
	}
	return Edit{l.at(start), l.at(end), ""}
}
