package component

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/starlark/interp"
)

// Type is the type of a parameter.
type Type struct {
	Kind Kind
	Key  Kind // of a Dict: str, int, float or bool
	Elem Kind // of a List or a Dict: anything but List and Dict
	// Choices are the values of an Enum, or the names allowed for a Resource; for a List or Dict
	// they are those of its elements. A Resource without choices accepts any name.
	Choices []string
	choices map[string]bool // set of Choices, if there are many
	// Optional says that None is a value too.
	Optional bool
}

// String returns the type as written in a docstring, without Optional: "list[int]", `enum("a",
// "b")`.
func (t Type) String() string {
	switch t.Kind {
	case List:
		return "list[" + t.elem().String() + "]"
	case Dict:
		return "dict[" + t.Key.String() + ", " + t.elem().String() + "]"
	case Enum:
		quoted := make([]string, len(t.Choices))
		for i, c := range t.Choices {
			quoted[i] = strconv.Quote(c)
		}
		return "enum(" + strings.Join(quoted, ", ") + ")"
	default:
		return t.Kind.String()
	}
}

// Brief returns the type, shortened for a message.
func (t Type) Brief() string { return humanize.Text(t.String()) }

// elem returns the type of the elements of a list, or of the values of a dict.
func (t Type) elem() Type { return Type{Kind: t.Elem, Choices: t.Choices, choices: t.choices} }

// key returns the type of the keys of a dict.
func (t Type) key() Type { return Type{Kind: t.Key} }

// list returns the type of lists of t, which is neither a list nor a dict.
func (t Type) list() Type {
	return Type{Kind: List, Elem: t.Kind, Choices: t.Choices, choices: t.choices}
}

// has reports whether t or its elements are of kind k.
func (t Type) has(k Kind) bool { return t.Kind == k || t.Elem == k }

// isCompound reports whether t is a list or dict.
func (t Type) isCompound() bool { return t.Kind == List || t.Kind == Dict }

// NamesResource reports whether values are the names of resources.
func (t Type) NamesResource() bool { return t.Kind == Resource }

// Members returns the Starlark type whose methods the values of a documented type have, such as
// "string"; "" for none. The text may be followed by more, as in "str)".
func Members(text string) string {
	text = strings.ToLower(text)
	for _, k := range kinds[String:] {
		if strings.HasPrefix(text, k.name) {
			return k.members
		}
	}
	return ""
}

// Literal returns v, a constant of another kind, as Starlark code of type t; "" if that is unclear.
func (t Type) Literal(v starlark.Value) string {
	if f := kinds[t.Kind].literal; f != nil {
		if text, ok := f(v); ok {
			return text
		}
	}
	return ""
}

// Offer describes the completions of a value.
type Offer struct {
	// Words are whole values; nil if they cannot be listed.
	Words []string
	// Files says that the value can be the path of a file.
	Files bool
	// List says that the value is a comma-separated list.
	List bool
}

// Offer returns the completions for a value of the parameter.
func (p *Param) Offer() Offer {
	t := p.Type
	switch t.Kind {
	case List:
		t = t.elem()
	case Dict:
		return Offer{}
	}
	o := Offer{Words: t.Choices, Files: kinds[t.Kind].files, List: p.Type.Kind == List}
	if o.Words == nil {
		o.Words = kinds[t.Kind].words
	}
	return o
}

// allows reports whether text is one of the choices, if the type has choices.
func (t Type) allows(text string) bool {
	return len(t.Choices) == 0 || t.hasChoice(text) || text == "" && kinds[t.Kind].blank
}

func (t Type) hasChoice(text string) bool {
	if t.choices != nil {
		return t.choices[text]
	}
	return slices.Contains(t.Choices, text)
}

// manyChoices is the number of Choices from which on a map is faster than a search.
const manyChoices = 100

func (t *Type) addChoice(text string) {
	t.Choices = append(t.Choices, text)
	switch n := len(t.Choices); {
	case n > manyChoices:
		t.choices[text] = true
	case n == manyChoices:
		t.choices = map[string]bool{}
		for _, c := range t.Choices {
			t.choices[c] = true
		}
	}
}

// examples returns two values of the type as typed.
func (t Type) examples() (first, second string) {
	switch words := kinds[t.Kind].examples; {
	case t.Kind == List:
		first, second = t.elem().examples()
		return first + "," + second, ""
	case t.Kind == Dict:
		key, _ := t.key().examples()
		value, _ := t.elem().examples()
		return key + "=" + value, ""
	case words == nil:
		return t.Choices[0], t.Choices[len(t.Choices)-1]
	default:
		return words[0], words[1]
	}
}

// expected returns the syntax of a value of the type, with an example.
func (t Type) expected() string {
	switch t.Kind {
	case Enum:
		return "one of " + humanize.List(t.Choices)
	case List:
		first, _ := t.examples()
		return fmt.Sprintf("values of type %s separated by commas such as %s", t.Elem, first)
	case Dict:
		first, _ := t.examples()
		return fmt.Sprintf("KEY=VALUE pairs of types %s and %s separated by commas such as %s",
			t.Key, t.Elem, first)
	default:
		return kinds[t.Kind].expected
	}
}

