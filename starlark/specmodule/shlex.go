package specmodule

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// shlexQuote is shlex.quote(s).
func shlexQuote(c call) (starlark.Value, error) {
	var s string
	if err := c.unpack("s", &s); err != nil {
		return nil, err
	}
	return quoteAll([]string{s})
}

// shlexJoin is shlex.join(split_command).
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
		b.WriteString(quoteWord(w))
	}
	return starlark.String(b.String()), nil
}

// quoteWord quotes s for a POSIX shell if a character is special, by the rule of Python's
// shlex.quote.
func quoteWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plainRune(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r < 0x80 && strings.ContainsRune("_@%+=:,./-", r)
}

// shlexSplit is shlex.split(s).
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

// wordSplitter is the state of SplitWords.
type wordSplitter struct {
	words  []string
	word   strings.Builder
	inWord bool // also true for an empty quoted word
}

func (w *wordSplitter) add(c byte) {
	w.word.WriteByte(c)
	w.inWord = true
}

func (w *wordSplitter) end() {
	if w.inWord {
		w.words = append(w.words, w.word.String())
	}
	w.word.Reset()
	w.inWord = false
}

// SplitWords splits s as Python's shlex.split does: POSIX quoting without comments or expansions.
// Within double quotes a backslash escapes only itself and the quote.
func SplitWords(s string) ([]string, error) {
	var w wordSplitter
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			w.end()
		case '\\':
			if i++; i == len(s) {
				return nil, fmt.Errorf("no character after the last backslash")
			}
			w.add(s[i])
		case '\'', '"':
			n, err := w.quoted(s[i+1:], c)
			if err != nil {
				return nil, err
			}
			i += n
		default:
			w.add(c)
		}
	}
	w.end()
	return w.words, nil
}

// quoted adds the text up to the closing quote and returns its length with that.
func (w *wordSplitter) quoted(s string, quote byte) (int, error) {
	w.inWord = true
	for i := 0; i < len(s); i++ {
		if s[i] == quote {
			return i + 1, nil
		}
		if quote == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
			i++
		}
		w.word.WriteByte(s[i])
	}
	return 0, fmt.Errorf("no closing quotation mark (%c)", quote)
}

// goStrings unpacks a list or tuple of strings.
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
