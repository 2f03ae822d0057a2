package component

import (
	"strconv"
	"strings"
)

// Kind is what a value of a parameter is made of.
type Kind int

// The kinds. Unset stands for a type that nothing has been said about yet. What a
// component is given: a str for Enum, Path and Resource, seconds as an int (a float
// if there is a fraction) for Duration, bytes as an int for ByteSize.
const (
	Unset Kind = iota
	String
	Int
	Float
	Bool
	List
	Dict
	Enum
	Duration
	ByteSize
	Path
	Resource // the name of a resource, as specs.named_resources has it
)

// kindNames are indexed by Kind.
var kindNames = [...]string{"", "str", "int", "float", "bool", "list", "dict", "enum", "duration", "bytesize", "path", "resource"}

// String returns the name that docstrings use, such as "str".
func (k Kind) String() string { return kindNames[k] }

// Type is the type of a parameter.
type Type struct {
	Kind Kind
	Key  Kind // of a Dict: str, int, float or bool
	Elem Kind // of a List or a Dict: anything but List and Dict
	// Choices are the values of an Enum, and the names that a Resource may have;
	// for a List or Dict those of its elements. No choices for a Resource: any name.
	Choices []string
	// Optional says that None is a value too.
	Optional bool
}

// String writes the type as a docstring does: "list[int]", `enum("a", "b")`. That
// it is optional is not part of it.
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

// elem is the type of the elements of a list, or of the values of a dict.
func (t Type) elem() Type { return Type{Kind: t.Elem, Choices: t.Choices} }

// list is the type of lists of t, which is neither a list nor a dict.
func (t Type) list() Type { return Type{Kind: List, Elem: t.Kind, Choices: t.Choices} }

// has reports whether t or its elements are of kind k.
func (t Type) has(k Kind) bool { return t.Kind == k || t.Elem == k }
