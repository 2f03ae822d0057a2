package component

import (
	"fmt"
	"strings"

	"torchx/runtime/suggest"
)

// Kind is what a value of a parameter is made of.
type Kind int

// The kinds. Unset stands for a type that nothing has been said about yet.
const (
	Unset Kind = iota
	String
	Int
	Float
	Bool
	List
	Dict
)

var kindNames = map[Kind]string{
	Unset: "", String: "str", Int: "int", Float: "float", Bool: "bool", List: "list", Dict: "dict",
}

// String returns the name that docstrings use, such as "str".
func (k Kind) String() string { return kindNames[k] }

// Type is the type of a parameter.
type Type struct {
	Kind Kind
	Key  Kind // of a Dict: a primitive
	Elem Kind // of a List or a Dict: a primitive
	// Optional says that None is a value too.
	Optional bool
}

// String writes the type as a docstring does: "list[int]", "dict[str, str]".
// That it is optional is not part of it.
func (t Type) String() string {
	switch t.Kind {
	case List:
		return "list[" + t.Elem.String() + "]"
	case Dict:
		return "dict[" + t.Key.String() + ", " + t.Elem.String() + "]"
	default:
		return t.Kind.String()
	}
}

// typeWords are the names a type may begin with, in the order that errors list them.
var typeWords = []string{"str", "int", "float", "bool", "list[T]", "dict[K, V]", "Optional[T]"}

// parseType reads what a docstring writes in parentheses behind a name: "int",
// "list[str]", "Optional[Dict[str, int]]", "str | None", "int, optional". The
// word "optional" alone leaves the kind Unset.
func parseType(text string) (Type, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "optional") {
		return Type{Optional: true}, nil
	}
	body, optional := cutOptional(text)
	t, err := parseUnion(body)
	if err != nil {
		return Type{}, fmt.Errorf("unknown type %q: %w", text, err)
	}
	t.Optional = t.Optional || optional
	return t, nil
}

// cutOptional takes the ", optional" of google style docstrings off.
func cutOptional(text string) (string, bool) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 || !strings.EqualFold(strings.TrimSpace(text[i+1:]), "optional") {
		return text, false
	}
	return text[:i], true
}

// parseUnion reads T, T | None or None | T.
func parseUnion(text string) (Type, error) {
	var found Type
	for _, part := range strings.Split(text, "|") {
		part = strings.TrimSpace(part)
		if part == "None" {
			found.Optional = true
			continue
		}
		t, err := parseTerm(part)
		if err != nil {
			return Type{}, err
		}
		if found.Kind != Unset {
			return Type{}, fmt.Errorf("only None can be an alternative")
		}
		t.Optional = t.Optional || found.Optional
		found = t
	}
	if found.Kind == Unset {
		return Type{}, fmt.Errorf("it allows nothing but None")
	}
	return found, nil
}

// parseTerm reads a primitive, a list, a dict or an Optional of these.
func parseTerm(text string) (Type, error) {
	name, inner, bracket := strings.Cut(text, "[")
	if !bracket {
		return parseName(name)
	}
	name = strings.TrimSpace(name)
	if !strings.HasSuffix(inner, "]") {
		return Type{}, fmt.Errorf("a closing ] is missing")
	}
	inner = inner[:len(inner)-1]
	switch strings.ToLower(name) {
	case "optional":
		t, err := parseUnion(inner)
		t.Optional = true
		return t, err
	case "list":
		elem, err := parsePrimitive(inner)
		return Type{Kind: List, Elem: elem}, err
	case "dict":
		return parseDict(inner)
	default:
		return Type{}, unknownType(name)
	}
}

// parseName reads a type without brackets; a bare list or dict is one of str.
func parseName(name string) (Type, error) {
	switch strings.ToLower(name) {
	case "list":
		return Type{Kind: List, Elem: String}, nil
	case "dict":
		return Type{Kind: Dict, Key: String, Elem: String}, nil
	}
	kind, err := parsePrimitive(name)
	return Type{Kind: kind}, err
}

func parseDict(inner string) (Type, error) {
	parts := strings.Split(inner, ",")
	if len(parts) != 2 {
		return Type{}, fmt.Errorf("a dict has a key type and a value type, as in dict[str, int]")
	}
	key, err := parsePrimitive(parts[0])
	if err != nil {
		return Type{}, err
	}
	elem, err := parsePrimitive(parts[1])
	return Type{Kind: Dict, Key: key, Elem: elem}, err
}

func parsePrimitive(name string) (Kind, error) {
	name = strings.TrimSpace(name)
	for _, kind := range []Kind{String, Int, Float, Bool} {
		if kind.String() == name {
			return kind, nil
		}
	}
	if strings.ContainsAny(name, "[]") {
		return Unset, fmt.Errorf("only str, int, float and bool can be inside a list or dict")
	}
	return Unset, unknownType(name)
}

func unknownType(name string) error {
	known := append([]string{"list", "dict", "Optional"}, typeWords[:4]...)
	return fmt.Errorf("a type is one of %s.%s", strings.Join(typeWords, ", "), suggest.Hint(name, known))
}
