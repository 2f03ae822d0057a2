package specmodule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	"go.starlark.net/starlark"
)

// FromJSON returns the Starlark value of a JSON text: mutable dicts in the order of the text,
// lists, ints of any size.
func FromJSON(data []byte) (starlark.Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("decode JSON: unexpected text after the value, at offset %d", d.InputOffset())
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (starlark.Value, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case bool:
		return starlark.Bool(t), nil
	case string:
		return starlark.String(t), nil
	case json.Number:
		return decodeNumber(string(t))
	case json.Delim:
		if t == '{' {
			return decodeObject(d, depth)
		}
		return decodeArray(d, depth)
	}
	return starlark.None, nil
}

func decodeNumber(text string) (starlark.Value, error) {
	if !strings.ContainsAny(text, ".eE") {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return nil, fmt.Errorf("invalid number %.60s", text)
		}
		return starlark.MakeBigInt(n), nil
	}
	f, err := json.Number(text).Float64()
	return starlark.Float(f), err
}

func decodeObject(d *json.Decoder, depth int) (starlark.Value, error) {
	dict := new(starlark.Dict)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the decoder accepts only string keys
		if err := dict.SetKey(starlark.String(name), v); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return dict, err
}

func decodeArray(d *json.Decoder, depth int) (starlark.Value, error) {
	var items []starlark.Value
	for d.More() {
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := d.Token()
	return starlark.NewList(items), err
}

// ToJSON encodes None, bools, numbers, strings, lists, tuples, dicts with string keys and specs
// values as JSON, in their order. Errors name the part that cannot be encoded.
func ToJSON(v starlark.Value) ([]byte, error) {
	e := encoder{budget: maxParts}
	if err := e.value(v, 0); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return e.out.Bytes(), nil
}

type encoder struct {
	out    bytes.Buffer
	budget int
}

func (e *encoder) value(v starlark.Value, depth int) error {
	e.budget--
	if depth > maxDepth {
		return errTooDeep
	}
	if e.budget < 0 || e.out.Len() > maxText {
		return errTooLarge
	}
	switch v := v.(type) {
	case starlark.NoneType:
		e.out.WriteString("null")
	case starlark.Bool:
		fmt.Fprint(&e.out, bool(v))
	case starlark.Int:
		e.out.WriteString(v.String())
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("%s has no JSON form", v)
		}
		e.out.WriteString(v.String())
	case starlark.String:
		return e.text(string(v))
	case *starlark.Dict:
		return e.dict(v, depth)
	case *starlark.List:
		return e.list(v, depth)
	case starlark.Tuple:
		return e.list(v, depth)
	case *record:
		data, err := v.MarshalJSON()
		e.out.Write(data)
		return err
	default:
		return fmt.Errorf("%s has no JSON form", v.Type())
	}
	return nil
}

// text writes a string as JSON, without escaping <, > and &.
func (e *encoder) text(s string) error {
	if e.out.Len()+len(s) > maxText {
		return errTooLarge
	}
	enc := json.NewEncoder(&e.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	e.out.Truncate(e.out.Len() - 1) // Encode ends with a newline
	return nil
}

func (e *encoder) dict(d *starlark.Dict, depth int) error {
	e.out.WriteByte('{')
	for i, kv := range d.Items() {
		key, ok := kv[0].(starlark.String)
		if !ok {
			return fmt.Errorf("dict has %s key %s, want string", kv[0].Type(), abbreviate(kv[0]))
		}
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.text(string(key)); err != nil {
			return err
		}
		e.out.WriteByte(':')
		if err := e.value(kv[1], depth+1); err != nil {
			return fmt.Errorf("in %s: %w", abbreviate(key), err)
		}
	}
	e.out.WriteByte('}')
	return nil
}

func (e *encoder) list(l starlark.Indexable, depth int) error {
	e.out.WriteByte('[')
	for i := range l.Len() {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.value(l.Index(i), depth+1); err != nil {
			return fmt.Errorf("at %d: %w", i, err)
		}
	}
	e.out.WriteByte(']')
	return nil
}
