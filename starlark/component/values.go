package component

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/kv"
	"torchx/runtime/lazyregexp"
)

// maxDigits bounds the digits of an int, as Python does: reading them is quadratic.
const maxDigits = 4300

var (
	intForm   = lazyregexp.New(`^[+-]?[0-9]+(_[0-9]+)*$`)
	floatForm = lazyregexp.New(`^(?i)[+-]?(inf|infinity|nan|([0-9]+(_[0-9]+)*\.?([0-9]+(_[0-9]+)*)?|\.[0-9]+(_[0-9]+)*)(e[+-]?[0-9]+(_[0-9]+)*)?)$`)
)

// parseText reads a value as the command line gives it. An empty list or dict
// is None, as in TorchX. Errors are one line without the parameter's name, and say
// what is expected with an example.
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
	for _, part := range strings.Split(text, ",") {
		v, err := t.elem().parseOne(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%w, in %s, which should be %s", err, brief(text), t.expected())
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
		key, err := Type{Kind: t.Key}.parseOne(pair.Key)
		if err != nil {
			return nil, fmt.Errorf("key %w, in %s, which should be %s", err, brief(text), t.expected())
		}
		value, err := t.elem().parseOne(pair.Value)
		if err != nil {
			return nil, fmt.Errorf("the value of %s, %w, in %s, which should be %s", pair.Key, err, brief(text), t.expected())
		}
		if err := dict.SetKey(key, value); err != nil {
			return nil, err
		}
	}
	return dict, nil
}

// parseOne reads a value that is neither a list nor a dict.
func (t Type) parseOne(text string) (starlark.Value, error) {
	v, ok := t.read(text)
	if !ok {
		return nil, t.refuse(brief(text), text)
	}
	return v, nil
}

// read is parseOne without a reason.
func (t Type) read(text string) (starlark.Value, bool) {
	switch t.Kind {
	case Int:
		return parseInt(text)
	case Float:
		return parseFloat(text)
	case Bool:
		return parseBool(text)
	case Duration:
		return parseDuration(strings.TrimSpace(text))
	case ByteSize:
		return parseByteSize(strings.TrimSpace(text))
	case Enum, Resource:
		return starlark.String(text), t.allows(text)
	default:
		return starlark.String(text), true
	}
}

// allows reports whether text is one of the choices of an enum or resource. An
// empty name of a resource is none, as for specs.resource.
func (t Type) allows(text string) bool {
	return slices.Contains(t.Choices, text) || t.Kind == Resource && (text == "" || len(t.Choices) == 0)
}

// brief quotes text, cut to a length that keeps an error readable.
func brief(text string) string {
	const limit = 100
	if runes := []rune(text); len(runes) > limit {
		return strconv.Quote(string(runes[:limit])) + "…"
	}
	return strconv.Quote(text)
}

func parseInt(text string) (starlark.Value, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxDigits || !intForm().MatchString(text) {
		return nil, false
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 10)
	if !ok {
		return nil, false
	}
	return starlark.MakeBigInt(n), true
}

func parseFloat(text string) (starlark.Value, bool) {
	text = strings.TrimSpace(text)
	if !floatForm().MatchString(text) {
		return nil, false
	}
	// A number out of range is an infinity, as in Python.
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return starlark.Float(f), true
}

// parseBool takes the words of run options, which TorchX reads as false for components.
func parseBool(text string) (starlark.Value, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "on":
		return starlark.True, true
	case "false", "0", "no", "off":
		return starlark.False, true
	}
	return nil, false
}
