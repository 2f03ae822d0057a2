package component

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
)

// DocArg is an entry `name (type): text` of a docstring's Args section.
type DocArg struct {
	Name string // without stars
	Type string // as written, "" if there is none
	Help string // one line
	Line int    // of the entry, counted from 0 at the opening quotes
}

// ParseDoc takes a docstring apart without running anything: what it says beside
// its sections on arguments and results, and the arguments in their order.
func ParseDoc(doc string) (text string, args []DocArg) {
	parsed := parseDocstring(doc)
	for _, name := range slices.Sorted(maps.Keys(parsed.Args)) {
		a := parsed.Args[name]
		args = append(args, DocArg{name, a.Type, a.Help, a.Line})
	}
	slices.SortStableFunc(args, func(a, b DocArg) int { return a.Line - b.Line })
	return parsed.Text, args
}

// Fits says why v can be no value of a parameter of this type, nil if it can: a
// value of the type itself, or, where types read more than one form, a text. None
// fits all types, since a parameter whose default it is takes it.
func (t Type) Fits(v starlark.Value) error {
	switch {
	case v == starlark.None, t.Kind == Unset:
		return nil
	case t.Kind == List:
		return t.listFits(v)
	case t.Kind == Dict:
		return t.dictFits(v)
	}
	return fits(t.Kind, v, t)
}

func (t Type) listFits(v starlark.Value) error {
	list, ok := v.(starlark.Sequence)
	if _, isDict := v.(*starlark.Dict); !ok || isDict {
		return notA(List, show(v))
	}
	for e := range starlark.Elements(list) {
		if err := fits(t.Elem, e, Type{Kind: t.Elem}); err != nil {
			return fmt.Errorf("element %w", err)
		}
	}
	return nil
}

func (t Type) dictFits(v starlark.Value) error {
	dict, ok := v.(*starlark.Dict)
	if !ok {
		return notA(Dict, show(v))
	}
	for _, item := range dict.Items() {
		if err := fits(t.Key, item[0], Type{Kind: t.Key}); err != nil {
			return fmt.Errorf("key %w", err)
		}
		if err := fits(t.Elem, item[1], Type{Kind: t.Elem}); err != nil {
			return fmt.Errorf("the value of %s, %w", show(item[0]), err)
		}
	}
	return nil
}

// fits checks a value of a kind that has no parts; what is written as text is read by t.
func fits(kind Kind, v starlark.Value, t Type) error {
	got := primitiveOf(v)
	_, isText := v.(starlark.String)
	switch {
	case got == String && !isText:
		return notA(kind, v.String())
	case kind == String, kind == Int, kind == Bool:
		if got != kind {
			return notA(kind, v.String())
		}
	case kind == Float:
		if got != Float && got != Int {
			return notA(kind, v.String())
		}
	case isText:
		_, err := t.parseText(string(v.(starlark.String)))
		return err
	}
	return nil
}
