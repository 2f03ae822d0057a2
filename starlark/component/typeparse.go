package component

import (
	"fmt"
	"slices"
	"strings"
	"text/scanner"

	"torchx/runtime/humanize"
)

// ParseType reads the type of a docstring entry: "int", "list[str]", "dict[str, int]", `enum("a",
// "b")`; "T?", "optional[T]", "T | None" and "T, optional" add None. Python's List, Dict, Optional
// and Literal work too. "optional" alone leaves the kind Unset. Errors are one line and list the
// forms.
func ParseType(text string) (Type, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "optional") {
		return Type{Optional: true}, nil
	}
	p := typeParser{words: typeWords(text)}
	t, err := p.whole()
	if err != nil {
		return Type{}, fmt.Errorf("unknown type %s: %w", humanize.Quote(text), err)
	}
	return t, nil
}

// typeWords splits a type into names, quoted strings and single characters.
func typeWords(text string) []string {
	var s scanner.Scanner
	s.Init(strings.NewReader(text))
	s.Mode = scanner.ScanIdents | scanner.ScanStrings | scanner.ScanChars
	s.Error = func(*scanner.Scanner, string) {} // the parser reports invalid words
	var words []string
	for s.Scan() != scanner.EOF {
		words = append(words, s.TokenText())
	}
	return words
}

// typeParser parses a type from its words.
type typeParser struct {
	words []string
	at    int
}

// peek returns the next word, "" at the end.
func (p *typeParser) peek() string {
	if p.at < len(p.words) {
		return p.words[p.at]
	}
	return ""
}

func (p *typeParser) next() string {
	w := p.peek()
	p.at++
	return w
}

func (p *typeParser) accept(word string) bool {
	if p.peek() != word {
		return false
	}
	p.at++
	return true
}

// close accepts the bracket that ends a list of types or choices.
func (p *typeParser) close(bracket string) error {
	if p.accept(bracket) {
		return nil
	}
	if w := p.peek(); w != "" {
		return fmt.Errorf("missing %s before %s", bracket, humanize.Quote(w))
	}
	return fmt.Errorf("missing %s at the end", bracket)
}

func (p *typeParser) whole() (Type, error) {
	t, err := p.union()
	if err != nil {
		return t, err
	}
	// The ", optional" of Google-style docstrings.
	if p.accept(",") && strings.EqualFold(p.peek(), "optional") {
		t.Optional = true
		p.at++
	}
	if w := p.peek(); w != "" {
		return t, fmt.Errorf("unexpected %s after %s; %s", humanize.Quote(w),
			t.Brief(), typeForms())
	}
	return t, nil
}

// union parses T, T?, T | None or None | T.
func (p *typeParser) union() (Type, error) {
	var found Type
	for {
		if p.accept("None") {
			found.Optional = true
		} else {
			t, err := p.term()
			switch {
			case err != nil:
				return t, err
			case found.Kind != Unset:
				return t, fmt.Errorf("the only alternative allowed is None")
			}
			t.Optional = t.Optional || found.Optional
			found = t
		}
		if !p.accept("|") {
			break
		}
	}
	if found.Kind == Unset {
		return found, fmt.Errorf("a type other than None is missing")
	}
	return found, nil
}

// term parses a type without alternatives, and the "?" after it.
func (p *typeParser) term() (Type, error) {
	t, err := p.name(p.next())
	if err == nil && p.accept("?") {
		t.Optional = true
	}
	return t, err
}

func (p *typeParser) name(name string) (Type, error) {
	switch strings.ToLower(name) {
	case "list":
		return p.listType()
	case "dict":
		return p.dictType()
	case "optional":
		return p.optional()
	case "enum", "literal":
		return p.enum()
	}
	i := slices.IndexFunc(kinds[String:], func(k kind) bool { return k.name == name })
	if i < 0 {
		return Type{}, unknownType(name)
	}
	return Type{Kind: String + Kind(i)}, nil
}

