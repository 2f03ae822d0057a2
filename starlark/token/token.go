// Package token splits Starlark into tokens, including text that does not parse.
package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind int

// The kinds of tokens.
const (
	Name Kind = iota
	Number
	String
	Op // one character, or two such as "=="
	Newline
	Comment
)

// Token is a part of the text.
type Token struct {
	Kind       Kind
	Start, End int // in bytes
	// Nesting is 1 for an opening bracket, -1 for a closing one, else 0.
	Nesting int
	// Open marks a string without closing quotes.
	Open bool
}

// Scan splits text from the given offset into tokens, without white space. It never fails: unknown
// characters are operators.
func Scan(text string, from int) []Token {
	s := scanner{text: text, at: from, out: make([]Token, 0, len(text)/5+8)}
	for s.at < len(s.text) {
		s.step()
	}
	return s.out
}

type scanner struct {
	text string
	at   int
	out  []Token
}

func (s *scanner) emit(kind Kind, end int) {
	s.out = append(s.out, Token{Kind: kind, Start: s.at, End: end})
	s.at = end
}

func (s *scanner) step() {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case c == '\n':
		s.emit(Newline, s.at+1)
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '\\' && strings.HasPrefix(rest[1:], "\n"):
		s.at += 2 // a continued line
	case c == '#':
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		s.emit(Comment, s.at+n)
	default:
		s.other(rest)
	}
}

func (s *scanner) other(rest string) {
	if prefix := QuotesAt(rest); prefix >= 0 {
		s.quoted(prefix)
		return
	}
	switch n := wordLen(rest); {
	case n == 0:
		s.operator(rest)
	case rest[0] >= '0' && rest[0] <= '9':
		s.emit(Number, s.at+n)
	default:
		s.emit(Name, s.at+n)
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
	s.emit(Op, s.at+n)
	switch rest[0] {
	case '(', '[', '{':
		s.out[len(s.out)-1].Nesting = 1
	case ')', ']', '}':
		s.out[len(s.out)-1].Nesting = -1
	}
}

// QuotesAt returns the length of the prefix (r, b, rb) of a string literal at the start of text, or
// -1 if text does not start with a string.
func QuotesAt(text string) int {
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

// quoted takes a string literal; one in single quotes ends at the end of its line.
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
			s.emit(String, i+1)
			return
		case c == quote && i+2 < len(s.text) && s.text[i+1] == quote && s.text[i+2] == quote:
			s.emit(String, i+3)
			return
		case c == '\\':
			i++
		case c == '\n' && !triple:
			s.emit(String, i)
			s.out[len(s.out)-1].Open = true
			return
		}
	}
	s.emit(String, len(s.text))
	s.out[len(s.out)-1].Open = true
}

// wordLen returns the length of the name or number at the start of text, in bytes.
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
