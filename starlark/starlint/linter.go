package starlint

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bazelbuild/buildtools/build"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/lazyregexp"
	"torchx/starlark/explain"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
	"torchx/starlark/starfiles"
	"torchx/starlark/starfmt"
)

// byteOrderMark may begin a file; no position counts it but offsets.
const byteOrderMark = "\uFEFF"

// linter is one file that is linted.
type linter struct {
	name         string
	interp.Lines     // of the text without a byte order mark
	mark         int // bytes of the byte order mark
	file         *syntax.File
	tree         *build.File
	spaced       interp.Lines // the text that the tree's positions are about
	off          []disabledRange
	findings     []Finding
}

func newLinter(name string, src []byte) *linter {
	text := bytes.TrimPrefix(src, []byte(byteOrderMark))
	return &linter{name: name, Lines: interp.NewLines(string(text)), mark: len(src) - len(text)}
}

func (l *linter) run() {
	file, err := interp.Parse(l.name, []byte(l.Text))
	if err != nil {
		l.addSyntaxError(err)
		return
	}
	l.file = file
	tree, spaced, err := starfmt.Parse(l.name, l.Text)
	if err == nil {
		l.tree, l.spaced = tree, interp.NewLines(spaced)
		l.off = disabledRanges(l.tree)
		l.bazel()
	}
	l.resolve()
	if !starfiles.IsTest(l.name) {
		l.components()
		l.roles()
		l.macros()
	}
}

func (l *linter) addSyntaxError(err error) {
	f := Finding{Rule: ruleSyntax, Severity: Error, Message: err.Error(), Start: l.at(0), End: l.at(0)}
	var at *interp.Error
	if errors.As(err, &at) {
		f.Message = at.Msg
		if at.Line > 0 {
			f.Start = l.position(at.Line, at.Col)
			f.End = l.wordEnd(f.Start)
		}
	}
	l.add(f)
}

// resolve reports names that are not defined, or that are defined twice.
func (l *linter) resolve() {
	var problems resolve.ErrorList
	checkDescribed := func(name string) bool { return name == "__file__" || predeclared(name) }
	if err := resolve.File(l.file, checkDescribed, starlark.Universe.Has); !errors.As(err, &problems) {
		return
	}
	for _, p := range problems {
		start := l.position(int(p.Pos.Line), int(p.Pos.Col))
		l.add(Finding{Rule: ruleNames, Severity: Error, Message: explain.Name(p.Msg), Start: start, End: l.wordEnd(start)})
	}
}

// predeclared holds for the names that every component file sees.
func predeclared(name string) bool { return slices.Contains(specmodule.Names(), name) }

// add takes a finding in unless a comment turns its rule off there.
func (l *linter) add(f Finding) {
	for _, d := range l.off {
		if d.from <= f.Start.Line && f.Start.Line <= d.to && (d.rules[f.Rule] || d.rules[category(f.Rule)]) {
			return
		}
	}
	f.File = l.name
	l.findings = append(l.findings, f)
}

// at is the position of an offset in the text; offsets behind its end mean the end.
func (l *linter) at(offset int) Position {
	line, col := l.LineCol(offset)
	start := l.Start(line)
	return Position{line + 1, utf8.RuneCountInString(l.Text[start:start+col]) + 1, start + col + l.mark}
}

// inTree is the offset of a position of the tree, which counts tabs in front of a line as spaces.
func (l *linter) inTree(p build.Position) int {
	line, col := l.spaced.LineCol(p.Byte)
	return l.Start(line) + max(0, col-len(l.spaced.Line(line))+len(l.Line(line)))
}

// position is that of a line and a column, both from 1, in characters.
func (l *linter) position(line, col int) Position { return l.at(l.Offset(line, col)) }

// span is the place of a node of our own tree.
func (l *linter) span(n syntax.Node) (start, end Position) {
	from, to := n.Span()
	return l.position(int(from.Line), int(from.Col)), l.position(int(to.Line), int(to.Col))
}

// wordEnd is where the word at a place ends; there is one character of it at least.
func (l *linter) wordEnd(p Position) Position {
	from := p.Offset - l.mark
	to := from
	for to < len(l.Text) {
		r, n := utf8.DecodeRuneInString(l.Text[to:])
		if r == '\n' || to > from && !isWord(r) {
			break
		}
		to += n
		if !isWord(r) {
			break
		}
	}
	return l.at(to)
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

// disabledRange are lines, from 1, in which rules are turned off.
type disabledRange struct {
	from, to int
	rules    map[string]bool
}

// directive matches a comment that turns rules off, in our words or buildifier's.
var directive = lazyregexp.New(`(?:lint|buildifier|buildozer): *disable=([\w-]+(?:, *[\w-]+)*)`)

// disabledRanges finds the comments that turn rules off for what they stand above or behind, as
// buildifier does.
func disabledRanges(tree *build.File) []disabledRange {
	var parts []disabledRange
	build.Walk(tree, func(e build.Expr, _ []build.Expr) {
		if e == nil {
			return
		}
		c := e.Comment()
		rules := map[string]bool{}
		for _, list := range [][]build.Comment{c.Before, c.Suffix, c.After} {
			for _, comment := range list {
				for _, m := range directive().FindAllStringSubmatch(comment.Token, -1) {
					for _, rule := range strings.Split(m[1], ",") {
						rules[strings.TrimSpace(rule)] = true
					}
				}
			}
		}
		if len(rules) > 0 {
			from, to := lineRange(e)
			parts = append(parts, disabledRange{from, to, rules})
		}
	})
	return parts
}

// lineRange is the lines of a node with its comments.
func lineRange(e build.Expr) (from, to int) {
	start, end := e.Span()
	c := e.Comment()
	if len(c.Before) > 0 {
		start, _ = c.Before[0].Span()
	}
	if n := len(c.After); n > 0 {
		_, end = c.After[n-1].Span()
	}
	return start.Line, end.Line
}