func (p *typeParser) optional() (Type, error) {
	if !p.accept("[") {
		return Type{}, fmt.Errorf("optional needs a type, as in optional[int]")
	}
	t, err := p.union()
	if err != nil {
		return t, err
	}
	t.Optional = true
	return t, p.close("]")
}

// listType parses the rest of a type after "list"; list alone is list[str].
func (p *typeParser) listType() (Type, error) {
	if !p.accept("[") {
		return Type{Kind: List, Elem: String}, nil
	}
	elem, err := p.element()
	if err != nil {
		return elem, err
	}
	return elem.list(), p.close("]")
}

// dictType parses the rest of a type after "dict"; dict alone is dict[str, str].
func (p *typeParser) dictType() (Type, error) {
	if !p.accept("[") {
		return Type{Kind: Dict, Key: String, Elem: String}, nil
	}
	key, err := p.element()
	if err != nil {
		return key, err
	}
	if !kinds[key.Kind].key {
		return key, fmt.Errorf("the keys of a dict must be str, int, float or bool")
	}
	if !p.accept(",") {
		return key, fmt.Errorf("a dict needs a key type and a value type, as in dict[str, int]")
	}
	elem, err := p.element()
	if err != nil {
		return elem, err
	}
	return Type{Kind: Dict, Key: key.Kind, Elem: elem.Kind, Choices: elem.Choices, choices: elem.choices}, p.close("]")
}

// element parses a type that is allowed inside a list or dict.
func (p *typeParser) element() (Type, error) {
	t, err := p.term()
	if err == nil && (t.isCompound() || t.Optional) {
		return t, fmt.Errorf("a list or dict cannot contain a list, a dict or None")
	}
	return t, err
}

// refusedChoice returns why a value of an enum is invalid, "" if it is valid.
func refusedChoice(choice string, quoted bool) string {
	switch {
	case !quoted:
		return "is not in quotes"
	case choice == "":
		return "is empty (for None, write ? after the enum)"
	case strings.Contains(choice, ","):
		return "has a comma"
	case oneLine(choice) != choice:
		return "has an unprintable character"
	}
	return ""
}

// enum parses ("a", "b"), or ["a", "b"] as in Python's Literal.
func (p *typeParser) enum() (Type, error) {
	t := Type{Kind: Enum}
	stop := map[string]string{"(": ")", "[": "]"}[p.next()]
	if stop == "" {
		return t, fmt.Errorf(`an enum needs values, as in enum("a", "b")`)
	}
	for {
		word := p.next()
		choice, ok := unquote(word)
		switch reason := refusedChoice(choice, ok); {
		case reason != "":
			return t, fmt.Errorf(`value %d of the enum, %s, %s: values are quoted strings without commas, as in enum("a", "b")`, len(t.Choices)+1, humanize.Text(oneLine(word)), reason)
		case t.hasChoice(choice):
			return t, fmt.Errorf("the enum has %s twice", humanize.Quote(choice))
		}
		t.addChoice(choice)
		if !p.accept(",") {
			return t, p.close(stop)
		}
	}
}

// unquote removes the quotes of a word; escapes are not supported.
func unquote(word string) (string, bool) {
	n := len(word)
	if n < 2 || word[0] != word[n-1] || word[0] != '"' && word[0] != '\'' {
		return "", false
	}
	return word[1 : n-1], true
}

// forms returns the syntax of the kinds, by Kind.
func forms() []string {
	list := make([]string, len(kinds))
	for k := range kinds {
		list[k] = kinds[k].name
	}
	list[List], list[Dict], list[Enum] = "list[T]", "dict[str, T], T?", `enum("a", "b")`
	return list
}

func typeForms() string { return "a type is one of " + strings.Join(forms()[String:], ", ") }

func unknownType(name string) error {
	names := []string{"Optional", "Literal"}
	for _, k := range kinds[String:] {
		names = append(names, k.name)
	}
	return fmt.Errorf("%s.%s", typeForms(), humanize.Hint(name, names))
}
