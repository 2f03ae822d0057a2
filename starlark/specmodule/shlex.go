package specmodule

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

func shlexQuote(c call) (starlark.Value, error) {
	var s string
	if err := c.unpack("s", &s); err != nil {
		return nil, err
	}
	return quoteAll([]string{s})
}

func shlexJoin(c call) (starlark.Value, error) {
	var v starlark.Value
	if err := c.unpack("split_command", &v); err != nil {
		return nil, err
	}
	words, err := goStrings("split_command", v)
	if err != nil {
		return nil, err
	}
	return quoteAll(words)
}

func quoteAll(words []string) (starlark.Value, error) {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		const growth = 5 // a single quote becomes five characters
		if b.Len()+growth*len(w) > maxText {
			return nil, errTooLong
		}
		b.WriteString(QuoteWord(w))
	}
	return starlark.String(b.String()), nil
}

// QuoteWord quotes s for a POSIX shell if it has special characters, by the rule of Python's
// shlex.quote.
func QuoteWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plainRune(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r < 0x80 && strings.ContainsRune("_@%+=:,./-", r)
}

func shlexSplit(c call) (starlark.Value, error) {
	var s string
	if err := c.unpack("s", &s); err != nil {
		return nil, err
	}
	if len(s) > maxParsed {
		return nil, errTextTooLong
	}
	words, err := SplitWords(s)
	if err != nil {
		return nil, err
	}
	values := make([]starlark.Value, len(words))
	for i, w := range words {
		values[i] = starlark.String(w)
	}
	return starlark.NewList(values), nil
}

// SplitWords splits s like Python's shlex.split: POSIX quoting without comments or expansions.
// Within double quotes, a backslash escapes only itself and the quote.
func SplitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false // also true for an empty quoted word
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			end()
			continue
		case '\\':
			if i++; i == len(s) {
				return nil, fmt.Errorf("no character after the last backslash")
			}
			word.WriteByte(s[i])
		case '\'', '"':
			text, n := quotedText(s[i+1:], c)
			if n == 0 {
				return nil, fmt.Errorf("no closing quotation mark (%c)", c)
			}
			word.WriteString(text)
			i += n
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	end()
	return words, nil
}

// quotedText returns the text up to the closing quote and its length with the quote; 0 if the quote
// is missing.
func quotedText(s string, quote byte) (text string, length int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == quote {
			return b.String(), i + 1
		}
		if quote == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
			i++
		}
		b.WriteByte(s[i])
	}
	return "", 0
}

func goStrings(at string, v starlark.Value) ([]string, error) {
	list, err := checkStrings(at, v)
	if err != nil {
		return nil, err
	}
	words := make([]string, 0, list.(*starlark.List).Len())
	for item := range list.(*starlark.List).Elements() {
		words = append(words, string(item.(starlark.String)))
	}
	return words, nil
}
