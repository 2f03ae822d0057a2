package analysis

import (
	"slices"
	"strings"

	"torchx/starlark/token"
)

// Region is the kind of text at an offset.
type Region int

// The regions: code, a comment, a string.
const (
	InCode Region = iota
	InComment
	InString
)

// Cursor describes the text around an offset, from the tokens.
type Cursor struct {
	Region Region
	// Start and End delimit the word or string at the offset; Word is its part before the offset.
	Start, End int
	Word       string
	// Chain is the text before the word and its dot: "specs.macros", the type of a literal, or
	// "?" if unknown.
	Chain string
	// Before is the previous token on the word's line or "". For a string it is the quotes.
	Before string
	// Brackets are the open brackets, outermost first.
	Brackets []Bracket
	// Keyword is set if the word is the name of an argument with "=" after it.
	Keyword bool
}

// Bracket is an open bracket.
type Bracket struct {
	Open byte
	// Callee is the dotted name before the bracket or ""; CalleeStart is its offset.
	Callee      string
	CalleeStart int
	// Head is set if the bracket contains the parameters of a definition.
	Head bool
	// Index counts the commas before the offset.
	Index int
	// Argument is the name of the argument at the offset, "" for a positional argument.
	Argument string
	// Given are the named arguments, on both sides of the offset.
	Given []string
	// Texts are the strings in the bracket before the offset, without quotes.
	Texts []string
}

// Call returns the innermost open bracket if it is a call, else nil.
func (c *Cursor) Call() *Bracket {
	if n := len(c.Brackets); n > 0 {
		if b := &c.Brackets[n-1]; b.Open == '(' && b.Callee != "" && !b.Head {
			return b
		}
	}
	return nil
}

// EnclosingCall returns the innermost open call, even if other brackets are open in its
// arguments, or nil.
func (c *Cursor) EnclosingCall() *Bracket {
	for i := len(c.Brackets) - 1; i >= 0; i-- {
		if b := &c.Brackets[i]; b.Open == '(' && b.Callee != "" {
			if b.Head {
				return nil
			}
			return b
		}
	}
	return nil
}

// At describes the text around an offset.
func (f *File) At(offset int) Cursor {
	c := Cursor{Start: offset, End: offset}
	i := 0
	if line := f.lineAt(offset); line >= 0 {
		i = f.lines[line].first // no bracket is open at the start of a logical line
	}
	for ; i < len(f.tokens) && f.tokens[i].End < offset; i++ {
		f.addToken(&c, i)
	}
	if i < len(f.tokens) && f.tokens[i].Start < offset && f.tokens[i].Kind != token.Name &&
		f.tokens[i].End == offset && !f.tokens[i].Open {
		// Right after a complete token, the cursor belongs to the next token.
		if f.tokens[i].Kind != token.Comment {
			f.addToken(&c, i)
			i++
		}
	}
	f.wordAt(&c, i, offset)
	f.addGivenAfter(&c, i)
	return c
}

// wordAt finds the word or string around the offset, in the i-th token.
func (f *File) wordAt(c *Cursor, i, offset int) {
	if i < len(f.tokens) && f.tokens[i].Start <= offset {
		t := f.tokens[i]
		switch {
		case t.Kind == token.Comment && t.Start < offset:
			c.Region = InComment
			return
		case t.Kind == token.String && t.Start < offset:
			f.inString(c, t, offset)
			return
		case t.Kind == token.Name:
			c.Start, c.End = t.Start, t.End
			c.Keyword = f.is(i+1, "=") && c.Call() != nil &&
				(f.is(i-1, "(") || f.is(i-1, ",") || f.isKind(i-1, token.Newline))
		}
	}
	c.Word = f.Text[c.Start:offset]
	if i > 0 && f.tokens[i-1].Kind != token.Newline {
		c.Before = f.tokenText(f.tokens[i-1])
	}
	if f.is(i-1, ".") {
		c.Chain = f.chainBefore(i - 1)
	}
}

func (f *File) inString(c *Cursor, t token.Token, offset int) {
	from, to := f.content(t)
	if offset < from || offset > to {
		c.Region = InComment // within the quotes, or before them
		return
	}
	c.Region, c.Start, c.End, c.Word = InString, from, to, f.Text[from:offset]
}

// content delimits the text within a string's quotes.
func (f *File) content(t token.Token) (from, to int) {
	from = t.Start + token.QuotesAt(f.Text[t.Start:])
	quotes := 1
	if rest := f.Text[from:t.End]; len(rest) >= 3 && rest[1] == rest[0] && rest[2] == rest[0] {
		quotes = 3
	}
	from += quotes
	to = t.End
	if !t.Open {
		to -= quotes
	}
	return from, max(from, to)
}