// refuse returns the error for a value that is not of the type. typed is the word for which to
// suggest a choice, or "".
func (t Type) refuse(shown, typed string) error {
	switch t.Kind {
	case Enum:
		hint := humanize.Hint(typed, t.Choices)
		if hint != "" {
			hint = "." + hint
		}
		return fmt.Errorf("%s is not %s%s", shown, t.expected(), hint)
	case Resource:
		if typed != "" {
			return &unknownResourceError{typed, t.Choices}
		}
	}
	article, how := "a", ""
	if strings.ContainsAny(t.Kind.String()[:1], "aeiou") {
		article = "an"
	}
	if expected := t.expected(); expected != "" {
		how = " (" + expected + ")"
	}
	return fmt.Errorf("%s is not %s %s%s", shown, article, t.Kind, how)
}

// unknownResourceError names an unknown resource. It is not a usage error, since the project
// defines resources.
type unknownResourceError struct {
	name  string
	names []string
}

// Error returns the message of TorchX.
func (e *unknownResourceError) Error() string {
	hint := "Named resources: " + humanize.List(e.names)
	if closest, ok := humanize.Closest(e.name, e.names); ok {
		hint = fmt.Sprintf("Did you mean `%s`?", closest)
	}
	return fmt.Sprintf("No named resource found for `%s`. %s",
		strings.Trim(humanize.Quote(e.name), `"`), hint)
}

// Check returns an error if v, such as a default, is not a value of the type. None is of every type.
func (t Type) Check(v starlark.Value) error {
	if v == starlark.None || v == nil {
		return nil
	}
	switch t.Kind {
	case List:
		return t.checkList(v)
	case Dict:
		return t.checkDict(v)
	}
	if !t.accepts(v) {
		return t.mismatch(v)
	}
	return nil
}

// accepts reports whether v is a value of the type, which is neither a list nor a dict.
func (t Type) accepts(v starlark.Value) bool {
	text, ok := kinds[t.Kind].show(v)
	return ok && t.allows(text)
}

func (t Type) checkList(v starlark.Value) error {
	values, ok := v.(starlark.Indexable)
	if _, text := v.(starlark.String); !ok || text {
		return t.mismatch(v)
	}
	for i := range values.Len() {
		if e := values.Index(i); !t.elem().accepts(e) {
			return fmt.Errorf("element %d: %w", i, t.elem().mismatch(e))
		}
	}
	return nil
}

func (t Type) checkDict(v starlark.Value) error {
	dict, ok := v.(*starlark.Dict)
	if !ok {
		return t.mismatch(v)
	}
	for key, value := range dict.Entries() {
		if !t.key().accepts(key) {
			return fmt.Errorf("key %w", t.key().mismatch(key))
		}
		if !t.elem().accepts(value) {
			return fmt.Errorf("the value of %s, %w", interp.Show(key), t.elem().mismatch(value))
		}
	}
	return nil
}

// mismatch returns the error for a Starlark value of another type. For a string where a time or size
// is expected it shows the number to write.
func (t Type) mismatch(v starlark.Value) error {
	text, isText := starlark.AsString(v)
	shown := interp.Show(v)
	if unit := kinds[t.Kind].unit; unit != "" && isText {
		if number, ok := kinds[t.Kind].read(text); ok {
			return fmt.Errorf("%s is a string, but a %s is a number of %s: write %s", shown,
				t.Kind, unit, number)
		}
	}
	if isText || t.Kind == Enum || t.Kind == Resource {
		return t.refuse(shown, text)
	}
	return fmt.Errorf("%s is of type %s, not %s", shown, v.Type(), t.Brief())
}

// typeOf returns the type of a default; a required parameter is a str.
func typeOf(def starlark.Value) (Type, bool) {
	switch def := def.(type) {
	case nil:
		return Type{Kind: String}, true
	case starlark.NoneType:
		return Type{Kind: String, Optional: true}, true
	case starlark.String:
		return Type{Kind: String}, true
	case *starlark.List:
		return Type{Kind: List, Elem: elementKind(def)}, true
	case starlark.Tuple:
		return Type{Kind: List, Elem: elementKind(def)}, true
	case *starlark.Dict:
		for key, value := range def.Entries() {
			return Type{Kind: Dict, Key: kindOf(key), Elem: kindOf(value)}, true
		}
		return Type{Kind: Dict, Key: String, Elem: String}, true
	}
	return Type{Kind: kindOf(def)}, kindOf(def) != String
}

func elementKind(values starlark.Indexable) Kind {
	if values.Len() == 0 {
		return String
	}
	return kindOf(values.Index(0))
}

func kindOf(v starlark.Value) Kind {
	switch v.(type) {
	case starlark.Bool:
		return Bool
	case starlark.Int:
		return Int
	case starlark.Float:
		return Float
	default:
		return String
	}
}
