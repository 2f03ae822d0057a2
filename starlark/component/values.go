package component

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/kv"
)

// parseText reads a value from the command line. An empty list or dict is None, as in TorchX.
// Errors are one line with an example, without the parameter's name.
func (t Type) parseText(text string) (starlark.Value, error) {
	switch t.Kind {
	case List:
		return t.parseList(text)
	case Dict:
		return t.parseDict(text)
	default:
		return t.parseOne(text)
	}
}

func (t Type) parseList(text string) (starlark.Value, error) {
	if strings.TrimSpace(text) == "" {
		return starlark.None, nil
	}
	var values []starlark.Value
	for part := range strings.SplitSeq(text, ",") {
		v, err := t.elem().parseOne(strings.TrimSpace(part))
		if err != nil {
			return nil, t.errorIn(err, text)
		}
		values = append(values, v)
	}
	return starlark.NewList(values), nil
}

func (t Type) parseDict(text string) (starlark.Value, error) {
	pairs, err := kv.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return starlark.None, nil
	}
	dict := starlark.NewDict(len(pairs))
	for _, pair := range pairs {
		key, err := t.key().parseOne(pair.Key)
		if err != nil {
			return nil, t.errorIn(fmt.Errorf("key %w", err), text)
		}
		value, err := t.elem().parseOne(pair.Value)
		if err != nil {
			return nil, t.errorIn(fmt.Errorf("the value of %s, %w", pair.Key, err), text)
		}
		if err := dict.SetKey(key, value); err != nil {
			return nil, err
		}
	}
	return dict, nil
}

// errorIn adds the whole text to an error about a part of it.
func (t Type) errorIn(err error, text string) error {
	return fmt.Errorf("%w, in %s, which should be %s", err, quoteShort(text), t.expected())
}

// parseOne reads a value that is neither a list nor a dict.
func (t Type) parseOne(text string) (starlark.Value, error) {
	v, ok := kinds[t.Kind].read(text)
	if !ok || !t.allows(text) {
		return nil, t.refuse(quoteShort(text), text)
	}
	return v, nil
}

// quoteShort quotes text, cut to a length that keeps an error readable.
func quoteShort(text string) string {
	const limit = 100
	if runes := []rune(text); len(runes) > limit {
		return strconv.Quote(string(runes[:limit])) + "…"
	}
	return strconv.Quote(text)
}

// show writes a value as the command line would give it to a parameter of type t.
func (t Type) show(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.NoneType:
		return "none"
	case *starlark.Dict:
		var parts []string
		for key, value := range v.Entries() {
			parts = append(parts, t.key().show(key)+"="+t.elem().show(value))
		}
		return strings.Join(parts, ",")
	case starlark.Sequence:
		var parts []string
		for e := range starlark.Elements(v) {
			parts = append(parts, t.elem().show(e))
		}
		return strings.Join(parts, ",")
	}
	if text, ok := kinds[t.Kind].show(v); ok {
		return text
	}
	return showPlain(v)
}

// fromJSON converts a decoded JSON value: one of the type, or a string as it would be typed.
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
	dict := starlark.NewDict(len(items))
	for _, name := range slices.Sorted(maps.Keys(items)) {
		key, err := t.key().parseOne(name)
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
		if t.accepts(starlark.Bool(v)) {
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
	if kinds[t.Kind].notNumeric {
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
		return quoteShort(string(data))
	}
	return string(data)
}
