package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"torchx/runtime/pattern"

	"github.com/clipperhouse/displaywidth"
)

// Clean escapes what could control a terminal in text from outside: control characters,
// direction overrides and invalid UTF-8. With lines, newlines are kept.
func Clean(s string, lines bool) string {
	if !strings.ContainsFunc(s, needsEscape) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n' && lines, !needsEscape(r):
			b.WriteString(s[i : i+n])
		default:
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
		}
		i += n
	}
	return b.String()
}

// CleanStyled is Clean for several lines that keeps the colors of help.
func CleanStyled(s string) string {
	var b strings.Builder
	for {
		at := colors().FindStringIndex(s)
		if at == nil {
			return b.String() + Clean(s, true)
		}
		b.WriteString(Clean(s[:at[0]], true) + s[at[0]:at[1]])
		s = s[at[1]:]
	}
}

// colors matches the sequences that switch emphasis on and off.
var colors = pattern.Lazy(`\x1b\[(?:0|1|32)m`)

// needsEscape reports whether a terminal acts on a character instead of displaying it.
func needsEscape(r rune) bool {
	return r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029'
}

// OneLine is Clean for a single line.
func OneLine(s string) string { return Clean(strings.TrimRight(s, "\n"), false) }

// QuoteWord quotes a word in a message if it is empty or has spaces or quotes.
func QuoteWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t'") {
		return "'" + s + "'"
	}
	return s
}

// Keys returns the keys of a map in order.
func Keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TextWidth returns the number of columns of a line on a terminal: CJK characters and emoji
// take two, combining characters none.
func TextWidth(line string) int { return displaywidth.String(line) }

// CutText shortens a line to at most width columns; tail marks a cut.
func CutText(line string, width int, tail string) string {
	return displaywidth.TruncateString(line, width, tail)
}

// WrapText breaks text at spaces so that no line is wider than width, unless a word is. It
// keeps newlines and the spaces within a line.
func WrapText(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

func wrapLine(line string, width int) []string {
	var out []string
	words := strings.Split(strings.TrimRight(line, " "), " ")
	current := words[0]
	for _, word := range words[1:] {
		if TextWidth(current)+1+TextWidth(word) <= width {
			current += " " + word
			continue
		}
		out = append(out, strings.TrimRight(current, " "))
		current = word
	}
	return append(out, current)
}

// Bounds of a text that FoldText leaves alone, and of what it shows of others.
const (
	maxUnfolded = 200 // columns
	foldedHead  = 40
)

// FoldText returns a text, quoted where QuoteWord does; of a long one or one with several
// lines, the beginning and how long it is: 'set -e…' (180 lines, 5.2 KiB).
func FoldText(text string) string {
	head, _, several := strings.Cut(text, "\n")
	if !several && TextWidth(text) <= maxUnfolded {
		return QuoteWord(text)
	}
	size := BytesText(int64(len(text)))
	if lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; lines > 1 {
		size = Counted(lines, "line") + ", " + size
	}
	return fmt.Sprintf("%s (%s)", QuoteWord(strings.TrimRight(CutText(head, foldedHead-1, ""), " ")+"…"), size)
}

// Counted returns a number with its noun: "1 file", "2 files", "3 libraries".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if base, ok := strings.CutSuffix(noun, "y"); ok {
		return strconv.Itoa(n) + " " + base + "ies"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
