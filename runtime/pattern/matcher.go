package pattern

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Matcher finds the first group of a pattern in a line. A search for bytes that each match has
// is ten times faster than package regexp, and most patterns are a sequence of sets of bytes,
// for which a loop is, too.
type Matcher struct {
	Name    string
	re      *regexp.Regexp
	literal []byte // that each match has; nil: every line may match
	// sequence matches as re does, from each position of literal on; nil: use re.
	sequence []item
	first    int // items [first,last) are the group
	last     int
}

// item is a set of bytes, repeated as often as possible from least to most times.
type item struct {
	set         [256]bool
	least, most int
}

const unlimited = 1 << 30

func newMatcher(name string, re *regexp.Regexp, text string) *Matcher {
	m := &Matcher{Name: name, re: re}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return m
	}
	m.literal = requiredLiteral(tree)
	var b sequenceBuilder
	if b.add(tree) && b.isExact() {
		if prefix := b.prefix(); len(prefix) > 0 {
			m.literal, m.sequence, m.first, m.last = prefix, b.items, b.first, b.last
		}
	}
	return m
}

// requiredLiteral returns the longest text that each match has, nil if there is none.
func requiredLiteral(t *syntax.Regexp) []byte {
	switch t.Op {
	case syntax.OpLiteral:
		if t.Flags&syntax.FoldCase == 0 && !slices.Contains(t.Rune, utf8.RuneError) { // which also matches invalid bytes
			return []byte(string(t.Rune))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(t.Sub[0])
	case syntax.OpRepeat:
		if t.Min > 0 {
			return requiredLiteral(t.Sub[0])
		}
	case syntax.OpConcat:
		var longest []byte
		for _, sub := range t.Sub {
			if l := requiredLiteral(sub); len(l) > len(longest) {
				longest = l
			}
		}
		return longest
	}
	return nil
}

// sequenceBuilder turns the tree of a pattern into items.
type sequenceBuilder struct {
	items       []item
	first, last int
}

// add reports whether a part of the pattern can be an item.
func (b *sequenceBuilder) add(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpConcat:
		for _, sub := range t.Sub {
			if !b.add(sub) {
				return false
			}
		}
		return true
	case syntax.OpCapture:
		if t.Cap != 1 {
			return b.add(t.Sub[0])
		}
		b.first = len(b.items)
		ok := b.add(t.Sub[0])
		b.last = len(b.items)
		return ok
	case syntax.OpLiteral:
		for _, r := range t.Rune {
			if t.Flags&syntax.FoldCase != 0 || r >= utf8.RuneSelf {
				return false
			}
			it := item{least: 1, most: 1}
			it.set[r] = true
			b.items = append(b.items, it)
		}
		return true
	}
	return b.addRepeated(t)
}

func (b *sequenceBuilder) addRepeated(t *syntax.Regexp) bool {
	it := item{least: 1, most: 1}
	one := t
	switch t.Op {
	case syntax.OpStar:
		it.least, it.most = 0, unlimited
	case syntax.OpPlus:
		it.most = unlimited
	case syntax.OpQuest:
		it.least = 0
	case syntax.OpRepeat:
		it.least, it.most = t.Min, t.Max
		if t.Max < 0 {
			it.most = unlimited
		}
	}
	if one.Op != syntax.OpCharClass && one.Op != syntax.OpAnyCharNotNL &&
		one.Op != syntax.OpAnyChar {
		if t.Flags&syntax.NonGreedy != 0 || len(t.Sub) != 1 {
			return false
		}
		one = t.Sub[0]
	}
	// A rune beyond ASCII has several bytes, which matters only where they are counted.
	wide, ok := it.addSet(one)
	if !ok || wide && (it.least > 1 || it.most != unlimited) {
		return false
	}
	b.items = append(b.items, it)
	return true
}

// addSet adds the bytes of a class of characters; wide means all beyond ASCII, too.
func (it *item) addSet(t *syntax.Regexp) (wide, ok bool) {
	switch t.Op {
	case syntax.OpLiteral:
		if len(t.Rune) != 1 || t.Rune[0] >= utf8.RuneSelf || t.Flags&syntax.FoldCase != 0 {
			return false, false
		}
		it.set[t.Rune[0]] = true
		return false, true
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		for i := range it.set {
			it.set[i] = true
		}
		return true, true
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			lo, hi := t.Rune[i], t.Rune[i+1]
			for c := lo; c <= min(hi, utf8.RuneSelf-1); c++ {
				it.set[c] = true
			}
			if hi < utf8.RuneSelf {
				continue
			}
			if lo > utf8.RuneSelf || hi != utf8.MaxRune {
				return false, false
			}
			wide = true
			for c := utf8.RuneSelf; c < 256; c++ {
				it.set[c] = true
			}
		}
		return wide, true
	}
	return false, false
}

// isExact reports whether taking as many bytes as possible for each item finds what a regular
// expression finds: no byte could belong to an item and to what may follow it.
func (b *sequenceBuilder) isExact() bool {
	if b.first == b.last {
		return false // the group is empty or missing
	}
	for i := range b.items {
		if b.items[i].least == b.items[i].most {
			continue
		}
		for j := i + 1; j < len(b.items); j++ {
			for c := range b.items[i].set {
				if b.items[i].set[c] && b.items[j].set[c] {
					return false
				}
			}
			if b.items[j].least > 0 {
				break
			}
		}
	}
	return true
}

// prefix returns the bytes that each match begins with.
func (b *sequenceBuilder) prefix() (p []byte) {
	for i := range b.items {
		it := &b.items[i]
		only := -1
		for c, in := range it.set {
			if in && only >= 0 {
				return p
			}
			if in {
				only = c
			}
		}
		if it.least != 1 || it.most != 1 || only < 0 {
			return p
		}
		p = append(p, byte(only))
	}
	return p
}

// MayMatch returns a position in the next line from pos on that may match, len(text) if none
// does.
func (m *Matcher) MayMatch(text []byte, pos int) int {
	if m.literal == nil {
		return pos
	}
	if i := bytes.Index(text[pos:], m.literal); i >= 0 {
		return pos + i
	}
	return len(text)
}

// Find returns the group in a line; the literal is not before from.
func (m *Matcher) Find(line []byte, from int) ([]byte, bool) {
	if m.sequence == nil {
		at := m.re.FindSubmatchIndex(line)
		if at == nil || at[2] < 0 {
			return nil, false
		}
		return line[at[2]:at[3]], true
	}
	for from < len(line) {
		if group, ok := m.matchAt(line, from); ok {
			return group, true
		}
		i := bytes.Index(line[from+1:], m.literal)
		if i < 0 {
			break
		}
		from += 1 + i
	}
	return nil, false
}

// matchAt matches the sequence at a position, where the line has the literal.
func (m *Matcher) matchAt(line []byte, at int) ([]byte, bool) {
	i, start, end := at+len(m.literal), 0, 0
	if m.first <= len(m.literal) {
		start = at + m.first
	}
	if m.last <= len(m.literal) {
		end = at + m.last
	}
	for k := len(m.literal); k < len(m.sequence); k++ {
		it := &m.sequence[k]
		if k == m.first {
			start = i
		}
		stop := len(line)
		if it.most < stop-i {
			stop = i + it.most
		}
		from := i
		for i < stop && it.set[line[i]] {
			i++
		}
		if i-from < it.least {
			return nil, false
		}
		if k+1 == m.last {
			end = i
		}
	}
	return line[start:end], true
}

// Literal returns a Matcher that only finds lines that have a text.
func Literal(text string) *Matcher { return &Matcher{literal: []byte(text)} }
