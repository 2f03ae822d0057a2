package component

import (
	"math"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// show writes a value as the command line would give it to a parameter of type t.
func (t Type) show(v starlark.Value) string {
	switch t.Kind {
	case Duration:
		if text, ok := showDuration(v); ok {
			return text
		}
	case ByteSize:
		if text, ok := showByteSize(v); ok {
			return text
		}
	}
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
			parts = append(parts, Type{Kind: t.Key}.show(item[0])+"="+t.elem().show(item[1]))
		}
		return strings.Join(parts, ",")
	case starlark.Sequence:
		var parts []string
		for e := range starlark.Elements(v) {
			parts = append(parts, t.elem().show(e))
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
