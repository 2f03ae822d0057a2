package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokName tokenKind = iota
	tokNumber
	tokString
	tokOp // one character, or two of them that belong together
	tokNewline
	tokComment
)

// token delimits a piece of the text.
type token struct {
	kind       tokenKind
	start, end int
	// open: a string without its closing quotes.
	open bool
}

// tokenize splits text from an offset on into tokens without white space. It never fails: unknown
// characters are operators.
func tokenize(text string, from int) []token {
	s := scanner{text: text, at: from, out: make([]token, 0, len(text)/5+8)}
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
	default:
		s.other(rest)
	}
}

func (s *scanner) other(rest string) {
	if prefix := quotesAt(rest); prefix >= 0 {
		s.quoted(prefix)
		return
	}
	switch n := wordLen(rest); {
	case n == 0:
		s.operator(rest)
	case rest[0] >= '0' && rest[0] <= '9':
		s.emit(tokNumber, s.at+n)
	default:
		s.emit(tokName, s.at+n)
	}
}

// operator takes one character, or two such as "==" and "**".
func (s *scanner) operator(rest string) {
	n := 1
	if rest[0] >= utf8.RuneSelf {
		_, n = utf8.DecodeRuneInString(rest)
	} else if len(rest) > 1 && (rest[1] == '=' && strings.IndexByte("=!<>+-*/%|&^", rest[0]) >= 0 ||
		rest[1] == rest[0] && strings.IndexByte("*/<>", rest[0]) >= 0) {
		n = 2
	}
	s.emit(tokOp, s.at+n)
}

// quotesAt returns the length of the prefix (r, b, rb) of a string at the start of text, -1 for no
// string.
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
	quote := s.text[at]
	triple := strings.HasPrefix(s.text[at:], strings.Repeat(string(quote), 3))
	i := at + 1
	if triple {
		i += 2
	}
	for ; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == quote && !triple:
			s.emit(tokString, i+1)
			return
		case c == quote && i+2 < len(s.text) && s.text[i+1] == quote && s.text[i+2] == quote:
			s.emit(tokString, i+3)
			return
		case c == '\\':
			i++
		case c == '\n' && !triple:
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
		switch {
		case r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9':
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		default:
			return i
		}
	}
	return len(text)
}

func (f *File) tokenText(t token) string { return f.Text[t.start:t.end] }

// is reports whether the i-th token exists and has this text.
func (f *File) is(i int, text string) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].kind != tokString && f.tokenText(f.tokens[i]) == text
}

func (f *File) isKind(i int, kind tokenKind) bool {
	return i >= 0 && i < len(f.tokens) && f.tokens[i].kind == kind
}
