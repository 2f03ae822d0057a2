package component

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.starlark.net/starlark"
)

// fromJSON takes a decoded JSON value: of the type itself, or a string that is
// read as one from the command line is. Errors do not name the parameter.
func (t Type) fromJSON(v any) (starlark.Value, error) {
	if text, ok := v.(string); ok {
		return t.parseText(text)
	}
	switch t.Kind {
	case List:
		return t.listFromJSON(v)
	case Dict:
		return t.dictFromJSON(v)
	default:
		return t.oneFromJSON(v)
	}
}

func (t Type) listFromJSON(v any) (starlark.Value, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, t.refuse(showJSON(v), "")
	}
	values := make([]starlark.Value, len(items))
	for i, item := range items {
		e, err := t.elem().oneFromJSON(item)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		values[i] = e
	}
	return starlark.NewList(values), nil
}

// dictFromJSON sorts the keys: a decoded object has lost their order.
func (t Type) dictFromJSON(v any) (starlark.Value, error) {
	items, ok := v.(map[string]any)
	if !ok {
		return nil, t.refuse(showJSON(v), "")
	}
	names := make([]string, 0, len(items))
	for name := range items {
		names = append(names, name)
	}
	slices.Sort(names)
	dict := starlark.NewDict(len(items))
	for _, name := range names {
		key, err := Type{Kind: t.Key}.parseOne(name)
		if err != nil {
			return nil, fmt.Errorf("key %w", err)
		}
		value, err := t.elem().oneFromJSON(items[name])
		if err != nil {
			return nil, fmt.Errorf("value of %q: %w", name, err)
		}
		if err := dict.SetKey(key, value); err != nil {
			return nil, err
		}
	}
	return dict, nil
}

func (t Type) oneFromJSON(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case string:
		return t.parseOne(v)
	case bool:
		if t.Kind == Bool {
			return starlark.Bool(v), nil
		}
	case json.Number:
		return t.numberFromJSON(v.String())
	case float64:
		return t.numberFromJSON(formatNumber(v))
	case int:
		return t.numberFromJSON(strconv.Itoa(v))
	}
	return nil, t.refuse(showJSON(v), "")
}

// numberFromJSON takes the text of a number. One for a str stays as it was written.
func (t Type) numberFromJSON(text string) (starlark.Value, error) {
	if t.Kind == Bool || t.Kind == Path {
		return nil, t.refuse(text, "")
	}
	return t.parseOne(text)
}

// formatNumber writes whole numbers without an exponent, so that they can be ints.
func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func showJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(data) > 100 {
		return brief(string(data))
	}
	return string(data)
}
