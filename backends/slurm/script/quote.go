package script

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// quote returns text as one word of bash.
func quote(text string) string {
	plain := utf8.ValidString(text)
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] != 0x7f || text[i] == '\n' || text[i] == '\t'
	}
	if plain {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch c := text[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case r == utf8.RuneError && size == 1, c < ' ', c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
			// A hex digit after it would not belong to it: bash reads at most two.
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String() + "'"
}

// quoteDirective returns text as the value of an option in a #SBATCH line, where Slurm removes
// quotes and backslashes and a # begins a comment.
func quoteDirective(text string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@+=[]%&|", r)
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// quoteOption returns an option as one word of bash, without quotes if it needs none.
func quoteOption(text string) string {
	if quoteDirective(text) == text && !strings.ContainsAny(text, "[]&|") {
		return text
	}
	return quote(text)
}
