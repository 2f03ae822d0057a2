package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a token is.
type tokenKind int

const (
	tokName tokenKind = iota
	tokNumber
	tokString
	tokOp // one character, or two of them that belong together
	tokNewline
	tokComment
)

// token is a piece of a file, by the offsets of its text.
type token struct {
	kind       tokenKind
	start, end int
	// open: a string without its closing quotes.
	open bool
}

// pairs are the operators of two characters that matter here: a "=" within them is
// no assignment, and "**" begins a parameter.
var pairs = []string{"==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "**", "//", "<<", ">>"}

// tokenize splits any text into tokens, white space left out, from an offset on. It
// never fails: what
// is no Starlark is an operator.
func tokenize(text string, from int) []token {
	s := scanner{text: text, at: from}
	for s.at < len(s.text) {
		s.step()
	}
	return s.out
}

type scanner struct {
	text string
	at   int
	out  []token
}

func (s *scanner) emit(kind tokenKind, end int) {
	s.out = append(s.out, token{kind: kind, start: s.at, end: end})
	s.at = end
}

func (s *scanner) step() {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case c == '\n':
		s.emit(tokNewline, s.at+1)
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '\\' && strings.HasPrefix(rest[1:], "\n"):
		s.at += 2 // the line goes on
	case c == '#':
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		s.emit(tokComment, s.at+n)
	case quotesAt(rest) >= 0:
		s.quoted(quotesAt(rest))
	case c >= '0' && c <= '9':
		s.emit(tokNumber, s.at+wordLen(rest))
	case wordLen(rest) > 0:
		s.emit(tokName, s.at+wordLen(rest))
	default:
		s.operator(rest)
	}
}

func (s *scanner) operator(rest string) {
	for _, p := range pairs {
		if strings.HasPrefix(rest, p) {
			s.emit(tokOp, s.at+2)
			return
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	s.emit(tokOp, s.at+n)
}

// quotesAt returns the length of the prefix (r, b, rb) of the string that text
// begins with, -1 if it begins with none.
func quotesAt(text string) int {
	for n := range min(3, len(text)) {
		switch text[n] {
		case '"', '\'':
			return n
		case 'r', 'b':
		default:
			return -1
		}
	}
	return -1
}

// quoted takes a string; one in single quotes ends with its line.
func (s *scanner) quoted(prefix int) {
	at := s.at + prefix
	quotes := s.text[at : at+1]
	if triple := strings.Repeat(quotes, 3); strings.HasPrefix(s.text[at:], triple) {
		quotes = triple
	}
	for i := at + len(quotes); i < len(s.text); i++ {
		switch {
		case strings.HasPrefix(s.text[i:], quotes):
			s.emit(tokString, i+len(quotes))
			return
		case s.text[i] == '\\':
			i++
		case s.text[i] == '\n' && len(quotes) == 1:
			s.emit(tokString, i)
			s.out[len(s.out)-1].open = true
			return
		}
	}
	s.emit(tokString, len(s.text))
	s.out[len(s.out)-1].open = true
}

// wordLen is how much of a name or a number text begins with, in bytes.
func wordLen(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(text)
}

// tokenText is the text of a token.
func (f *File) tokenText(t token) string { return f.Text[t.start:t.end] }

// is reports whether the i-th token is there and has this text.
func (f *File) is(i int, text string) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].kind != tokString && f.tokenText(f.tokens[i]) == text
}

func (f *File) isKind(i int, kind tokenKind) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].kind == kind
}