// chainBefore returns the dotted name that ends before the i-th token, a dot.
func (f *File) chainBefore(i int) string {
	switch {
	case f.isKind(i-1, token.String):
		return "string"
	case f.is(i-1, "]"):
		return f.literalType(i-1, "list")
	case f.is(i-1, "}"):
		return f.literalType(i-1, "dict")
	case !f.isKind(i-1, token.Name):
		return "?"
	}
	first := f.chainStart(i - 1)
	if f.is(first-1, ".") {
		return "?"
	}
	return f.joinTokens(first, i)
}

// literalType returns the type of a literal that ends with the i-th token; "?" for an index.
func (f *File) literalType(i int, kind string) string {
	depth := 0
	for ; i >= 0; i-- {
		if depth -= f.tokens[i].Nesting; depth == 0 {
			break
		}
	}
	if f.isKind(i-1, token.Name) && !f.is(i-1, "in") && !f.is(i-1, "return") ||
		f.is(i-1, ")") || f.is(i-1, "]") {
		return "?"
	}
	return kind
}

// chainStart returns the first token of the dotted name that ends with the i-th token.
func (f *File) chainStart(i int) int {
	for f.is(i-1, ".") && f.isKind(i-2, token.Name) {
		i -= 2
	}
	return i
}

// joinTokens returns the text of tokens [first, end) without white space.
func (f *File) joinTokens(first, end int) string {
	var b strings.Builder
	for _, t := range f.tokens[first:end] {
		b.WriteString(f.tokenText(t))
	}
	return b.String()
}

// addToken updates the open brackets with the i-th token.
func (f *File) addToken(c *Cursor, i int) {
	t := f.tokens[i]
	n := len(c.Brackets)
	switch t.Kind {
	case token.Newline:
		if f.startsStatement(i + 1) {
			c.Brackets = nil
		}
		return
	case token.String:
		if n > 0 {
			from, to := f.content(t)
			c.Brackets[n-1].Texts = append(c.Brackets[n-1].Texts, f.Text[from:to])
		}
		return
	case token.Op:
	default:
		return
	}
	switch t.Nesting {
	case 1:
		c.Brackets = append(c.Brackets, f.openBracket(i))
	case -1:
		c.Brackets = c.Brackets[:max(0, n-1)]
	default:
		if n > 0 {
			f.addSeparator(&c.Brackets[n-1], i)
		}
	}
}

// openBracket describes the bracket that the i-th token opens.
func (f *File) openBracket(i int) Bracket {
	b := Bracket{Open: f.Text[f.tokens[i].Start]}
	if b.Open == '{' || !f.isKind(i-1, token.Name) {
		return b
	}
	first := f.chainStart(i - 1)
	if f.is(first-1, ".") || f.is(first, "in") || f.is(first, "return") || f.is(first, "and") ||
		f.is(first, "or") || f.is(first, "not") {
		return b
	}
	b.Callee, b.CalleeStart, b.Head = f.joinTokens(first, i), f.tokens[first].Start, f.is(first-1, "def")
	return b
}

// addSeparator updates a bracket with a comma, or the "=" of an argument.
func (f *File) addSeparator(b *Bracket, i int) {
	switch f.tokenText(f.tokens[i]) {
	case ",":
		b.Index++
		b.Argument = ""
	case "=":
		if f.isKind(i-1, token.Name) {
			b.Argument = f.tokenText(f.tokens[i-1])
			b.Given = append(b.Given, b.Argument)
		}
	}
}

// addGivenAfter adds the arguments named after the cursor, from the i-th token on.
func (f *File) addGivenAfter(c *Cursor, i int) {
	call := c.Call()
	if call == nil {
		return
	}
	depth := 0
	for ; i < len(f.tokens) && depth >= 0; i++ {
		t := f.tokens[i]
		switch {
		case t.Kind == token.Newline && f.startsStatement(i+1):
			return
		case t.Kind != token.Op:
			continue
		case depth == 0 && f.is(i, "=") && f.isKind(i-1, token.Name):
			// The word at the cursor is not complete.
			if name := f.tokens[i-1]; name.Start != c.Start &&
				!slices.Contains(call.Given, f.tokenText(name)) {
				call.Given = append(call.Given, f.tokenText(name))
			}
		}
		depth += t.Nesting
	}
}
