package migrate

import (
	"strings"
	"unicode/utf8"
)

// lineWidth is the width that calls, lists and dicts are broken at.
const lineWidth = 100

// shortBracket is a width up to which a bracket stays whole behind a long line.
const shortBracket = 40

// doc is Starlark text that may be laid out in one line or in several: plain
// text, parts one after the other, or a bracket with items.
type doc struct {
	text        string
	parts       []*doc
	open, close string // of a bracket
	items       []*doc
	clauses     []*doc // behind the only item of a comprehension
}

func text(s string) *doc { return &doc{text: s} }

// cat puts docs, ported values and texts one after the other.
func cat(parts ...any) *doc { return &doc{parts: docs(parts)} }

func docs(parts []any) []*doc {
	out := make([]*doc, len(parts))
	for i, x := range parts {
		switch x := x.(type) {
		case string:
			out[i] = text(x)
		case value:
			out[i] = x.doc
		case *doc:
			out[i] = x
		}
	}
	return out
}

// separated puts docs one after the other, with a text between.
func separated(list []*doc, by string) *doc {
	d := &doc{}
	for i, x := range list {
		if i > 0 {
			d.parts = append(d.parts, text(by))
		}
		d.parts = append(d.parts, x)
	}
	return d
}

func bracket(open string, items []*doc, closing string) *doc {
	return &doc{open: open, items: items, close: closing}
}

// flat writes the doc in one line.
func (d *doc) flat() string {
	var b strings.Builder
	d.writeFlat(&b)
	return b.String()
}

func (d *doc) writeFlat(b *strings.Builder) {
	b.WriteString(d.text)
	for _, p := range d.parts {
		p.writeFlat(b)
	}
	b.WriteString(d.open)
	for i, item := range d.items {
		if i > 0 {
			b.WriteString(", ")
		}
		item.writeFlat(b)
	}
	for _, c := range d.clauses {
		b.WriteString(" ")
		c.writeFlat(b)
	}
	b.WriteString(d.close)
}

// hugs reports whether d can begin in the line of the bracket that it alone is in.
func (d *doc) hugs() bool {
	if n := len(d.parts); n > 0 {
		return d.parts[n-1].hugs()
	}
	return d.open != "" || strings.Contains(d.text, "\n")
}

// layout writes docs into lines.
type layout struct {
	b      strings.Builder
	column int
}

func (l *layout) write(s string) {
	l.b.WriteString(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		l.column, s = 0, s[i+1:]
	}
	l.column += utf8.RuneCountInString(s)
}

// doc writes d; lines that it begins are indented, and rest columns are needed
// behind it.
func (l *layout) doc(d *doc, indent, rest int) {
	line := d.flat()
	if !strings.Contains(line, "\n") && l.column+utf8.RuneCountInString(line)+rest <= lineWidth {
		l.write(line)
		return
	}
	l.write(d.text)
	if d.text != "" && d.open == "" {
		return
	}
	for i, p := range d.parts {
		after := 0
		if i == len(d.parts)-1 {
			after = rest
		}
		l.doc(p, indent, after)
	}
	if d.open == "" {
		return
	}
	if len(d.items) == 0 || l.column > lineWidth && len(line) < shortBracket {
		l.write(line) // behind a long text, a break does not make the line shorter
		return
	}
	if len(d.items) == 1 && len(d.clauses) == 0 && d.items[0].hugs() {
		l.write(d.open) // f([ … ]) and f("""…""") stay together
		l.doc(d.items[0], indent, rest+1)
		l.write(d.close)
		return
	}
	l.write(d.open)
	inner := "\n" + strings.Repeat(" ", indent+4)
	for _, item := range d.items {
		l.write(inner)
		l.doc(item, indent+4, 1)
		if len(d.clauses) == 0 {
			l.write(",")
		}
	}
	for _, c := range d.clauses {
		l.write(inner)
		l.doc(c, indent+4, 0)
	}
	l.write("\n" + strings.Repeat(" ", indent) + d.close)
}
