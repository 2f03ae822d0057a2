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

	"torchx/runtime/config"
	"torchx/runtime/humanize"
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
	pairs, err := config.ParsePairs(text)
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
	return fmt.Errorf("%w, in %s, which should be %s", err, humanize.Quote(text), t.expected())
}

// parseOne parses a value that is neither a list nor a dict.
func (t Type) parseOne(text string) (starlark.Value, error) {
	v, ok := kinds[t.Kind].read(text)
	if !ok || !t.allows(text) {
		return nil, t.refuse(humanize.Quote(text), text)
	}
	return v, nil
}

// maxShown bounds the output of show, in bytes: a default can be huge, such as a range.
const maxShown = 64 << 10

// show returns a value as the command line would give it to a parameter of type t, shortened to
// maxShown.
func (t Type) show(v starlark.Value) string {
	var b strings.Builder
	t.write(&b, v)
	return b.String()
}

func (t Type) write(b *strings.Builder, v starlark.Value) {
	switch v := v.(type) {
	case starlark.NoneType:
		b.WriteString("none")
		return
	case *starlark.Dict:
		n := 0
		for key, value := range v.Entries() {
			if n++; !next(b, n) {
				return
			}
			t.key().write(b, key)
			b.WriteByte('=')
			t.elem().write(b, value)
		}
		return
	case starlark.Sequence:
		n := 0
		for e := range starlark.Elements(v) {
			if n++; !next(b, n) {
				return
			}
			t.elem().write(b, e)
		}
		return
	}
	text, ok := kinds[t.Kind].show(v)
	if !ok {
		text = showPlain(v)
	}
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	b.WriteString(text)
}

// next writes the separator before the n-th value, from 1, and reports whether it fits.
func next(b *strings.Builder, n int) bool {
	switch {
	case n == 1:
	case b.Len() > maxShown:
		b.WriteString(",…")
		return false
	default:
		b.WriteByte(',')
	}
	return true
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

// dictFromJSON sorts the keys, since a decoded object has no order.
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

// numberFromJSON parses the text of a number, which a str keeps unchanged.
func (t Type) numberFromJSON(text string) (starlark.Value, error) {
	if kinds[t.Kind].notNumeric {
		return nil, t.refuse(text, "")
	}
	return t.parseOne(text)
}

// formatNumber writes whole numbers without an exponent, so that they can be parsed as ints.
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
		return humanize.Quote(string(data))
	}
	return string(data)
}
