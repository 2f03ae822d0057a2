package component

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/suggest"
)

// examples are values of each kind as they are typed.
var examples = [...]string{
	Unset: "a", String: "a", Int: "3", Float: "1.5", Bool: "true", List: "a", Dict: "A=1",
	Enum: "a", Duration: "90s", ByteSize: "512MiB", Path: "data/train.csv", Resource: "gpu.small",
}

// example is a value of the type as it is typed.
func (t Type) example() string {
	switch t.Kind {
	case List:
		return t.elem().example() + "," + t.elem().another()
	case Dict:
		return Type{Kind: t.Key}.example() + "=" + t.elem().example()
	case Enum:
		return t.Choices[0]
	default:
		return examples[t.Kind]
	}
}

// another is one more value, to show a list with.
func (t Type) another() string {
	if t.Kind == Enum {
		return t.Choices[len(t.Choices)-1]
	}
	return map[Kind]string{
		String: "b", Int: "4", Float: "2", Bool: "false", Duration: "2h", ByteSize: "10G", Path: "b.csv", Resource: "cpu.small",
	}[t.Kind]
}

// expected says how a value of the type is written, with an example.
func (t Type) expected() string {
	switch t.Kind {
	case Int:
		return "a whole number such as 3"
	case Float:
		return "a number such as 1.5"
	case Bool:
		return "true or false"
	case Duration:
		return "seconds, or a time such as 90s, 1h30m or 2d"
	case ByteSize:
		return "bytes, or a size such as 512MiB or 10G"
	case Path:
		return "a file or folder such as data/train.csv"
	case Resource:
		return "a named resource such as gpu.small"
	case Enum:
		return "one of " + strings.Join(t.Choices, ", ")
	case List:
		return fmt.Sprintf("values of type %s separated by commas such as %s", t.Elem, t.example())
	case Dict:
		return fmt.Sprintf("KEY=VALUE pairs of types %s and %s separated by commas such as %s", t.Key, t.Elem, t.example())
	default:
		return "a text"
	}
}

// refuse is the error about a value, shown as such, that is not of the type. typed
// is the word that a hint is for, if it is one.
func (t Type) refuse(shown, typed string) error {
	switch t.Kind {
	case Enum:
		return fmt.Errorf("%s is not %s%s", shown, t.expected(), dotted(suggest.Hint(typed, t.Choices)))
	case Resource:
		if typed != "" {
			return &unknownResourceError{typed, t.Choices}
		}
	case String:
		return fmt.Errorf("%s is not a str", shown)
	}
	article := "a"
	if t.Kind == Int {
		article = "an"
	}
	return fmt.Errorf("%s is not %s %s (%s)", shown, article, t.Kind, t.expected())
}

func dotted(hint string) string {
	if hint == "" {
		return ""
	}
	return "." + hint
}

// Fits says why v cannot be a value of the type, such as the default of a parameter;
// nil if it can. None fits each type: it makes a parameter one that can be left out.
func (t Type) Fits(v starlark.Value) error {
	if v == starlark.None || v == nil {
		return nil
	}
	switch t.Kind {
	case List:
		return t.fitsList(v)
	case Dict:
		return t.fitsDict(v)
	}
	if !t.takes(v) {
		return t.misfit(v)
	}
	return nil
}

// takes reports whether v is a value of the type, which is neither a list nor a dict.
func (t Type) takes(v starlark.Value) bool {
	switch t.Kind {
	case Int, Float, Duration, ByteSize:
		return t.takesNumber(v)
	case Bool:
		_, ok := v.(starlark.Bool)
		return ok
	}
	text, ok := v.(starlark.String)
	return ok && (t.Kind != Enum && t.Kind != Resource || t.allows(string(text)))
}

func (t Type) takesNumber(v starlark.Value) bool {
	_, whole := v.(starlark.Int)
	_, fraction := v.(starlark.Float)
	switch t.Kind {
	case Int:
		return whole
	case Duration:
		_, ok := showDuration(v)
		return ok
	case ByteSize:
		_, ok := showByteSize(v)
		return ok
	}
	return whole || fraction
}

func (t Type) fitsList(v starlark.Value) error {
	values, ok := v.(starlark.Indexable)
	if _, text := v.(starlark.String); !ok || text {
		return t.misfit(v)
	}
	for i := range values.Len() {
		if e := values.Index(i); e == starlark.None || !t.elem().takes(e) {
			return fmt.Errorf("element %d: %w", i, t.elem().misfit(e))
		}
	}
	return nil
}

func (t Type) fitsDict(v starlark.Value) error {
	dict, ok := v.(*starlark.Dict)
	if !ok {
		return t.misfit(v)
	}
	for _, item := range dict.Items() {
		if key := (Type{Kind: t.Key}); !key.takes(item[0]) {
			return fmt.Errorf("key %w", key.misfit(item[0]))
		}
		if !t.elem().takes(item[1]) {
			return fmt.Errorf("the value of %s, %w", brief(item[0].String()), t.elem().misfit(item[1]))
		}
	}
	return nil
}

// unknownResourceError says that a name is none of a resource. Which there are is
// not a question of how an argument is written, so it is no usage error.
type unknownResourceError struct {
	name  string
	names []string
}

// Error returns TorchX's words.
func (e *unknownResourceError) Error() string {
	hint := "Named resources: " + strings.Join(e.names, ", ")
	if closest, ok := suggest.Closest(e.name, e.names); ok {
		hint = fmt.Sprintf("Did you mean `%s`?", closest)
	}
	quoted := brief(e.name)
	return fmt.Sprintf("No named resource found for `%s`. %s", strings.Trim(quoted, `"`), hint)
}

// misfit is the error about a Starlark value that is not of the type. Times and
// sizes are numbers there, which is shown by what the text would have been.
func (t Type) misfit(v starlark.Value) error {
	text, isText := starlark.AsString(v)
	shown := v.String()
	if len(shown) > 100 {
		shown = "a " + v.Type()
	}
	if number, ok := t.read(text); ok && isText && (t.Kind == Duration || t.Kind == ByteSize) {
		unit := map[Kind]string{Duration: "seconds", ByteSize: "bytes"}[t.Kind]
		return fmt.Errorf("%s is a text, and a %s is a number of %s: write %s", shown, t.Kind, unit, number)
	}
	if isText || t.Kind == Enum || t.Kind == Resource {
		return t.refuse(shown, text)
	}
	return fmt.Errorf("%s is of type %s, not %s", shown, v.Type(), t)
}
