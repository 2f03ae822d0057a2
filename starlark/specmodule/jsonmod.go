package specmodule

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// jsonModule is Starlark's json module with a limit on what one call may do:
// its functions recurse once per level and can write far more than they read.
func jsonModule() starlark.Value {
	return &starlarkstruct.Module{Name: "json", Members: starlark.StringDict{
		"encode":        starlark.NewBuiltin("json.encode", jsonEncode),
		"encode_indent": starlark.NewBuiltin("json.encode_indent", jsonEncodeIndent),
		"decode":        starlark.NewBuiltin("json.decode", jsonDecode),
		"indent":        starlark.NewBuiltin("json.indent", jsonIndent),
	}}
}

// jsonCall calls the function of the standard module that b stands for.
func jsonCall(t *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return json.Module.Members[name].(*starlark.Builtin).CallInternal(t, args, kwargs)
}

// jsonEncode is json.encode(x).
func jsonEncode(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 {
		m := meter{parts: maxParts, bytes: maxText}
		if err := m.value(args[0], 0); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
	}
	return jsonCall(t, "encode", args, kwargs)
}

// jsonEncodeIndent is json.encode_indent(x, prefix = "", indent = "\t").
func jsonEncodeIndent(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, err := jsonEncode(t, b, args, nil)
	if err != nil {
		return nil, err
	}
	return jsonIndent(t, b, starlark.Tuple{text}, kwargs)
}

// jsonDecode is json.decode(x, default).
func jsonDecode(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		if text, ok := args[0].(starlark.String); ok {
			if len(text) > maxParsed {
				return nil, fmt.Errorf("%s: the text is too long (more than %d MiB)", b.Name(), maxParsed>>20)
			}
			if depth, _ := jsonShape(string(text), 0, 0); depth > maxDepth {
				return nil, fmt.Errorf("%s: value is nested more than %d deep", b.Name(), maxDepth)
			}
		}
	}
	return jsonCall(t, "decode", args, kwargs)
}

// jsonIndent is json.indent(str, prefix = "", indent = "\t").
func jsonIndent(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, prefix, indent := "", "", "\t"
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "str", &text, "prefix?", &prefix, "indent?", &indent); err != nil {
		return nil, err
	}
	if _, size := jsonShape(text, len(prefix), len(indent)); size > maxText {
		return nil, fmt.Errorf("%s: the result is too long (more than %d MiB)", b.Name(), maxText>>20)
	}
	var out bytes.Buffer
	if err := stdjson.Indent(&out, []byte(text), prefix, indent); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return starlark.String(out.String()), nil
}

// jsonShape returns how deep a JSON text is nested and about how many bytes it
// has when indented. It need not be valid.
func jsonShape(text string, prefix, indent int) (depth, size int) {
	level, inString := 0, false
	size = len(text)
	grow := func(n int) {
		if size <= maxText { // else it may overflow
			size += n
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			level++
			depth = max(depth, level)
			grow(2 * (prefix + level*indent))
		case c == ']' || c == '}':
			level--
		case c == ',':
			grow(1 + prefix + max(level, 0)*indent)
		}
	}
	return depth, size
}

// meter measures a value before it is encoded.
type meter struct{ parts, bytes int }

func (m *meter) value(v starlark.Value, depth int) error {
	m.parts--
	if depth > maxDepth {
		return fmt.Errorf("value is nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case starlark.String:
		m.bytes -= len(v)
	case starlark.Int:
		m.bytes -= v.BigInt().BitLen() / 3
	}
	if m.parts < 0 || m.bytes < 0 {
		return errTooLarge
	}
	switch v := v.(type) {
	case starlark.IterableMapping:
		for _, kv := range v.Items() {
			if err := m.pair(kv, depth); err != nil {
				return err
			}
		}
	case starlark.Iterable:
		return m.sequence(v, depth)
	case starlark.HasAttrs:
		for _, name := range v.AttrNames() {
			if a, err := v.Attr(name); err == nil && a != nil {
				if err := m.value(a, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (m *meter) pair(kv starlark.Tuple, depth int) error {
	if err := m.value(kv[0], depth+1); err != nil {
		return err
	}
	return m.value(kv[1], depth+1)
}

func (m *meter) sequence(v starlark.Iterable, depth int) error {
	for item := range starlark.Elements(v) {
		if err := m.value(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}
