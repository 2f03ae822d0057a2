package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"torchx/runtime/humanize"
)

// Pair is a key with its value.
type Pair struct {
	Key, Value string
	// Quoted means that the whole value was quoted, so it is literal.
	Quoted bool
}

// ParsePairs parses "KEY=VALUE,KEY2=VALUE2", the format in which TorchX users write maps on a
// command line, into pairs in the order of their keys.
//
// The text is split at each "=". The last "," or ";" between two of them separates a value from the
// next key, so values may contain both: FOO=a,b,BAR=c is FOO=`a,b` and BAR=`c`. Text in single or
// double quotes is not split. Quotes around a whole value are removed; a backslash in quotes
// escapes the next character and is kept. An unpaired quote is an ordinary character. The last
// value of a repeated key applies, as in TorchX. Errors are one line with the text and the right
// format.
func ParsePairs(text string) ([]Pair, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	pieces, err := split(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", humanize.Quote(text), err)
	}
	var pairs []Pair
	key := pieces[0].text
	for i, p := range pieces[1:] {
		value, next := p.text, ""
		if i+2 < len(pieces) { // not the last piece
			if value, next, err = p.cut(key, pieces[i+2]); err != nil {
				return nil, fmt.Errorf("cannot read %s: %w", humanize.Quote(text), err)
			}
		}
		pairs = setPair(pairs, NewPair(key, value))
		key = next
	}
	return pairs, nil
}

// setPair sets the value of a key: in its place if it exists, else at the end.
func setPair(pairs []Pair, p Pair) []Pair {
	for i := range pairs {
		if pairs[i].Key == p.Key {
			pairs[i] = p
			return pairs
		}
	}
	return append(pairs, p)
}

// NewPair returns a pair without the quotes of a value that is quoted as a whole.
func NewPair(key, value string) Pair {
	if n := len(value); n >= 2 && closing(value, 0) == n-1 {
		return Pair{Key: key, Value: value[1 : n-1], Quoted: true}
	}
	return Pair{Key: key, Value: value}
}

// piece is the text between two "=", trimmed.
type piece struct {
	text string
	// last is the offset in text of the last "," or ";" outside quotes, or -1.
	last int
}

// cut splits the value of key from the next key. following is the next piece, for the error.
func (p piece) cut(key string, following piece) (value, next string, err error) {
	switch {
	case p.last < 0:
		rest := following.text
		if following.last >= 0 {
			rest = strings.TrimSpace(rest[:following.last])
		}
		return "", "", needsQuotes(key, p.text+"="+rest)
	case p.last == 0:
		return "", "", noValue(key)
	}
	value = strings.TrimSpace(p.text[:p.last])
	next = strings.TrimSpace(p.text[p.last+1:])
	if next == "" {
		return "", "", fmt.Errorf("no key before the \"=\" that follows %s", humanize.Quote(p.text))
	}
	return value, next, nil
}

func noValue(key string) error {
	return fmt.Errorf("%s has no value (for an empty value, write %s)", humanize.Quote(key),
		humanize.Quote(key+"=''"))
}

// needsQuotes returns an error that suggests double quoting, since a shell removes the outer
// quotes.
func needsQuotes(key, value string) error {
	pair := fmt.Sprintf("%s='%s'", key, value)
	if strings.Contains(value, "'") {
		pair = fmt.Sprintf("%s=\"%s\"", key, value)
	}
	if len(pair) > 200 || strings.ContainsFunc(pair, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("the value of %s contains \"=\": quote the value", humanize.Quote(key))
	}
	return fmt.Errorf("a value that contains \"=\" needs quotes that reach torchx: \"%s\"", pair)
}

var errNoPair = errors.New("expected KEY=VALUE pairs such as A=1,B=2")

// split splits text at each "=" outside quotes into the first key, values with the next key, and
// the last value.
func split(text string) ([]piece, error) {
	var pieces []piece
	start, last := 0, -1
	end := func(stop int) {
		s := text[start:stop]
		lead := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
		if last >= 0 {
			last -= start + lead
		}
		pieces = append(pieces, piece{strings.TrimSpace(s), last})
		start, last = stop+1, -1
	}
	protected := quoted(text)
	for i := 0; i < len(text); i++ {
		switch {
		case protected[i]:
		case text[i] == '=':
			end(i)
		case text[i] == ',' || text[i] == ';':
			last = i
		}
	}
	end(len(text))
	return check(pieces)
}

// check rejects a text without a pair, a first key or a last value. It drops the empty pieces of a
// doubled "=": A==1 is A=1, as in TorchX.
func check(pieces []piece) ([]piece, error) {
	n := len(pieces)
	if n < 2 || pieces[0].text == "" {
		return nil, errNoPair
	}
	if pieces[n-1].text == "" {
		before := pieces[n-2]
		if n > 2 && before.last >= 0 {
			return nil, noValue(strings.TrimSpace(before.text[before.last+1:]))
		}
		if n > 2 { // A=x= or A==: the value itself ends in "="
			return nil, needsQuotes(pieces[0].text, strings.TrimPrefix(join(pieces[1:]), "="))
		}
		return nil, fmt.Errorf("%w; %w", noValue(pieces[0].text), errNoPair)
	}
	return slices.DeleteFunc(pieces, func(p piece) bool { return p.text == "" }), nil
}

func join(pieces []piece) string {
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.text
	}
	return strings.Join(texts, "=")
}

// quoted reports for each byte of text whether it is quoted, including the quotes.
func quoted(text string) []bool {
	mask := make([]bool, len(text))
	// After an unpaired quote, all quotes of its kind are unpaired: remembering that keeps the
	// scan linear.
	alone := map[byte]bool{}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '"' && c != '\'' || alone[c] {
			continue
		}
		stop := closing(text, i)
		if stop < 0 {
			alone[c] = true
			continue
		}
		for ; i < stop; i++ {
			mask[i] = true
		}
		mask[stop] = true
	}
	return mask
}

// closing returns the offset of the quote that closes the one at open, or -1.
func closing(text string, open int) int {
	quote := text[open]
	if quote != '"' && quote != '\'' {
		return -1
	}
	for i := open + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return -1
}
