package starlint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bazelbuild/buildtools/build"

	"torchx/runtime/pattern"
)

// lineRange is a range of lines, from 1.
type lineRange struct{ from, to int }

// directive matches a comment that turns off rules, in our syntax or buildifier's.
var directive = pattern.Lazy(`(?:lint|buildifier|buildozer): *disable=([\w-]+(?:, *[\w-]+)*)`)

// disabledRanges finds the comments that turn off rules for the code below or before them, like
// buildifier. The ranges of a rule are sorted and do not overlap.
func disabledRanges(tree *build.File) map[string][]lineRange {
	off := map[string][]lineRange{}
	build.Walk(tree, func(e build.Expr, _ []build.Expr) {
		if e == nil {
			return
		}
		for _, rule := range disabledBy(comments(e)) {
			off[rule] = append(off[rule], linesOf(e))
		}
	})
	for rule, ranges := range off {
		off[rule] = merged(ranges)
	}
	return off
}

// disabledBy lists the rules that comments turn off.
func disabledBy(list []build.Comment) (rules []string) {
	for _, comment := range list {
		for _, m := range directive().FindAllStringSubmatch(comment.Token, -1) {
			for rule := range strings.SplitSeq(m[1], ",") {
				rules = append(rules, strings.TrimSpace(rule))
			}
		}
	}
	return rules
}

// comments lists the comments before, after and at the end of the line of a node.
func comments(e build.Expr) []build.Comment {
	c := e.Comment()
	return slices.Concat(c.Before, c.Suffix, c.After)
}

// buildifierName returns the name of a rule in buildifier, usually the same.
func buildifierName(rule string) string {
	switch rule {
	case ruleHeader:
		return "function-docstring-header"
	case ruleUnusedLoad:
		return "load"
	}
	return rule
}

// merged sorts ranges and merges overlapping ones.
func merged(ranges []lineRange) []lineRange {
	slices.SortFunc(ranges, func(a, b lineRange) int { return cmp.Compare(a.from, b.from) })
	out := ranges[:1]
	for _, r := range ranges[1:] {
		if last := &out[len(out)-1]; r.from <= last.to {
			last.to = max(last.to, r.to)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// linesOf returns the lines of a node, including its comments.
func linesOf(e build.Expr) lineRange {
	start, end := e.Span()
	c := e.Comment()
	if len(c.Before) > 0 {
		start, _ = c.Before[0].Span()
	}
	if n := len(c.After); n > 0 {
		_, end = c.After[n-1].Span()
	}
	return lineRange{start.Line, end.Line}
}

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
