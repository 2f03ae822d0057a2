package component

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"torchx/runtime/kv"
)

// maxDigits bounds the digits of an int, as Python does: reading them is quadratic.
const maxDigits = 4300

var (
	intForm   = lazily(`^[+-]?[0-9]+(_[0-9]+)*$`)
	floatForm = lazily(`^(?i)[+-]?(inf|infinity|nan|([0-9]+(_[0-9]+)*\.?([0-9]+(_[0-9]+)*)?|\.[0-9]+(_[0-9]+)*)(e[+-]?[0-9]+(_[0-9]+)*)?)$`)
)

// expectations tell how a value of a kind is written.
var expectations = map[Kind]string{
	Int:   "a whole number such as 3",
	Float: "a number such as 1.5",
	Bool:  "true or false",
	List:  "values separated by commas",
	Dict:  "KEY=VALUE pairs separated by commas",
}

// parseText reads a value as the command line gives it. An empty list or dict
// is None, as in TorchX. Errors are one line without the parameter's name.
func (t Type) parseText(text string) (starlark.Value, error) {
	switch t.Kind {
	case List:
		return t.parseList(text)
	case Dict:
		return t.parseDict(text)
	default:
		return parsePrimitiveText(t.Kind, text)
	}
}

func (t Type) parseList(text string) (starlark.Value, error) {
	if strings.TrimSpace(text) == "" {
		return starlark.None, nil
	}
	var values []starlark.Value
	for _, part := range strings.Split(text, ",") {
		v, err := parsePrimitiveText(t.Elem, strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%w, in %s, which should be %s of type %s", err, brief(text), expectations[List], t.Elem)
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
		key, err := parsePrimitiveText(t.Key, pair.Key)
		if err != nil {
			return nil, fmt.Errorf("key %w, in %s", err, brief(text))
		}
		value, err := parsePrimitiveText(t.Elem, pair.Value)
		if err != nil {
			return nil, fmt.Errorf("the value of %s, %w, in %s", pair.Key, err, brief(text))
		}
		if err := dict.SetKey(key, value); err != nil {
			return nil, err
		}
	}
	return dict, nil
}

// parsePrimitiveText reads a str, int, float or bool.
func parsePrimitiveText(kind Kind, text string) (starlark.Value, error) {
	switch kind {
	case Int:
		if v, ok := parseInt(text); ok {
			return v, nil
		}
	case Float:
		if v, ok := parseFloat(text); ok {
			return v, nil
		}
	case Bool:
		if v, ok := parseBool(text); ok {
			return v, nil
		}
	default:
		return starlark.String(text), nil
	}
	return nil, notA(kind, brief(text))
}

// brief quotes text, cut to a length that keeps an error readable.
func brief(text string) string {
	const limit = 100
	if runes := []rune(text); len(runes) > limit {
		return strconv.Quote(string(runes[:limit])) + "…"
	}
	return strconv.Quote(text)
}

func notA(kind Kind, shown string) error {
	article := "a"
	if kind == Int {
		article = "an"
	}
	if hint, ok := expectations[kind]; ok {
		return fmt.Errorf("%s is not %s %s (%s)", shown, article, kind, hint)
	}
	return fmt.Errorf("%s is not %s %s", shown, article, kind)
}

func parseInt(text string) (starlark.Int, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxDigits || !intForm().MatchString(text) {
		return starlark.Int{}, false
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 10)
	if !ok {
		return starlark.Int{}, false
	}
	return starlark.MakeBigInt(n), true
}

func parseFloat(text string) (starlark.Float, bool) {
	text = strings.TrimSpace(text)
	if !floatForm().MatchString(text) {
		return 0, false
	}
	// A number out of range is an infinity, as in Python.
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return starlark.Float(f), true
}

// parseBool takes the words of run options, which TorchX reads as false for components.
func parseBool(text string) (starlark.Bool, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "on":
		return true, true
	case "false", "0", "no", "off":
		return false, true
	}
	return false, false
}

// show writes a value as the command line would give it.
func show(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.NoneType:
		return "none"
	case starlark.String:
		return string(v)
	case starlark.Bool:
		return strconv.FormatBool(bool(v))
	case starlark.Float:
		return showFloat(float64(v))
	case *starlark.Dict:
		var parts []string
		for _, item := range v.Items() {
			parts = append(parts, show(item[0])+"="+show(item[1]))
		}
		return strings.Join(parts, ",")
	case starlark.Sequence:
		var parts []string
		for e := range starlark.Elements(v) {
			parts = append(parts, show(e))
		}
		return strings.Join(parts, ",")
	default:
		return v.String()
	}
}

func showFloat(f float64) string {
	if math.Abs(f) < 1e15 && f == math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
