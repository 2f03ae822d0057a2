package specmodule

import (
	"bytes"
	stdjson "encoding/json"
	"iter"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
)

// jsonModule is Starlark's json module with limits: its functions recurse, and can write far more
// than they read.
func jsonModule() starlark.Value {
	return module("json", map[string]function{
		"encode": jsonEncode, "encode_indent": jsonEncodeIndent, "decode": jsonDecode, "indent": jsonIndent,
	}, nil)
}

// jsonStandard calls a function of the standard module. Its errors already name the function.
func jsonStandard(c call, name string) (starlark.Value, error) {
	v, err := json.Module.Members[name].(*starlark.Builtin).CallInternal(c.thread, c.args, c.kwargs)
	if err != nil {
		return nil, namedError{err}
	}
	return v, nil
}

func jsonEncode(c call) (starlark.Value, error) {
	if len(c.args) == 1 {
		m := meter{parts: maxParts, bytes: maxText}
		if err := m.value(c.args[0], 0); err != nil {
			return nil, err
		}
	}
	return jsonStandard(c, "encode")
}

func jsonEncodeIndent(c call) (starlark.Value, error) {
	text, err := jsonEncode(call{c.thread, c.name, c.args, nil})
	if err != nil {
		return nil, err
	}
	return jsonIndent(call{c.thread, c.name, starlark.Tuple{text}, c.kwargs})
}

func jsonDecode(c call) (starlark.Value, error) {
	if len(c.args) > 0 {
		if text, ok := c.args[0].(starlark.String); ok {
			if len(text) > maxParsed {
				return nil, errTextTooLong
			}
			if depth, _ := jsonShape(string(text), 0, 0); depth > maxDepth {
				return nil, errTooDeep
			}
		}
	}
	return jsonStandard(c, "decode")
}

func jsonIndent(c call) (starlark.Value, error) {
	text, prefix, indent := "", "", "\t"
	if err := c.unpack("str", &text, "prefix?", &prefix, "indent?", &indent); err != nil {
		return nil, err
	}
	if _, size := jsonShape(text, len(prefix), len(indent)); size > maxText {
		return nil, errTooLong
	}
	var out bytes.Buffer
	if err := stdjson.Indent(&out, []byte(text), prefix, indent); err != nil {
		return nil, err
	}
	return starlark.String(out.String()), nil
}

// jsonShape returns the depth of a JSON text, valid or not, and approximately its size when
// indented, in bytes.
func jsonShape(text string, prefix, indent int) (depth, size int) {
	level, inString := 0, false
	size = len(text)
	grow := func(n int) {
		if size <= maxText { // avoid overflow
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
		return errTooDeep
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
	for part := range partsOf(v) {
		if err := m.value(part, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// partsOf yields the keys and values, elements or fields of a value.
func partsOf(v starlark.Value) iter.Seq[starlark.Value] {
	return func(yield func(starlark.Value) bool) {
		switch v := v.(type) {
		case starlark.IterableMapping:
			for _, kv := range v.Items() {
				if !yield(kv[0]) || !yield(kv[1]) {
					return
				}
			}
		case starlark.Iterable:
			for item := range starlark.Elements(v) {
				if !yield(item) {
					return
				}
			}
		case starlark.HasAttrs:
			for _, name := range v.AttrNames() {
				if a, err := v.Attr(name); err == nil && a != nil && !yield(a) {
					return
				}
			}
		}
	}
}
