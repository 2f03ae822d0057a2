package interp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// An excerpt is a source line and a column to point at. It is stored in the error, so that Detail
// needs no Interp.
type excerpt struct {
	line  string
	caret int // index of the character to point at; -1: nothing to show
}

// topLevel is the engine's function name for code outside functions.
const topLevel = "<toplevel>"

// from returns the line from the caret on.
func (x excerpt) from() string {
	if runes := []rune(x.line); x.caret >= 0 && x.caret < len(runes) {
		return string(runes[x.caret:])
	}
	return ""
}

const (
	maxFrames  = 20  // frames that Detail shows
	maxExcerpt = 120 // characters of a source line that Detail shows
	maxLines   = 100 // lines of a message that Detail shows
)

// Detail returns the lines that explain an error: a message of several lines, then the backtrace,
// innermost call first, with source lines and carets. It returns "" if there is nothing to add.
func (e *Error) Detail() string {
	var b strings.Builder
	if msg := strings.TrimRight(e.Msg, "\n"); strings.Contains(msg, "\n") {
		writeLines(&b, msg)
	}
	for n, f := range e.frames {
		if n == maxFrames {
			fmt.Fprintf(&b, "  … %d more calls\n", len(e.frames)-n)
			break
		}
		what := "in " + f.Name
		if f.Name == topLevel {
			what = "at the top level"
		}
		f.write(&b, what)
	}
	for _, f := range e.further {
		f.write(&b, f.Name)
	}
	return b.String()
}

// writeLines writes the first lines of a message.
func writeLines(b *strings.Builder, msg string) {
	for range maxLines {
		line, rest, more := strings.Cut(msg, "\n")
		b.WriteString("  " + oneLine(line) + "\n")
		if !more {
			return
		}
		msg = rest
	}
	fmt.Fprintf(b, "  … %d more lines\n", strings.Count(msg, "\n")+1)
}

func (f frame) write(b *strings.Builder, what string) {
	if f.Name == "" {
		what = ""
	} else {
		what = ": " + oneLine(what)
	}
	fmt.Fprintf(b, "  %s%s\n", oneLine(f.Pos.String()), what)
	if f.excerpt.caret < 0 {
		return
	}
	fmt.Fprintf(b, "    %s\n    %s^\n", f.excerpt.line, strings.Repeat(" ", f.excerpt.caret))
}

// excerptAt returns the source line at pos without its indentation.
func (i *Interp) excerptAt(pos syntax.Position) excerpt {
	none := excerpt{caret: -1}
	source := i.source(pos.Filename())
	line, ok := lineOf(string(source), int(pos.Line))
	if !ok || pos.Col < 1 {
		return none
	}
	runes := []rune(strings.Map(func(r rune) rune { // one rune per column
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r):
			return utf8.RuneError
		}
		return r
	}, line))
	caret := min(int(pos.Col)-1, len(runes))
	from := 0
	for from < caret && runes[from] == ' ' {
		from++
	}
	if caret-from > maxExcerpt*2/3 {
		from = caret - maxExcerpt*2/3
	}
	end := min(len(runes), from+maxExcerpt)
	return excerpt{line: strings.TrimRight(string(runes[from:end]), " "), caret: caret - from}
}

// lineOf returns line n, from 1. Lines end with \n, \r\n or \r, as in the parser.
func lineOf(source string, n int) (string, bool) {
	source = strings.TrimPrefix(source, string(byteOrderMark))
	for ; n > 0; n-- {
		end := strings.IndexAny(source, "\r\n")
		if end < 0 {
			return source, n == 1
		}
		if n == 1 {
			return source[:end], true
		}
		if strings.HasPrefix(source[end:], "\r\n") {
			end++
		}
		source = source[end+1:]
	}
	return "", false
}

// maxShow bounds the text of Show, in bytes.
const maxShow = 200

// Show returns a value as Starlark code for a message, shortened to maxShow. Unlike str(), it is
// fast for a value that contains other values many times.
func Show(v starlark.Value) string {
	var b strings.Builder
	show(&b, v)
	if b.Len() > maxShow {
		return strings.ToValidUTF8(b.String()[:maxShow], "") + "…"
	}
	return b.String()
}

func show(b *strings.Builder, v starlark.Value) {
	switch v := v.(type) {
	case starlark.String:
		b.WriteString(v[:min(len(v), maxShow)].String())
	case starlark.Bytes:
		b.WriteString(v[:min(len(v), maxShow)].String())
	case starlark.Int:
		if v.BigInt().BitLen() > 3*maxShow {
			b.WriteString("an int of many digits")
			return
		}
		b.WriteString(v.String())
	case *starlark.List, starlark.Tuple:
		showList(b, v.(starlark.Indexable))
	case *starlark.Dict:
		showDict(b, v)
	case starlark.NoneType, starlark.Bool, starlark.Float, starlark.Callable:
		b.WriteString(v.String())
	default:
		b.WriteString("a " + v.Type())
	}
}

func showList(b *strings.Builder, v starlark.Indexable) {
	brackets := "[]"
	if _, ok := v.(starlark.Tuple); ok {
		brackets = "()"
	}
	b.WriteByte(brackets[0])
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxShow {
			return
		}
		show(b, v.Index(i))
	}
	if brackets == "()" && v.Len() == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(brackets[1])
}

func showDict(b *strings.Builder, v *starlark.Dict) {
	b.WriteByte('{')
	first := true
	for key, value := range v.Entries() {
		if !first {
			b.WriteString(", ")
		}
		if first = false; b.Len() > maxShow {
			return
		}
		show(b, key)
		b.WriteString(": ")
		show(b, value)
	}
	b.WriteByte('}')
}
