package starlint

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/bazelbuild/buildtools/build"
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"torchx/starlark/explain"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
	"torchx/starlark/starfiles"
)

// byteOrderMark may begin a file. It counts in offsets, but not in lines and columns.
const byteOrderMark = "\uFEFF"

// linter lints one file.
type linter struct {
	name         string
	interp.Lines     // of the text without a byte order mark
	mark         int // bytes of the byte order mark
	file         *syntax.File
	tree         *build.File
	spaced       interp.Lines           // the text that positions of the tree refer to
	off          map[string][]lineRange // by rule
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
	tree, spaced, err := starfiles.Parse(l.name, l.Text)
	if err == nil {
		l.tree, l.spaced = tree, interp.NewLines(spaced)
		l.off = disabledRanges(l.tree)
		l.suspicious()
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
	if at, ok := errors.AsType[*interp.Error](err); ok {
		f.Message = at.Msg
		if at.Line > 0 {
			f.Start = l.position(at.Line, at.Col)
			f.End = l.wordEnd(f.Start)
		}
	}
	l.add(f)
}

// resolve reports undefined names and names that are defined twice.
func (l *linter) resolve() {
	var problems resolve.ErrorList
	known := func(name string) bool { return name == "__file__" || predeclared(name) }
	if err := interp.ResolveNames(l.file, len(l.Text), known); !errors.As(err, &problems) {
		return
	}
	for _, p := range problems {
		start := l.position(int(p.Pos.Line), int(p.Pos.Col))
		l.add(Finding{Rule: ruleNames, Severity: Error, Message: explain.Name(p.Msg), Start: start, End: l.wordEnd(start)})
	}
}

// predeclared reports whether every component file sees the name.
func predeclared(name string) bool { return slices.Contains(specmodule.Names(), name) }

// add adds a finding, unless a comment turns off its rule there.
func (l *linter) add(f Finding) {
	for _, rule := range []string{f.Rule, buildifierName(f.Rule)} {
		ranges := l.off[rule]
		i := sort.Search(len(ranges), func(i int) bool { return ranges[i].to >= f.Start.Line })
		if i < len(ranges) && ranges[i].from <= f.Start.Line {
			return
		}
	}
	f.File = l.name
	l.findings = append(l.findings, f)
}

// at returns the position of an offset; offsets after the end of the text mean the end.
func (l *linter) at(offset int) Position {
	line, col := l.LineCol(offset)
	start := l.Start(line)
	return Position{line + 1, l.Chars(start+col) - l.Chars(start) + 1, start + col + l.mark}
}

// inTree returns the offset of a position in the tree, which counts leading tabs as spaces.
func (l *linter) inTree(p build.Position) int {
	line, col := l.spaced.LineCol(p.Byte)
	return l.Start(line) + max(0, col-len(l.spaced.Line(line))+len(l.Line(line)))
}

// position returns the position of a line and a column, both from 1, in characters.
func (l *linter) position(line, col int) Position { return l.at(l.Offset(line, col)) }

// span returns the start and end of a node.
func (l *linter) span(n syntax.Node) (start, end Position) {
	from, to := n.Span()
	return l.position(int(from.Line), int(from.Col)), l.position(int(to.Line), int(to.Col))
}

// wordEnd returns the end of the word at a position; a word has at least one character.
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
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' &&
		r <= 'Z' || r >= utf8.RuneSelf
}
