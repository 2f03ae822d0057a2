package backend

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
)

// expected describes the format of each type.
var expected = map[OptionType]string{
	TypeStr:   "a string",
	TypeInt:   "a whole number such as 3",
	TypeFloat: "a number such as 0.5",
	TypeBool:  "true/1/yes/on or false/0/no/off",
	TypeList:  "a list such as a;b",
	TypeMap:   "entries key:value such as a:1;b:2",
}

// cast converts a value to the option's Go type; nil means no value. Its error names neither
// key nor source.
func (o Option) cast(v Value) (any, error) {
	var value any
	var err error
	switch {
	case v.IsJSON:
		value, err = o.castJSON(v.Data)
	case strings.HasPrefix(v.Text, placeholder) && !v.Quoted:
		return nil, fmt.Errorf("%q is still the placeholder that torchx configure wrote: write the value instead, or remove the line", v.Text)
	case v.Text == none && !v.Quoted:
		return nil, nil
	case v.Packed && !v.Quoted && o.Type != TypeList && o.Type != TypeMap &&
		strings.ContainsAny(v.Text, ",;"):
		return nil, noPair(o.Key, v.Text)
	default:
		value, err = o.castText(v.Text)
	}
	if err != nil {
		return nil, err
	}
	if s, ok := value.(string); ok && o.Choices != nil && !slices.Contains(o.Choices, s) {
		return nil, fmt.Errorf("%q is not a choice: expected one of %s", s,
			strings.Join(o.Choices, ", "))
	}
	return value, nil
}

// noPair returns the error for `k=v,rest`, where rest has no "=".
func noPair(key, text string) error {
	rest := strings.TrimSpace(text[strings.IndexAny(text, ",;")+1:])
	return fmt.Errorf("%q after the first delimiter in %q is not KEY=VALUE: if it belongs to the value, quote the value (%s='%s')",
		rest, text, key, printable(text))
}

// printable returns text unchanged if a terminal can show it in one line, else with escapes.
func printable(text string) string {
	if quoted := strconv.Quote(text); len(quoted) != len(text)+2 {
		return quoted[1 : len(quoted)-1]
	}
	return text
}

// typeError returns the error for a value that does not have the option's type.
func (o Option) typeError(value any) error {
	text := fmt.Sprint(value)
	if data, err := json.Marshal(value); err == nil {
		text = string(data)
	}
	article := "a"
	if o.Type == TypeInt {
		article = "an"
	}
	return fmt.Errorf("%s is not %s %s: expected %s", text, article, o.Type, expected[o.Type])
}

func (o Option) castText(text string) (any, error) {
	switch o.Type {
	case TypeStr:
		if o.Path {
			return safefile.ExpandHome(text, "")
		}
		return text, nil
	case TypeInt:
		if n, err := parseInt(text); err == nil {
			return n, nil
		}
	case TypeFloat:
		if f, err := parseFloat(text); err == nil {
			return f, nil
		}
	case TypeBool:
		if b, ok := ParseBool(text); ok {
			return b, nil
		}
	case TypeList:
		return splitList(text), nil
	case TypeMap:
		return o.castMap(text)
	}
	return nil, o.typeError(text)
}

func (o Option) castMap(text string) (any, error) {
	m := map[string]string{}
	for _, entry := range splitList(text) {
		key, value, ok := strings.Cut(entry, ":")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fmt.Errorf("entry %q lacks a key or ':': expected %s",
				entry, expected[TypeMap])
		}
		m[key] = strings.TrimSpace(value)
	}
	return m, nil
}

// splitList splits at ',' and ';', trims the parts and drops empty ones.
func splitList(text string) []string {
	list := []string{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// ParseBool parses the words for true and false, ignoring case.
func ParseBool(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "on":
		return true, true
	case "false", "0", "no", "off":
		return false, true
	}
	return false, false
}

// Numbers as in Python: digits may be grouped by '_'.
var (
	intPattern   = pattern.Lazy(`^[+-]?\d+(_\d+)*$`)
	floatPattern = pattern.Lazy(`^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+)?$`)
)

func parseInt(text string) (int, error) {
	text = strings.TrimSpace(text)
	if !intPattern().MatchString(text) {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(strings.ReplaceAll(text, "_", ""))
}

// parseFloat accepts only finite numbers: options have no use for others, and JSON cannot
// represent them.
func parseFloat(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if !floatPattern().MatchString(text) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
}

// castJSON accepts a JSON value of the option's type. A string is parsed as in -cfg. As in
// TorchX, a bool counts as a number, but a number does not count as a bool.
func (o Option) castJSON(data any) (any, error) {
	switch v := data.(type) {
	case nil:
		return nil, nil
	case string:
		return o.castText(v)
	case bool:
		return o.castBool(v)
	case json.Number:
		if o.Type == TypeInt || o.Type == TypeFloat {
			return o.castText(v.String())
		}
	case float64:
		return o.castFloat(v)
	case int:
		return o.castFloat(float64(v))
	case []any, []string:
		if o.Type == TypeList {
			return o.castList(v)
		}
	case map[string]any, map[string]string:
		if o.Type == TypeMap {
			return o.castObject(v)
		}
	}
	return nil, o.typeError(data)
}

func (o Option) castBool(b bool) (any, error) {
	n := 0
	if b {
		n = 1
	}
	switch o.Type {
	case TypeBool:
		return b, nil
	case TypeInt:
		return n, nil
	case TypeFloat:
		return float64(n), nil
	}
	return nil, o.typeError(b)
}

func (o Option) castFloat(f float64) (any, error) {
	switch {
	case o.Type == TypeFloat:
		return f, nil
	case o.Type == TypeInt && f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return int(f), nil
	}
	return nil, o.typeError(f)
}

func (o Option) castList(data any) (any, error) {
	if list, ok := data.([]string); ok {
		return list, nil
	}
	list := []string{}
	for _, item := range data.([]any) {
		s, ok := item.(string)
		if !ok {
			return nil, o.typeError(data)
		}
		list = append(list, s)
	}
	return list, nil
}

func (o Option) castObject(data any) (any, error) {
	if m, ok := data.(map[string]string); ok {
		return m, nil
	}
	m := map[string]string{}
	for key, item := range data.(map[string]any) {
		s, ok := item.(string)
		if !ok {
			return nil, o.typeError(data)
		}
		m[key] = s
	}
	return m, nil
}
