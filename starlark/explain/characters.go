package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"torchx/starlark/token"
)

// characters explains characters that are not valid in Starlark.
func (r *report) characters() bool {
	switch {
	case strings.HasPrefix(r.msg, "unexpected input character"):
		c, _ := utf8.DecodeRuneInString(r.text[min(r.offset, len(r.text)):])
		if advice := characterAdvice(c); advice != "" {
			return r.advise(advice)
		}
		return true
	case strings.HasPrefix(r.msg, "stray backslash"):
		return r.advise("a \\ that joins lines must be the last character of its line")
	case strings.HasPrefix(r.msg, "invalid escape sequence"), strings.HasPrefix(r.msg, "truncated escape sequence"):
		return r.advise(`write \\ for a backslash, or r"…" for a string without escapes`)
	}
	return false
}

func characterAdvice(c rune) string {
	switch c {
	case '“', '”', '„', '‟', '«', '»', '″':
		return `a typographic quote: write "`
	case '‘', '’', '‚', '‛', '′':
		return "a typographic quote: write '"
	case '\u00a0', '\u2007', '\u202f', '\u2003', '\u2002', '\u2009', '\u3000':
		return "a special space: write a plain one"
	case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
		return fmt.Sprintf("an invisible character, U+%04X: delete it", c)
	case '–', '—', '−', '‐', '‑':
		return "a typographic dash: write -"
	case '…':
		return "write pass, or three dots in a string"
	case '!':
		return "write not"
	case '?':
		return "write A if CONDITION else B"
	case '@':
		return "Starlark has no decorators and no @ operator"
	case '$':
		return "names cannot contain $: write it in a string"
	case '`':
		return `write strings in " or '`
	}
	if c >= '！' && c <= '～' { // the full-width forms of ASCII, in its order
		return fmt.Sprintf("a full-width character: write %c", c-'！'+'!')
	}
	return ""
}

// strings explains strings with an unknown prefix, such as f-strings, and unexpected ends of strings.
func (r *report) strings() bool {
	switch {
	case strings.HasPrefix(r.msg, "unexpected newline in string"):
		return r.advise(`the string is not closed on its line: add the quote, or write """ around it`)
	case strings.HasPrefix(r.msg, "unexpected EOF in string"):
		return r.advise("the string that begins here is never closed")
	case r.isKind(r.at, token.String) && r.isKind(r.at-1, token.Name) && r.touches(r.at):
		return r.prefixed(r.at - 1)
	case r.isKind(r.at, token.Name) && r.isKind(r.at-1, token.String) && r.touches(r.at):
		return r.endedEarly()
	case r.isKind(r.at, token.String) && r.isKind(r.before(r.at), token.String) &&
		(len(r.open) > 0 || r.before(r.at) == r.at-1):
		r.point(r.at)
		return r.advise("strings are joined with +; is a + or a comma missing before this one?")
	}
	return false
}

// prefixed explains the prefix of a string, the i-th token.
func (r *report) prefixed(i int) bool {
	prefix := strings.ToLower(r.textOf(i))
	if len(prefix) > 2 || strings.Trim(prefix, "rbfut") != "" {
		return false
	}
	r.point(i)
	switch {
	case strings.Contains(prefix, "f"):
		return r.advise(`Starlark has no f-strings: write "…{}…".format(…)`)
	case strings.Contains(prefix, "t"):
		return r.advise(`Starlark has no template strings: write "…{}…".format(…)`)
	case strings.Contains(prefix, "u"):
		return r.advise("strings have no prefix u: delete it")
	}
	return r.advise("the prefix of a string is a lower-case r or b: write " + prefix)
}

// endedEarly explains a word directly after a string.
func (r *report) endedEarly() bool {
	start := r.tokens[r.at-1].Start
	if quoted := r.textOf(r.at - 1); strings.Contains(quoted, "\n") {
		number, _ := r.line(start)
		r.offset = start
		return r.advise(fmt.Sprintf("the string that begins in line %d ends right before %q: is its closing quote missing?", number, r.textOf(r.at)))
	}
	return r.advise(`the string before it ends here: write " around a string that contains ', or write \'`)
}
